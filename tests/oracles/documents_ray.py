"""Ray Serve's configuration: the model of pydantic that a release holds it against, with what its validators refuse.

Other fields are ignored but where a model forbids them. What a validator refuses stands here by what it says of it; a release
that does not say so does not refuse it.
"""

import zipfile

from documents_python import importing
from documents_schema import index, plain

REAL = ("annotated_types", "packaging", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection")
MODULES = ["serve/schema", "serve/config", "serve/_private/common", "serve/_private/constants", "_private/pydantic_compat", "_common/pydantic_compat"]
# What decorates the models and fills in their defaults.
STAND_INS = {
    "pkg_resources.py": "import packaging.version\n",
    "ray/util/annotations.py": "def PublicAPI(*given, **_):\n    return given[0] if given else lambda one: one\nDeveloperAPI = Deprecated = PublicAPI\n",
    "ray/serve/_private/utils.py": "import enum\nDEFAULT = enum.Enum('DEFAULT', 'VALUE')\nvalidate_ssl_config = None\n",
}

NUMERAL = r"(?i)^\s*[-+]?([0-9_]+\.?[0-9_]*|\.[0-9_]+)(e[-+]?[0-9_]+)?\s*$|^\s*[-+]?(inf|infinity|nan)\s*$"
WORDS = "(?i)^(0|off|f|false|n|no|1|on|t|true|y|yes)$"
LEVELS = {"CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARN": 30, "WARNING": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}


def lax(schema, first):
    """A schema with the scalars that pydantic converts; in its first major version text is made of numbers, too."""
    schema = {**schema, **{key: lax(schema[key], first) for key in ("items", "additional") if isinstance(schema.get(key), dict)}}
    if "properties" in schema:
        schema["properties"] = {name: lax(child, first) for name, child in schema["properties"].items()}
    types = set(schema.get("type") or ())
    if types & {"integer", "number"} and "string" not in types:
        schema["pattern"] = NUMERAL
    elif types == {"boolean"}:
        schema |= {"pattern": WORDS, "minimum": 0, "maximum": 1}
    elif types == {"object"} and first:
        # dict() of an empty list, or of pairs.
        types |= {"array"}
    if types & {"integer", "number", "boolean"}:
        types |= {"boolean", "string"} | ({"number"} if first or "boolean" in types else set())
    elif "string" in types and first and "enum" not in schema:
        types |= {"number", "boolean"}
    return {**schema, **({"type": sorted(types)} if types else {})}


def model(wheel):
    """The schema of the model, the text of the validators, and whether it is one of pydantic's first major version."""
    with zipfile.ZipFile(wheel) as zipped:
        names = {f"ray/{module}.py" for module in MODULES} & set(zipped.namelist())
        texts = {**{name: zipped.read(name).decode() for name in names}, **STAND_INS}
    with importing(texts, REAL) as module:
        whole = module("ray.serve.schema").ServeDeploySchema
        if hasattr(whole, "model_json_schema"):
            return whole.model_json_schema(), texts["ray/serve/schema.py"], False
        # Defaults may be stand-ins; and it remembers the names of validators.
        module("pydantic.v1.schema").encode_default = lambda default: None
        module("pydantic.v1.class_validators")._FUNCS.clear()
        return whole.schema(), texts["ray/serve/schema.py"], True


def rule(schema, text, message):
    schema.setdefault("x-kubernetes-validations", []).append({"rule": text, "message": message})


def of_environment(environment):
    """parse_uri: what has no protocol is a place on the writer's disk."""
    remote = {"type": ["string"], "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:"}
    environment.setdefault("properties", {})["working_dir"] = remote
    environment["properties"]["py_modules"] = {"type": ["array"], "items": remote}


def of_validators(schema, source, first):
    """The schema with what validators refuse."""
    application = schema["properties"]["applications"]["items"]
    deployment = application["properties"]["deployments"]["items"]
    if "Manually setting num_replicas is not allowed" in source:
        given = "has(self.num_replicas) && type(self.num_replicas) == type(1) && has(self.autoscaling_config)"
        rule(deployment, f"!({given})", "num_replicas must not be a number where autoscaling_config is set")
    if 'must be an int or "auto"' in source:
        deployment["properties"]["num_replicas"]["pattern"] = NUMERAL.replace("^", "^auto$|^", 1) if first else "^auto$"
    if "import path may have at most one colon" in source:
        application["properties"]["import_path"]["pattern"] = r"^([^:]+:[^:]+|[^:]+\.[^:.]+)$"
    if "Please remove it and set host in the top" in source:
        rule(application, "!has(self.host) && !has(self.port)", "host and port are options of the whole: http_options.host and http_options.port")
    for field, says in (("name", "Found multiple configs for"), ("route_prefix", "Found duplicate applications for")):
        if says in source:
            same = f"has(b.{field}) && b.{field} == a.{field}"
            text = f"!has(self.applications) || self.applications.all(a, !has(a.{field}) || a.{field} == null || self.applications.exists_one(b, {same}))"
            rule(schema, text, f"applications must not share a {field}")
    if "support only" in source and "runtime_env_contains_remote_uris" in source:
        of_environment(application["properties"]["runtime_env"])
        of_environment(deployment["properties"]["ray_actor_options"]["properties"]["runtime_env"])
    for place in (schema, application, deployment):
        logging = (place["properties"].get("logging_config") or {}).get("properties", {})
        if "encoding" in logging and "Encoding must be one" in source:
            logging["encoding"]["enum"] = ["TEXT", "JSON"]
        if "log_level" in logging and "log_level must be one of" in source:
            numbers = sorted(set(LEVELS.values()))
            logging["log_level"]["enum"] = [*LEVELS, *numbers, *(str(number) for number in numbers)]
    return schema


def root(wheel, pool):
    """The node of a release's configuration."""
    schema, source, first = model(wheel)
    return index(pool, of_validators(lax(plain(schema, schema), first), source, first))
