"""JSON schemas as the nodes of kinds.py: references are followed, forms of a value are one node that allows each of them.

What a node cannot say is left out, so that it allows more than the schema: `not`, `if`, which fields go together.
"""

from kinds_read import PLAIN, node_of

ANY = {}
LIMITS = ("pattern", *(key for key in PLAIN if key != "uniqueItems"))
# Patterns of fields that every name matches which is seen.
NAMES = (".*", ".+", "^.*$", "^.+$", r"^[a-zA-Z0-9._-]+$", r"^[a-z]+$")


def parts(pointer, root):
    for part in pointer.lstrip("#/").split("/"):
        root = root[part.replace("~1", "/").replace("~0", "~")]
    return root


def plain(schema, root, above=()):
    """A schema of its own: `type` is a list, `additional` is what other fields are (False: there are none; absent: anything)."""
    if not isinstance(schema, dict) or not schema:
        return ANY
    out = own(schema, root, above)
    target = schema.get("$ref")
    if target:
        out = both(ANY if target in above else plain(parts(target, root), root, above + (target,)), out)
    for one in schema.get("allOf") or []:
        out = both(out, plain(one, root, above))
    for key in ("anyOf", "oneOf"):
        forms = [plain(form, root, above) for form in schema.get(key) or [] if form.get("type") != "null"]
        if forms:
            merged = forms[0]
            for form in forms[1:]:
                merged = either(merged, form)
            out = both(out, merged)
    return out


def own(schema, root, above):
    """What a schema says beside its references and forms."""
    types = schema.get("type") or []
    out = {"type": sorted({types} if isinstance(types, str) else set(types))} if types else {}
    if "null" in out.get("type", ()):
        out["type"].remove("null")
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if [value for value in values if value is not None]:
        out["enum"] = [value for value in values if value is not None]
    for key in LIMITS:
        if schema.get(key) is not None:
            out[key] = schema[key]
    if schema.get("required"):
        out["required"] = list(schema["required"])
    if schema.get("properties"):
        out["properties"] = {name: plain(child, root, above) for name, child in schema["properties"].items()}
    items = schema.get("items")
    if isinstance(items, dict) and items:
        out["items"] = plain(items, root, above)
    further = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    patterns = dict(schema.get("patternProperties") or {})
    if patterns.pop("^x-", None) is not None:
        out["extensions"] = True
    if isinstance(further, dict) and further:
        out["additional"] = plain(further, root, above)
    elif further is False and not patterns:
        out["additional"] = False
    elif patterns and (further is False or all(pattern in NAMES for pattern in patterns)):
        kinds = [plain(child, root, above) for child in patterns.values()]
        merged = kinds[0]
        for kind in kinds[1:]:
            merged = either(merged, kind)
        out["additional"] = merged
    if schema.get("caseless"):
        out["caseless"] = True
    # What Python makes of texts, and words that older YAML takes for truth values.
    if str(schema.get("format")).startswith("python-"):
        out["format"] = schema["format"]
    if schema.get("truths"):
        out["truths"] = True
    return out


def both(one, other):
    """What holds of a value of which both hold; fields of either may stand there."""
    out = {**other, **one}
    if "type" in one and "type" in other:
        out["type"] = sorted(kind for kind in {*one["type"], *other["type"]} if fits(kind, one["type"]) and fits(kind, other["type"]))
    if "enum" in one and "enum" in other:
        out["enum"] = [value for value in one["enum"] if value in other["enum"]]
    if "required" in one and "required" in other:
        out["required"] = sorted({*one["required"], *other["required"]})
    if "properties" in one and "properties" in other:
        out["properties"] = {**other["properties"], **one["properties"]}
        for name in one["properties"].keys() & other["properties"].keys():
            out["properties"][name] = both(one["properties"][name], other["properties"][name])
    return out


def fits(kind, types):
    return kind in types or kind == "integer" and "number" in types


# Of which types of values a key says something; others say it of numbers.
OF = {"string": ("pattern", "minLength", "maxLength"), "array": ("items", "minItems", "maxItems")}
OF["object"] = ("properties", "required", "additional", "extensions", "minProperties", "maxProperties")
OF = {key: {kind} for kind, keys in OF.items() for key in keys} | {"caseless": {"object", "string"}}
SCALARS = {"string", "integer", "number", "boolean"}


def either(one, other):
    """What holds of a value of which one or the other holds."""
    if not one.get("type") or not other.get("type"):
        return ANY
    words = all(isinstance(value, str) for form in (one, other) for value in form.get("enum", ()))
    of = {**OF, "enum": {"string"} if words else SCALARS}
    out = {"type": sorted({*one["type"], *other["type"]})}
    for key in ("enum", *LIMITS, *OF):
        # A form that has no such values says nothing of them; one that has and does not state it allows all.
        stated = [form for form in (one, other) if of.get(key, {"integer", "number"}) & set(form["type"])]
        values = [form.get(key) for form in stated]
        if key == "properties" and stated:
            merged = fields(*stated) if len(stated) > 1 else values[0]
        elif key in ("extensions", "caseless"):
            merged = any(values) or None
        elif not values or None in values:
            continue
        elif len(values) == 1 or values[0] == values[1]:
            merged = values[0]
        elif key == "enum":
            merged = values[0] + [value for value in values[1] if value not in values[0]]
        elif key == "items":
            merged = either(*values)
        elif key == "required":
            merged = [name for name in values[0] if name in values[1]]
        elif key == "additional":
            merged = either(*values) if False not in values else values[0] or values[1]
        else:
            continue
        if merged is not None and not (key in ("properties", "required") and not merged):
            out[key] = merged
    return out


def fields(one, other):
    """The fields of two forms of an object; what both have has either form."""
    mine, others = one.get("properties") or {}, other.get("properties") or {}
    out = {}
    for name in {**mine, **others}:
        forms = [form["properties"][name] if name in (form.get("properties") or {}) else form.get("additional", ANY) for form in (one, other)]
        forms = [form for form in forms if form is not False]
        out[name] = forms[0] if len(forms) == 1 else either(*forms)
    return out


def index(pool, schema):
    """The node of a schema of its own."""

    def below(child, _):
        further = child.get("additional", True if child.get("properties") else None)
        types = child.get("type") or []
        said = {**child, "type": types[0] if len(types) == 1 else types}
        if further is not None:
            said["additionalProperties"] = further
        node = node_of(said, below)
        return pool.add({**node, **{key: True for key in ("extensions", "caseless", "truths", "block", "argument", "computed") if child.get(key)}})

    return below(schema, None)
