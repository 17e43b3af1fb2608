"""Structs of Go as JSON schemas: the fields by the names that a decoder knows them by, and the types that it takes."""

import re

STRUCT = re.compile(r"(?ms)^type (\w+) struct \{\n(.*?)^\}")
NAMED = re.compile(r"(?m)^type (\w+) (?!struct\b|interface\b|func\b)([\w.\[\]*]+)")
FIELD = re.compile(r"^\t([\w.*]+)?[ \t]*([\w.\[\]*{}]*(?:interface\{\})?)[ \t]*`([^`]*)`")
SCALARS = {"string": "string", "bool": "boolean", "float64": "number", "float32": "number"}
SCALARS |= {name: "integer" for name in ("int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64")}


class Structs:
    """The types that files declare."""

    def __init__(self, texts, tag="json", other=None):
        self.tag, self.other = tag, other or {}
        self.structs, self.named = {}, {}
        for text in texts:
            self.structs.update(STRUCT.findall(text))
            self.named.update(NAMED.findall(text))

    def schema(self, name):
        """A struct that takes the named fields only."""
        return {"type": "object", "properties": dict(self.fields(name)), "additionalProperties": False}

    def fields(self, name):
        for line in self.structs[name].split("\n"):
            match = FIELD.match(line)
            tag = match and re.search(rf'\b{self.tag}:"([^"]*)"', match.group(3))
            if not tag:
                # A field that is embedded without a tag is one with its struct.
                alone = re.match(r"^\t\*?(?:\w+\.)?([A-Z]\w*)$", line)
                if alone and alone.group(1) in self.structs:
                    yield from self.fields(alone.group(1))
                continue
            known, kind = tag.group(1).split(",")[0], match.group(2)
            if known == "-":
                continue
            if not known:
                yield from self.fields((kind or match.group(1)).lstrip("*").rsplit(".", 1)[-1])
            else:
                yield known, self.of(kind)

    def of(self, kind):
        kind = kind.lstrip("*")
        if kind in SCALARS:
            return {"type": SCALARS[kind]}
        if kind.startswith("[]"):
            return {"type": "array", "items": self.of(kind[2:])}
        key = re.match(r"map\[\w+\](.+)", kind)
        if key:
            return {"type": "object", "additionalProperties": self.of(key.group(1)) or True}
        short = kind.rsplit(".", 1)[-1]
        if kind in self.other:
            return self.other[kind]
        if short in self.structs:
            return self.schema(short)
        return self.of(self.named[short]) if short in self.named else {}
