"""The projects of schemas/documents, and of the kinds of tools that are no servers: where each release says what it takes."""

import dataclasses
import json
import enum
import re
import typing

from documents_go import Structs
from documents_helm import chart, helmfile
from documents_packages import Package
from documents_python import classes, fields, importing
from documents_toolkit import blueprint
from documents_torchtune import components
from documents_trl import trl
from documents_wheels import Wheels
from kinds_sources import Project, Source


@dataclasses.dataclass
class Documents(Project):
    """What a project takes: `read` makes schemas of the texts of a release, by group, version and kind."""

    read: typing.Callable = None
    # So many minor releases are one step; the newest is always read.
    step: int = 1
    # Whether its kinds are objects, with group and version.
    objects: bool = False
    # What its releases are used with: all of theirs are read for each.
    beside: list = dataclasses.field(default_factory=list)

    def text(self):
        wheels = [source for source in self.sources if isinstance(source, Wheels)]
        said = [f"https://pypi.org/project/{source.package} {source.where()}" for source in wheels]
        return "; ".join(said) if wheels else super().text()


def walked(schema, change):
    """A schema with each part changed."""
    if isinstance(schema, list):
        return [walked(part, change) for part in schema]
    return change({key: walked(value, change) for key, value in schema.items()}) if isinstance(schema, dict) else schema


def compose(texts):
    """https://docs.docker.com/reference/compose-file: the schema that a project is held against once it is merged."""
    if "schema/compose-spec.json" in texts:
        yield ("", "", "compose"), json.loads(texts["schema/compose-spec.json"])


# Values that eksctl itself refuses (pkg/apis/eksctl.io/v1alpha5/validation.go): of a family whatever their case.
EKSCTL = {"amiFamily": True, "enableTypes": False, "supportType": False}


def eksctl(texts):
    """Strict decoding (`yaml.UnmarshalStrict`): fields that there are; a number where text is wanted is text."""
    schema = json.loads(texts["pkg/apis/eksctl.io/v1alpha5/assets/schema.json"])

    def change(part):
        kind = part.get("type", "object" if "properties" in part and "oneOf" not in part else None)
        part = {**part, "type": kind} if kind else part
        if isinstance(kind, str) and "enum" in part and not part.get("judged"):
            part = {key: value for key, value in part.items() if key != "enum"}
        if kind == "string":
            part = {**part, "type": ["string", "number", "boolean"]}
        return {key: value for key, value in part.items() if key != "required"}

    for definition in schema["definitions"].values():
        for name, child in (definition.get("properties") or {}).items():
            if name in EKSCTL:
                (child.get("items") or child).update(judged=True, **({"caseless": True} if EKSCTL[name] else {}))
    yield ("eksctl.io", "v1alpha5", "ClusterConfig"), walked(schema, change)


def kustomize(texts):
    """`Kustomization.Unmarshal`: names whatever their case, no others; patches that are texts have a field of their own."""
    structs = Structs(texts.values())
    schema = structs.schema("Kustomization")
    schema["properties"]["patches"]["items"] = {"anyOf": [{"type": "string"}, schema["properties"]["patches"]["items"]]}

    def change(part):
        return {**part, "caseless": True} if "properties" in part else part

    schema = walked(schema, change)
    yield ("kustomize.config.k8s.io", "v1beta1", "Kustomization"), schema
    yield ("kustomize.config.k8s.io", "v1alpha1", "Component"), schema


SCALAR = {"type": ["string", "number", "boolean"]}


def skypilot(texts):
    """`Task.from_yaml_config`: parts are held against schemas of their own; of variables anything is made text."""
    with importing(texts) as module:
        schemas = module("sky.utils.schemas")
        task, resources, service = (getattr(schemas, f"get_{name}_schema")() for name in ("task", "resources", "service"))
        storage = schemas.get_storage_schema()
    own = task["properties"]
    own["resources"], own["service"] = resources, service
    own["file_mounts"] = {"type": "object", "additionalProperties": {"anyOf": [SCALAR, storage]}}
    own["envs"] = {"type": "object"}
    if "secrets" in own:
        own["secrets"] = {"type": ["object", "array"]}
    resources["properties"]["gpus"] = resources["properties"]["accelerators"]

    def change(part):
        for key in ("case_insensitive_enum", "case_sensitive_enum"):
            if isinstance(part.get(key), list):
                part = {**part, "enum": part[key], "caseless": key == "case_insensitive_enum"}
        return part

    yield ("", "", "skypilot"), walked(task, change)


def ray(texts):
    """`validate_config`, which comes behind `prepare_config`: what is missing has been filled in."""

    def change(part):
        return {key: value for key, value in part.items() if key != "required" or not isinstance(value, list)}

    for text in texts.values():
        yield ("", "", "ray"), walked(json.loads(text), change)


def accelerate(texts):
    """`BaseConfig.from_yaml_file`: keys that are no fields end the run, and so do other words for what is run on and where."""
    found = classes(texts.values())
    # Of an older form; `process_config` takes them.
    names = {"fp16", "dynamo_backend", *fields(found, "ClusterConfig"), *fields(found, "SageMakerConfig")}
    words = {
        "compute_environment": list(found["ComputeEnvironment"][1].values()),
        "distributed_type": [word for name in ("DistributedType", "SageMakerDistributedType") for word in found[name][1].values()],
    }
    # A plain NO is no text in YAML 1.1, and is not looked at.
    properties = {name: {"type": ["string", "boolean"], "enum": words[name]} if name in words else {} for name in names}
    yield ("", "", "accelerate"), {"type": "object", "properties": properties, "additionalProperties": False}


def lax(part):
    """A part of a schema as pydantic takes it: a scalar where it wants another one is made into it."""
    types = part.get("type")
    types = {types} if isinstance(types, str) else set(types or ())
    if not types & set(SCALAR["type"]) and types != {"integer"}:
        return part
    part = {key: value for key, value in part.items() if key not in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "minLength", "maxLength")}
    if not all(isinstance(value, str) for value in part.get("enum", ())):
        part.pop("enum")
    return {**part, "type": sorted({*types - {"integer"}, *SCALAR["type"]})}


DSTACK = """
import json
from dstack._internal.core.models.configurations import DstackConfiguration as configuration
print(json.dumps(getattr(configuration, "model_json_schema", configuration.schema)()))
"""


def dstack(texts):
    """The schema that dstack publishes of its configurations (`schemas/configuration.json`): no other fields are taken."""
    for text in texts.values():
        yield ("", "", "dstack"), walked(json.loads(text), lax)


PYDANTIC = ("annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection")


def named_only(part):
    """A part of a schema as far as it says which fields there are: validators may make a value of any other."""
    kept = {key: part[key] for key in ("$ref", "$defs", "anyOf", "oneOf", "allOf", "items", "properties", "additionalProperties") if key in part}
    return {**kept, "type": ["object", "array", *SCALAR["type"]]} if "type" in part else part if "$defs" in part else kept or part


def truss(texts):
    """`validate_forbid_extra`, when a model is pushed: fields by their names in the code, also where more are read."""
    with importing(texts, PYDANTIC) as module:
        schema = module("truss.base.truss_config").TrussConfig.model_json_schema(by_alias=False)

    def change(part):
        if "properties" in part and part.get("additionalProperties") is True:
            part = {**part, "additionalProperties": False}
        return named_only(part)

    schema["properties"]["hf_cache"] = {}
    schema["$defs"]["Resources"]["properties"]["use_gpu"] = {}
    yield ("", "", "truss"), walked(schema, change)


# The parts of a configuration of DeepSpeed that are classes of their own.
DEEPSPEED = {
    "zero_optimization": ("runtime.zero.config", "DeepSpeedZeroConfig"),
    "fp16": ("runtime.precision_config", "DeepSpeedFP16Config"),
    "bf16": ("runtime.precision_config", "DeepSpeedBF16Config"),
    "tensorboard": ("monitor.config", "TensorBoardConfig"),
    "wandb": ("monitor.config", "WandbConfig"),
    "csv_monitor": ("monitor.config", "CSVConfig"),
    "comet": ("monitor.config", "CometConfig"),
}


def of_model(model, kinds=("object", "array", *SCALAR["type"])):
    """The fields of a model of pydantic, by their names and aliases, and of the models in them; "auto" stands for anything."""
    properties = {}
    for name, field in model.model_fields.items():
        parts = [field.annotation, *typing.get_args(field.annotation)]
        parts = [part for part in parts if isinstance(part, type)]
        inner = [part for part in parts if hasattr(part, "model_fields")]
        enums = [part for part in parts if issubclass(part, enum.Enum)]
        child = {}
        if len(inner) == 1:
            child = of_model(inner[0], ("object", "null", "string"))
        elif len(enums) == 1 and issubclass(enums[0], str):
            child = {"enum": [*(choice.value for choice in enums[0]), "auto", None]}
        properties.update({key: child for key in (name, field.alias) if key})
    closed = model.model_config.get("extra") == "forbid"
    return {"type": list(kinds), "properties": properties, "additionalProperties": not closed}


def deepspeed(texts):
    """`DeepSpeedConfigModel` takes no other fields; what stands beside these parts is not looked at."""
    properties = {}
    with importing(texts, PYDANTIC) as module:
        for part, (path, name) in DEEPSPEED.items():
            if f"deepspeed/{path.replace('.', '/')}.py" in texts:
                model = getattr(module(f"deepspeed.{path}"), name, None)
                if hasattr(model, "model_fields") and isinstance(model, type):
                    properties[part] = of_model(model)
    yield ("", "", "deepspeed"), {"type": "object", "properties": properties}


def llama_factory(texts):
    """`HfArgumentParser.parse_dict`: keys that no class of arguments has end the run; their values are not looked at."""
    found = classes(texts.values())
    arguments = {field for name, (own, _, _) in found.items() if re.search(r"Arguments?$", name) for field in own}
    yield ("", "", "llama-factory"), {"type": "object", "properties": {name: {} for name in arguments}, "additionalProperties": False}


def pinned(repository, paths, file, pattern, **more):
    """A repository of which a release of the first one says which of its own releases it is made of."""
    return Source(repository, paths, pinned_in=(file,), pinned_as=pattern, **more)


TOOLKIT = [r"(community/)?modules/.+/[^/]+\.tf", r"(community/)?modules/.+/[^/]+\.pkr\.hcl"]
ACCELERATE = [r"accelerate/commands/config/config_args\.py", r"accelerate/utils/dataclasses\.py", r"accelerate/commands/launch\.py"]
TRANSFORMERS = [r"transformers/training_args(_seq2seq)?\.py", r"transformers/trainer_utils\.py"]
TRL = [r"trl/(trainer|scripts|commands|cli)/.*\.py", r"trl/experimental/\w+/\w+_config\.py", r"trl/(cli|utils)\.py", r"trl-[^/]+/METADATA"]
TORCHTUNE = {"repository": "pytorch/torchtune", "since": "0.1", "tags": r"v(\d+\.\d+\.\d+)", "commits": {"0.7": "HEAD"}}

PROJECTS = [
    Documents(
        "compose",
        [
            Source("docker/compose", ["go.mod"], since="2.0.0", module="github.com/docker/compose/v5"),
            pinned(
                "compose-spec/compose-go",
                ["schema/compose-spec.json"],
                "go.mod",
                r"github.com/compose-spec/compose-go(?:/v2)? (v\S+)",
                module="github.com/compose-spec/compose-go/v2",
            ),
        ],
        read=compose,
    ),
    Documents(
        "eksctl",
        [Source("eksctl-io/eksctl", ["pkg/apis/eksctl.io/v1alpha5/assets/schema.json"], since="0.100")],
        read=eksctl,
        step=10,
        objects=True,
    ),
    Documents(
        "kustomize",
        [
            Source(
                "kubernetes-sigs/kustomize",
                [r"api/types/(?!.*_test\.go)[a-z]*\.go", r"(kyaml|api)/resid/(gvk|resid)\.go"],
                since="4.0.0",
                tags=r"kustomize/v(\d+\.\d+\.\d+)",
            )
        ],
        read=kustomize,
        objects=True,
    ),
    Documents(
        "skypilot",
        [Wheels("skypilot", [r"sky/utils/(schemas|kubernetes_enums)\.py", r"sky/skylet/(constants|autostop_lib)\.py"], "0.5")],
        read=skypilot,
    ),
    Documents(
        "helm",
        [Source("helm/helm", [r"pkg/chart(/v2)?/(metadata|dependency|chart)\.go"], since="3.8")],
        read=chart,
    ),
    Documents(
        "helmfile",
        [Source("helmfile/helmfile", [r"pkg/(state|event|environment|llm)/(?!.*_test\.go)[a-z_]+\.go"], since="0.145")],
        read=helmfile,
    ),
    Documents("ray", [Wheels("ray", [r"ray/autoscaler/ray-schema\.json"], "2.5")], read=ray),
    Documents(
        "accelerate",
        [Wheels("accelerate", ACCELERATE, "0.20")],
        read=accelerate,
    ),
    Documents(
        "cluster-toolkit",
        [Source("GoogleCloudPlatform/cluster-toolkit", [r"pkg/(config|modulereader)/(?!.*_test\.go)[a-z_]+\.go"], since="1.0")],
        read=blueprint,
        beside=[Source("GoogleCloudPlatform/cluster-toolkit", TOOLKIT, since="1.0")],
    ),
    Documents(
        "torchtune",
        [Source(**TORCHTUNE, paths=[r"torchtune/__init__\.py"])],
        read=components,
        beside=[Source(**TORCHTUNE, paths=[r"torchtune/.+\.py"])],
        note="; 0.7 was not released: it is the main branch of 2026-04-23",
    ),
    Documents("dstack", [Package("dstack", DSTACK, "0.19.20")], read=dstack),
    Documents("truss", [Wheels("truss", [r"truss/base/(truss_config|custom_types|constants|trt_llm_config|errors)\.py"], "0.9.100")], read=truss),
    Documents(
        "deepspeed",
        [Source("deepspeedai/DeepSpeed", [r"deepspeed/(runtime|runtime/\w+|monitor|utils)/(config|\w+_config|config_utils)\.py"], since="0.15")],
        read=deepspeed,
    ),
    Documents(
        "llama-factory",
        [Wheels("llamafactory", [r"llamafactory/hparams/\w+_args\.py", r"llamafactory/hparams/parser\.py"], "0.8")],
        read=llama_factory,
        beside=[
            Wheels("transformers", TRANSFORMERS, "4.34"),
            Source("alibaba/ROLL", ["mcore_adapter/src/mcore_adapter/training_args.py"]),
            # It is mostly run as its repository is, not as it was released.
            Source("hiyouga/LLaMA-Factory", [r"src/llamafactory/hparams/(\w+_args|parser)\.py"], since="0.9", commits={"1.0": "HEAD"}),
        ],
    ),
    Documents(
        "trl",
        [Wheels("trl", TRL, "0.9")],
        read=trl,
        beside=[Wheels("transformers", TRANSFORMERS, "4.40"), Wheels("accelerate", ACCELERATE, "1.0")],
    ),
]
