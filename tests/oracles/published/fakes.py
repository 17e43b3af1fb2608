"""What stands for packages that the programs import and the standard library does not have."""

import dataclasses
import enum
import re
import types
import typing

from .lazy import Anything


class FieldInfo:
    """A field of pydantic: its default, nothing else."""

    def __init__(self, default=dataclasses.MISSING, *, default_factory=None, **_):
        self.default, self.default_factory = default, default_factory
        if default in (dataclasses.MISSING, ...):
            self.default = None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)


def dataclass(cls=None, **named):
    named = {key: value for key, value in named.items() if key in ("init", "repr", "eq", "order", "frozen", "kw_only")}

    def made(cls):
        if "__post_init__" in vars(cls):
            cls.__post_init__ = lambda self, *_, **__: None
        for name, value in list(vars(cls).items()):
            if not name.startswith("__") and isinstance(value, (Anything, list, dict, set)):
                setattr(cls, name, None)
            elif isinstance(value, dataclasses.Field):
                if value.default_factory is not dataclasses.MISSING:
                    value.default_factory = lambda: None
                elif isinstance(value.default, (list, dict, set)):
                    value.default = None
        try:
            return dataclasses.dataclass(cls, **named)
        except TypeError:
            return dataclasses.dataclass(cls, **{**named, "kw_only": True})

    return made(cls) if cls is not None else made


def same(*given, **_):
    """A decorator with or without arguments that changes nothing."""
    if len(given) == 1 and callable(given[0]):
        return given[0]
    return lambda made: made


def module(name, **names):
    """A module of these names; whatever else it is asked for is `Anything`."""
    made = types.ModuleType(name)
    made.__dict__.update(names)
    made.__getattr__ = lambda asked: Anything(f"{name}.{asked}")
    return made


class BaseModel:
    """A model of pydantic."""

    def __init_subclass__(cls, **_):
        super().__init_subclass__()


class Plain:
    """A generic of pydantic that changes nothing about its type."""

    def __class_getitem__(cls, item):
        return item


class NoDefault:
    """What msgspec says of a field that must be given."""


class Field:
    """A field of a structure of msgspec."""

    def __init__(self, name="", default=NoDefault, default_factory=NoDefault, **_):
        self.name, self.default, self.default_factory = name, default, default_factory
        self.required = default is NoDefault and default_factory is NoDefault


class Struct:
    """A structure of msgspec: its fields in the order in which they stand."""

    def __init__(self, *given, **named):
        for name, value in [*zip((field.name for field in struct_fields(type(self))), given), *named.items()]:
            object.__setattr__(self, name, value)


def struct_fields(cls):
    cls = cls if isinstance(cls, type) else type(cls)
    found = {}
    for base in reversed(cls.__mro__):
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if "ClassVar" in str(annotation):
                continue
            default = vars(base).get(name, NoDefault)
            if isinstance(default, Field):
                default.name = name
            elif isinstance(default, (list, dict, set)):
                default = Field(name, default_factory=default.copy)
            found[name] = default if isinstance(default, Field) else Field(name, default)
    return list(found.values())


def defstruct(name, fields, *, bases=None, namespace=None, **_):
    names = dict(namespace or {})
    names["__annotations__"] = {field[0]: field[1] for field in fields}
    names.update({field[0]: field[2] for field in fields if len(field) > 2})
    return type(name, tuple(bases or (Struct,)), names)


def given(default=dataclasses.MISSING, **named):
    return FieldInfo(default, **named)


PYDANTIC = {
    "pydantic": module(
        "pydantic", Field=given, BaseModel=BaseModel, ConfigDict=dict, FieldInfo=FieldInfo, SkipValidation=Plain, InstanceOf=Plain, ImportString=Plain,
        field_validator=same, model_validator=same, TypeAdapter=Anything("TypeAdapter"), ValidationError=ValueError,
    ),
    "pydantic.fields": module("pydantic.fields", FieldInfo=FieldInfo, Field=given),
    "pydantic.dataclasses": module("pydantic.dataclasses", dataclass=dataclass),
}
extensions = module("typing_extensions", **{name: getattr(typing, name) for name in typing.__all__})
for name in ("TypeAliasType", "TypeIs", "deprecated", "override", "TypeVarTuple"):
    extensions.__dict__.setdefault(name, same if name in ("deprecated", "override") else Anything(name))
STRUCTS = module("msgspec.structs", fields=struct_fields)
COMMON = {
    **PYDANTIC,
    "msgspec": module("msgspec", Struct=Struct, NODEFAULT=NoDefault, defstruct=defstruct, field=Field, structs=STRUCTS),
    "msgspec.structs": STRUCTS,
    "dataclasses.dataclass": dataclass,
    "regex": re,
    "typing_extensions": extensions,
    "strenum": module("strenum", StrEnum=enum.StrEnum),
}
