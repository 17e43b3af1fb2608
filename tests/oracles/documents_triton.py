"""Triton's config.pbtxt: the message ModelConfig that the client of each release carries, in protobuf's text format."""

import ast
import pathlib
import zipfile

from google.protobuf import descriptor_pb2

FIELD = descriptor_pb2.FieldDescriptorProto
INTEGERS = {
    FIELD.TYPE_INT32: (-(2**31), 2**31 - 1),
    FIELD.TYPE_INT64: (-(2**63), 2**63 - 1),
    FIELD.TYPE_UINT32: (0, 2**32 - 1),
    FIELD.TYPE_UINT64: (0, 2**64 - 1),
}
# TextFormat::Parser::ConsumeFieldValue: words and numbers stand for a truth value, and some words for a number.
TRUTH = {"type": ["boolean", "integer", "string"], "minimum": 0, "maximum": 1, "pattern": "^(true|false|True|False|t|f)$"}
NUMBER = {"type": ["number", "string"], "pattern": r"(?i)^-?\s*(inf|infinity|inff|infinityf|nan|nanf|[0-9.]+(e[+-]?[0-9]+)?f)$"}

# What the loader refuses of a message beside what the parser does (model_config_utils.cc, ValidateModelConfig).
REFUSED = {
    ".inference.ModelConfig": {"max_batch_size": {"minimum": 0}},
    ".inference.ModelDynamicBatching": {"preferred_batch_size": {"minimum": 1}},
    ".inference.ModelSequenceBatching.StrategyOldest": {"preferred_batch_size": {"minimum": 1}},
}


def descriptor(wheel):
    """The file of messages in a wheel: the module that protoc wrote has it as bytes."""
    with zipfile.ZipFile(wheel) as zipped:
        name = next(name for name in zipped.namelist() if name.endswith("tritonclient/grpc/model_config_pb2.py"))
        text = zipped.read(name)
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Constant) else None
        value = value.encode("latin-1", "replace") if isinstance(value, str) else value
        if isinstance(value, bytes) and value.startswith(b"\n\x12model_config.proto"):
            return descriptor_pb2.FileDescriptorProto.FromString(value)
    raise ValueError(wheel)


def one_of(names):
    """The rule that at most one of some fields stands there."""
    pairs = [f"!(has(self.{one}) && has(self.{other}))" for at, one in enumerate(names) for other in names[at + 1 :]]
    return {"rule": " && ".join(pairs), "message": f"{', '.join(names[:-1])} and {names[-1]} exclude each other"}


class Messages:
    """The nodes of the messages of a file."""

    def __init__(self, file, pool):
        self.pool, self.messages, self.enums, self.made = pool, {}, {}, {}
        self.declared(f".{file.package}", file.message_type, file.enum_type)

    def declared(self, scope, messages, enums):
        self.enums.update({f"{scope}.{enum.name}": enum for enum in enums})
        for message in messages:
            name = f"{scope}.{message.name}"
            self.messages[name] = message
            self.declared(name, message.nested_type, message.enum_type)

    def message(self, name):
        """A message takes the fields that it declares, by their names, and one of those that exclude each other."""
        if name not in self.made:
            message = self.messages[name]
            if message.reserved_name or message.extension_range:
                raise ValueError(f"{name}: names that the parser skips")
            node = {"type": "object", "additionalProperties": False}
            if message.field:
                node["properties"] = {field.name: self.field(field, REFUSED.get(name, {})) for field in message.field}
            choices = [[field.name for field in message.field if field.HasField("oneof_index") and field.oneof_index == at] for at in range(len(message.oneof_decl))]
            rules = [one_of(names) for names in choices if len(names) > 1]
            self.made[name] = {**node, **({"rules": rules} if rules else {})}
        return self.made[name]

    def field(self, field, refused):
        node = {**self.value(field), **refused.get(field.name, {})}
        if field.label == FIELD.LABEL_REPEATED:
            # It is written once for each value, or once with a list of them.
            types = node["type"] if isinstance(node["type"], list) else [node["type"]]
            node = {**node, "type": ["array", *types], "items": self.pool.add(node)}
        return self.pool.add(node)

    def value(self, field):
        if field.type == FIELD.TYPE_MESSAGE:
            return self.message(field.type_name)
        if field.type == FIELD.TYPE_ENUM:
            values = self.enums[field.type_name].value
            return {"type": ["string", "integer"], "enum": [value.name for value in values] + [value.number for value in values]}
        if field.type in INTEGERS:
            least, most = INTEGERS[field.type]
            return {"type": "integer", "minimum": least, "maximum": most}
        if field.type in (FIELD.TYPE_FLOAT, FIELD.TYPE_DOUBLE):
            return NUMBER
        return {FIELD.TYPE_BOOL: TRUTH, FIELD.TYPE_STRING: {"type": "string"}}[field.type]


def root(wheel, pool):
    """The node of a model's configuration."""
    return pool.add(Messages(descriptor(pathlib.Path(wheel)), pool).message(".inference.ModelConfig"))
