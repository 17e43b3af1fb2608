#!/usr/bin/env python3
"""Writes documents that are wrong in one or two places, to be judged by `compare.py`.

    tests/oracles/cel/mutate.py CRDS TARGET COUNT SEED MANIFESTS...

CRDS is a directory of CustomResourceDefinitions. Every document of MANIFESTS (files or directories) whose kind has a schema there
with rules in CEL is a start; a kind without one starts with a document that is made of its schema. TARGET gets COUNT files of one
document each, with what was changed in a comment; the same seed gives the same files.
"""

import copy
import json
import os
import random
import re
import sys

import yaml

TEXTS = ["", "0", "5", "-1", "1.5", "10m", "-10s", "1h30m", "1d", "Never", "100Mi", "0.5Gi", "1e3", "2k", "10%", "150%", "true", "null", "a", "A b",
         "*", "a.example.com", "*.example.com", "/path", "http://a/b", "10.0.0.1", "10.0.0.0/8", "::1", "abc-123", "x" * 300]
NUMBERS = [0, 1, -1, 2, 80, 65535, 65536, 2 ** 31, 0.5]


class Loader(yaml.SafeLoader):
    """Dates stay text, as in JSON."""


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for key, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def documents(paths):
    for path in paths:
        found = [path] if os.path.isfile(path) else sorted(
            os.path.join(base, name) for base, _, names in os.walk(path) for name in names if name.endswith((".yaml", ".yml")))
        for name in found:
            try:
                text = open(name, encoding="utf-8").read()
                if "{{" not in text:
                    yield from (doc for doc in yaml.load_all(text, Loader=Loader) if isinstance(doc, dict) and "kind" in doc)
            except (UnicodeDecodeError, yaml.YAMLError, ValueError):
                continue


def has_rules(schema):
    if isinstance(schema, dict):
        return "x-kubernetes-validations" in schema or any(has_rules(value) for key, value in schema.items() if key != "default")
    return isinstance(schema, list) and any(map(has_rules, schema))


def schemas(crds):
    out = {}
    for crd in documents([crds]):
        if crd["kind"] != "CustomResourceDefinition":
            continue
        for version in crd["spec"]["versions"]:
            schema = version.get("schema", {}).get("openAPIV3Schema", {})
            spec = {name: child for name, child in schema.get("properties", {}).items() if name not in ("status", "metadata", "apiVersion", "kind")}
            if version.get("served") and has_rules(spec):
                kept = {**schema, "properties": spec}
                out[f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]] = kept
    return out


def made(schema, rng, depth=0):
    """A value that a schema is likely to take."""
    if "default" in schema and rng.random() < 0.5:
        return copy.deepcopy(schema["default"])
    if schema.get("enum"):
        return rng.choice(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return rng.choice(["1", 1, "100m", "10%", "1Gi"])
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        chosen = [name for name in fields if name in schema.get("required", []) or depth < 6 and rng.random() < 1.5 / (len(fields) + 1)]
        out = {name: made(fields[name], rng, depth + 1) for name in chosen}
        if isinstance(schema.get("additionalProperties"), dict):
            out.update({name: made(schema["additionalProperties"], rng, depth + 1) for name in rng.sample(["a", "b-c", "d.e/f", "cpu"], rng.randint(0, 2))})
        return out
    if kind == "array":
        least = schema.get("minItems", 0)
        return [made(schema.get("items", {}), rng, depth + 1) for _ in range(rng.randint(least, max(least, 2)))]
    if kind == "string":
        fits = [text for text in TEXTS + ["3", "5m", "v1", "name", "Name", "1.2.3.4", "key/name"] if schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 99)]
        try:
            fits = [text for text in fits if re.search(schema.get("pattern", ""), text)] or fits
        except re.error:
            pass
        return rng.choice(fits or ["a" * schema.get("minLength", 1)])
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 100)
        return rng.choice([low, high, max(low, min(high, 1)), (low + high) // 2])
    return rng.random() < 0.5 if kind == "boolean" else {}


def places(value, schema, path=()):
    """All places of a document with what the schema says of them: path, value, schema."""
    yield path, value, schema
    if isinstance(value, dict):
        for name, child in value.items():
            below = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            if isinstance(below, dict):
                yield from places(child, below, (*path, name))
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for at, child in enumerate(value):
            yield from places(child, schema["items"], (*path, at))


def put(doc, path, value):
    for step in path[:-1]:
        doc = doc[step]
    doc[path[-1]] = value


def bare(schema):
    return [name for name in schema.get("properties", {})]


def mutate(doc, schema, rng):
    """Changes one place of a document; what was done, or nothing where it cannot be."""
    found = [place for place in places(doc, schema) if place[0]]
    if not found:
        return None
    path, value, own = rng.choice(found)
    shown = ".".join(map(str, path))
    how = rng.choice(["unknown", "drop", "type", "enum", "beside", "beside", "beside", "empty", "text", "number", "twice", "null", "remove"])
    fields = own.get("properties", {})
    if how == "unknown" and isinstance(value, dict):
        value["notAField"] = rng.choice([1, "a", {}, []])
    elif how in ("drop", "remove") and isinstance(value, dict) and value:
        names = [name for name in value if how == "remove" or name in own.get("required", [])]
        if not names:
            return None
        how += " " + (name := rng.choice(names))
        del value[name]
    elif how == "type":
        put(doc, path, rng.choice([other for other in ("text", 7, 1.5, True, [], {}, ["a"], {"a": "b"}) if type(other) is not type(value)]))
    elif how == "enum" and own.get("enum"):
        put(doc, path, rng.choice([str(own["enum"][0]).lower() + "x", "", str(own["enum"][-1]).swapcase()]))
    elif how == "beside" and isinstance(value, dict) and set(fields) - set(value):
        how += " " + (name := rng.choice(sorted(set(fields) - set(value))))
        value[name] = made(fields[name], rng)
    elif how == "empty":
        put(doc, path, type(value)())
    elif how == "text" and isinstance(value, str):
        put(doc, path, rng.choice(TEXTS))
    elif how == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
        put(doc, path, rng.choice(NUMBERS))
    elif how == "twice" and isinstance(value, list) and value:
        value.extend(copy.deepcopy(value[:1]) * rng.choice([1, 1, 1, 20]))
    elif how == "null":
        put(doc, path, None)
    else:
        return None
    return f"{how} at {shown}"


def main():
    crds, target, count, seed, *manifests = sys.argv[1:]
    rng, known = random.Random(int(seed)), schemas(crds)
    starts = {key: [] for key in known}
    for doc in documents(manifests):
        starts.get((doc["apiVersion"], doc["kind"]), []).append({key: doc[key] for key in doc if key != "status"})
    os.makedirs(target, exist_ok=True)
    keys = sorted(known)
    for number in range(int(count)):
        key = keys[number % len(keys)]
        schema, doc = known[key], None
        if starts[key] and rng.random() < 0.8:
            doc = copy.deepcopy(rng.choice(starts[key]))
        else:
            doc = {"apiVersion": key[0], "kind": key[1], "metadata": {"name": "made"}, **made(schema, rng)}
        done = []
        for _ in range(rng.choice([1, 1, 1, 2])):
            done += [next(filter(None, (mutate(doc, schema, rng) for _ in range(50))), "nothing")]
        with open(os.path.join(target, f"{number:05}-{key[1]}.yaml"), "w", encoding="utf-8") as out:
            out.write(f"# {'; '.join(done)}\n{json.dumps(doc, indent=1, ensure_ascii=False)}\n")


if __name__ == "__main__":
    main()
