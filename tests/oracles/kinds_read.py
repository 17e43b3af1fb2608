"""Schemas as nodes: those of the definitions of operators, and those of the core API."""

import json
import re

import yaml

import kinds_sources
from kinds_clones import Clone


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as Kubernetes reads it: `=` and dates are strings."""


for tag in ("value", "timestamp"):
    Loader.add_constructor(f"tag:yaml.org,2002:{tag}", lambda loader, node: node.value)


# --- nodes


class Pool:
    """Schemas as nodes: equal ones are one, and children stand before their parents."""

    def __init__(self):
        self.nodes, self.index = [], {}

    def add(self, node):
        key = json.dumps(node, sort_keys=True)
        if key not in self.index:
            self.index[key] = len(self.nodes)
            self.nodes.append(node)
        return self.index[key]


PLAIN = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems")
PLAIN += ("uniqueItems", "minProperties", "maxProperties", "multipleOf")
EITHER = [{"type": "integer"}, {"type": "string"}]
FREE = {"preserve": True}


def number(value):
    return float(value) if isinstance(value, str) else value


def rules_of(schema):
    """The CEL rules that a new object alone can be held against."""
    kept = []
    for rule in schema.get("x-kubernetes-validations") or []:
        if "oldSelf" not in rule["rule"] + rule.get("messageExpression", ""):
            keys = ("rule", "message", "messageExpression", "fieldPath", "reason")
            kept.append({key: rule[key].strip() for key in keys if rule.get(key)})
    return kept


def node_of(schema, below):
    """A node of a schema; `below` makes the index of a child, of which it is told the name."""
    node = {}
    either = schema.get("x-kubernetes-int-or-string") is True
    for key in ("type", "format"):
        if schema.get(key):
            node[key] = schema[key]
    if schema.get("nullable") is True:
        node["nullable"] = True
    if schema.get("properties"):
        node["properties"] = {name: below(child, name) for name, child in sorted(schema["properties"].items())}
    if schema.get("required"):
        node["required"] = sorted(set(schema["required"]))
    further = schema.get("additionalProperties")
    if further is False:
        node["additionalProperties"] = False
    elif isinstance(further, dict) and further:
        node["additionalProperties"] = below(further, None)
    if isinstance(schema.get("items"), dict):
        node["items"] = below(schema["items"], None)
    for key in ("enum", "pattern"):
        if schema.get(key):
            node[key] = schema[key]
    for key in PLAIN:
        if schema.get(key) is not None and schema[key] is not False:
            node[key] = number(schema[key])
    for key in ("oneOf", "anyOf", "allOf"):
        if schema.get(key) and not (either and key == "anyOf" and sorted(schema[key], key=str) == EITHER):
            node[key] = [below(child, None) for child in schema[key]]
    if isinstance(schema.get("not"), dict):
        node["not"] = below(schema["not"], None)
    if schema.get("default") is not None:
        node["default"] = schema["default"]
    if either:
        node["int-or-string"] = True
    if schema.get("x-kubernetes-preserve-unknown-fields") is True or further is True or further == {}:
        node["preserve"] = True
    if schema.get("x-kubernetes-embedded-resource") is True:
        node["embedded"] = True
    if rules_of(schema):
        node["rules"] = rules_of(schema)
    if schema.get("x-kubernetes-list-type"):
        node["list"] = schema["x-kubernetes-list-type"]
        if schema.get("x-kubernetes-list-map-keys"):
            node["keys"] = schema["x-kubernetes-list-map-keys"]
    if schema.get("x-kubernetes-patch-merge-key"):
        node["merge"] = schema["x-kubernetes-patch-merge-key"]
    return node


# --- definitions of operators


def without_prose(text):
    """A definition without its descriptions: most of its text, and often all that differs between releases."""
    kept, inside, quote = [], None, ""
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if inside is not None and (quote or indent > inside or line.startswith("\t") or not line.strip()):
            quote = "" if quote and line.replace("\\" + quote, "").count(quote) % 2 else quote
            continue
        # A field of this name has nothing beside it.
        stated = line[indent + 12 :].strip() if line.startswith("description: ", indent) and "{" not in line[indent + 12 : indent + 15] else ""
        inside = indent if stated else None
        # A quoted text may go on as far to the left as it began.
        quote = stated[0] if stated[:1] in ("'", '"') and stated.replace("\\" + stated[0], "").count(stated[0]) % 2 else ""
        if not stated:
            kept.append(line)
    return "\n".join(kept)


def documents(text):
    """The definitions in a file as texts; lines of a chart that are only template are left out."""
    text = text.decode("utf-8", "replace").replace("\r\n", "\n")
    if "CustomResourceDefinition" not in text:
        return []
    if "{{" in text:
        text = re.sub(r"(?m)^\s*\{\{-?\s*(?!`)[^`\n]*\}\}\s*$", "", text)
        text = re.sub(r"\{\{-?\s*`([^`]*)`\s*-?\}\}", r"\1", text)
        text = re.sub(r"\{\{[^\n]*?\}\}", "x", text)
    parts = re.split(r"(?m)^---(?:\s.*)?$", text)
    return [without_prose(part) for part in parts if "CustomResourceDefinition" in part]


def definition_index(pool, schema, open_by=None):
    """The node of a whole definition; an enum with the value `open_by` is left out."""

    def below(child, _):
        if open_by is not None and open_by in (child.get("enum") or ()):
            child = {key: value for key, value in child.items() if key != "enum"}
        return pool.add(node_of(child, below))

    if "properties" in schema:
        implied = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
        schema = {**schema, "properties": {**implied, **schema["properties"]}}

    def top(child, name):
        if name == "status":
            return pool.add(FREE)
        if name == "metadata":
            narrowed = node_of({key: child[key] for key in ("properties",) if key in child}, below)
            return pool.add({**narrowed, "metadata": True})
        return below(child, name)

    return pool.add(node_of(schema, top))


def served(document):
    """Group, version, kind, scope and plural, and schema of what a definition serves."""
    spec = document["spec"]
    for row in spec.get("versions") or []:
        # A patch of a definition has no scope.
        if row.get("served") and "scope" in spec:
            schema = (row.get("schema") or spec.get("validation") or {}).get("openAPIV3Schema")
            whole = dict(schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
            if whole.get("type") == "object" and (spec.get("preserveUnknownFields") or not whole.get("properties")):
                whole["x-kubernetes-preserve-unknown-fields"] = True
            names = spec["names"]
            yield (spec["group"], row["name"], names["kind"]), (spec["scope"], names["plural"]), whole


def mutated(text):
    """Groups and plurals that the mutating webhooks of a file are called for."""
    found = set()
    for part in re.split(r"(?m)^---(?:\s.*)?$", text.decode("utf-8", "replace")):
        if re.search(r"(?m)^kind: MutatingWebhookConfiguration", part):
            lists = [
                [re.findall(r"[\w.*/-]+", re.sub(r"\n\s*-", " ", listed)) for listed in re.findall(rf"{key}:\s*(\[[^\]]*\]|(?:\n\s*-[^\n:]*)+)", part)]
                for key in ("apiGroups", "resources")
            ]
            for groups, plurals in zip(*lists):
                found |= {(group, plural) for group in groups for plural in plurals}
    return found


class Definitions:
    """Releases of a project and the schemas of each."""

    def __init__(self, project, clones, cache):
        self.project, self.pool, self.texts, self.read = project, Pool(), {}, {}
        self.clones = [Clone(source, clones, cache) for source in project.sources]

    def releases(self):
        """Each release, as a version, what to read it by, and whether it is the newest of its minor."""
        whole = [clone for clone in self.clones if not clone.source.pinned_in]
        return [(version, (clone, tag, last), last) for clone in whole for version, tag, last in clone.releases]

    def parts(self, clone, tag, last):
        """Texts of a release: of its own repository, and of those whose releases it is made of."""
        yield from clone.files(tag, clone.source.paths, last)
        for other in self.clones:
            for _, text in clone.files(tag, other.source.pinned_in) if other.source.pinned_in else []:
                match = re.search(other.source.pinned_as, text.decode())
                if match:
                    yield from other.files(match.group(1), other.source.paths)
                    break

    def kinds(self, place):
        found = {}
        for _, text in self.parts(*place):
            if text not in self.texts:
                self.texts[text] = documents(text)
            for definition in self.texts[text]:
                if definition not in self.read:
                    self.read[definition] = list(self.definition(definition))
                for name, about in self.read[definition]:
                    found.setdefault(name, about)
        return found

    def definition(self, text):
        document = yaml.load(text, Loader)
        if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
            open_by = kinds_sources.OPEN_ENUMS.get(self.project.name)
            for name, about, schema in served(document):
                if re.search(self.project.groups, name[0]):
                    yield name, (*about, definition_index(self.pool, schema, open_by))

    def mutated(self):
        """What mutating webhooks of the newest releases are called for: they may set what a definition requires."""
        found = set(kinds_sources.MUTATED.get(self.project.name, ()))
        for clone in self.clones:
            held = [tag for version, tag, _ in clone.releases if tag in clone.tags or version in clone.source.commits]
            for tag in held[-1:]:
                for text in clone.naming("kind: MutatingWebhookConfiguration", tag):
                    found |= mutated(text)
        return found


# --- the core API


def core_enums(text):
    """Enums of the generated definitions: the name of the function's schema, the property, whether of its items."""
    found, schema, at, items = {}, None, None, False
    for line in text.decode().splitlines():
        start = re.match(r"func schema_(\w+)\(", line)
        if start:
            schema, at = start.group(1), None
        match = re.match(r'\t\t\t\t\t"([^"]+)": \{$', line)
        if match:
            at, items = match.group(1), False
        items |= bool(re.match(r"\s*Items: ", line))
        enum = re.match(r"\s*Enum:\s+\[\](?:interface\{\}|any)\{(.*)\},$", line)
        if enum and at:
            # Two constants of Go may have one value.
            found[(schema, at, items)] = list(dict.fromkeys(json.loads(f"[{enum.group(1)}]")))
    return found


def function_of(definition):
    """The name that the generator gives a definition: the last four parts of the path of its package."""
    parts = definition.split(".")
    package = [".".join(reversed(parts[:2]))] + parts[2:-1]
    return re.sub(r"[.-]", "", "_".join(package[-4:])) + "_" + parts[-1]


ANY = ("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray")
ANY += ("FieldsV1", "Patch", "RawExtension", "WatchEvent")


class Core:
    """The releases of Kubernetes."""

    def __init__(self, project, clones, cache):
        self.project, self.pool, self.metadata = project, Pool(), set()
        self.clone = Clone(project.sources[0], clones, cache)

    def releases(self):
        return self.clone.releases

    def mutated(self):
        """None: admission of the core API sets no required fields."""
        return set()

    def kinds(self, tag):
        files = dict(self.clone.files(tag, self.project.sources[0].paths))
        self.enums = core_enums(next(text for path, text in files.items() if path.endswith(".go")))
        found = {}
        for path, text in sorted(files.items()):
            if path.endswith(".json"):
                document = json.loads(text)
                self.schemas = (document.get("components") or {}).get("schemas") or {}
                for place, methods in document.get("paths", {}).items():
                    self.root(found, place, methods.get("post"))
        return found

    def root(self, found, place, method):
        if not method or "{name}" in place or "x-kubernetes-group-version-kind" not in method:
            return
        content = method["requestBody"]["content"]
        definition = next(iter(content.values()))["schema"]["$ref"].rsplit("/", 1)[1]
        what = method["x-kubernetes-group-version-kind"]
        key = (what["group"], what["version"], what["kind"])
        scope = "Namespaced" if "{namespace}" in place else "Cluster"
        if key not in found or scope == "Namespaced":
            found[key] = (scope, "", self.definition(definition, (), True))

    def definition(self, name, above, root=False):
        short = name.rsplit(".", 1)[1]
        if short == "Quantity":
            return self.pool.add({"quantity": True})
        if short == "IntOrString":
            return self.pool.add({"int-or-string": True})
        if short in ANY or name in above:
            return self.pool.add(FREE)
        function = function_of(name)

        def below(child, field):
            if root and field == "status":
                return self.pool.add(FREE)
            child = dict(child)
            # A reference with a default or a description is written as one of one.
            if len(child.get("allOf") or []) == 1:
                child = {**child, **child.pop("allOf")[0]}
            if "$ref" in child:
                target = child["$ref"].rsplit("/", 1)[1]
                index = self.definition(target, above + (name,))
                if target.endswith(".ObjectMeta"):
                    self.metadata.add(index)
                    return self.pool.add({"metadata": True}) if root else index
                return self.beside(index, child)
            enum = self.enums.get((function, field, False))
            if enum:
                child["enum"] = enum
            if "items" in child and (function, field, True) in self.enums:
                child["items"] = {**child["items"], "enum": self.enums[(function, field, True)]}
            # The generator states the empty value of its type for what has no default.
            if not child.get("default"):
                child.pop("default", None)
            return self.pool.add(node_of(child, below))

        schema = dict(self.schemas[name])
        known = re.sub(r".*\.(api|apis)\.", "", name)
        schema["required"] = [field for field in schema.get("required", []) if (known, field) not in kinds_sources.NOT_REQUIRED]
        return self.pool.add(node_of(schema, below))

    def beside(self, index, child):
        """A reference with a default of its own."""
        default = child.get("default")
        if not default:
            return index
        return self.pool.add({**self.pool.nodes[index], "default": default})
