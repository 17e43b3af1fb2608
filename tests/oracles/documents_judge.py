"""Nodes of schemas/documents read once more: what they refuse of a value, without the code that gpulint has for it."""

import json
import re

TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}


class Judge:
    """The schema of one kind, as one release has it."""

    def __init__(self, path, kind, release=None):
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        self.nodes, at = whole["nodes"], whole["releases"].index(release) if release else len(whole["releases"]) - 1
        roots = next(row["roots"] for row in whole["kinds"] if row["kind"] == kind)
        self.root = next(root for first, last, root in roots if first <= at <= last)

    def refused(self, value):
        return list(self.of(value, self.nodes[self.root], ""))

    def of(self, value, node, path):
        """What a node refuses of a value, each with the path of its field."""
        kind = TYPES.get(type(value))
        if value is None:
            return
        if isinstance(value, float) and value.is_integer():
            kind = "integer"
        wanted = node.get("type") or []
        wanted = [wanted] if isinstance(wanted, str) else wanted
        if wanted and kind not in wanted and not (kind == "integer" and "number" in wanted):
            yield f"{path}: {kind}"
            return
        if "enum" in node and kind not in ("object", "array") and value not in node["enum"]:
            yield f"{path}: {value}"
        if kind == "string" and value:
            if "pattern" in node and not re.search(pattern(node["pattern"]), value):
                yield f"{path}: {value}"
        elif kind in ("integer", "number"):
            if "minimum" in node and (value <= node["minimum"] if node.get("exclusiveMinimum") is True else value < node["minimum"]):
                yield f"{path}: {value}"
            if "maximum" in node and (value >= node["maximum"] if node.get("exclusiveMaximum") is True else value > node["maximum"]):
                yield f"{path}: {value}"
        elif kind == "array":
            if not node.get("minItems", 0) <= len(value) <= node.get("maxItems", len(value)):
                yield f"{path}: {len(value)} items"
            for at, item in enumerate(value):
                if "items" in node:
                    yield from self.of(item, self.nodes[node["items"]], f"{path}[{at}]")
        elif kind == "object":
            yield from self.fields(value, node, path)

    def fields(self, value, node, path):
        known, further = node.get("properties", {}), node.get("additionalProperties")
        for name, one in value.items():
            child = known.get(name, further)
            if child is not None and child is not False:
                yield from self.of(one, self.nodes[child], f"{path}.{name}")
            elif (known or further is False) and not node.get("preserve"):
                yield f"{path}: no field {name}"
        yield from (f"{path}: {name} is missing" for name in node.get("required", ()) if value.get(name) is None)
        for rule in node.get("rules", ()):
            pairs = re.findall(r"!\(has\(self\.(\w+)\) && has\(self\.(\w+)\)\)", rule["rule"])
            if any(one in value and other in value for one, other in pairs):
                yield f"{path}: {rule['message']}"


def pattern(text):
    """A pattern as Python writes it, whose `$` is not before the last line's end."""
    return text[:-1] + r"\Z" if text.endswith("$") else text
