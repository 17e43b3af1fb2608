#!/usr/bin/env python3
"""Writes schemas/kinds: what the Kubernetes API and the operators' own definitions say of their kinds, by release.

    tests/oracles/kinds.py CLONES CACHE [PROJECT...]    writes schemas/kinds/PROJECT.json (of all without a name)
    tests/oracles/kinds.py --figures                    prints how large what is written is

CLONES holds bare clones of the repositories of `kinds_sources.py` as OWNER+NAME or OWNER+NAME/repo. What a clone lacks,
releases and files, is taken from the zips of the Go module proxy; they are kept in CACHE, cut down to what is read.

A file has the newest patch of each minor release. Its nodes are schemas without prose; equal ones are one node, their
children are indexes and stand before them. A key that a definition does not state is left out:

    type, format, nullable, properties {name: index}, required, additionalProperties (false or an index), items, enum,
    pattern, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, uniqueItems,
    minProperties, maxProperties, multipleOf, oneOf, anyOf, allOf, not, default
    int-or-string   a number or a string; of a definition `anyOf` of these two is then left out
    quantity        a quantity of the core API
    preserve        any field may stand here, and is kept
    embedded        a whole object with apiVersion, kind and metadata
    rules           the CEL rules, but for those that look at the old object
    list, keys      what a list is (map, set, atomic), and the keys of a map; merge: the key that a patch merges by
    metadata        ObjectMeta: the node that core.json names under `metadata`, with what `properties` narrow

An object of a definition with neither properties, additionalProperties nor preserve is emptied by the API server.
`status` of a root is any object. In core.json a field that is null is as if it were not there, and a string that is empty
is so wherever an enum does not list it.
"""

import datetime
import functools
import io
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
import zlib

import yaml

import kinds_sources

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "..", "..", "schemas", "kinds")
PROXY = "https://proxy.golang.org"


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as Kubernetes reads it: `=` and dates are strings."""


for tag in ("value", "timestamp"):
    Loader.add_constructor(f"tag:yaml.org,2002:{tag}", lambda loader, node: node.value)


# --- where the files are


class Clone:
    """The files of the releases of one repository: of a git directory, and where that lacks one of the module proxy."""

    def __init__(self, source, clones, cache):
        self.source, self.cache = source, cache
        name = source.repository.replace("/", "+")
        places = [os.path.join(clones, name, "repo"), os.path.join(clones, name)]
        self.directory = next((place for place in places if os.path.exists(os.path.join(place, "objects"))), None)
        self.lists = {}

    def git(self, *words):
        if self.directory is None:
            return b""
        environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
        done = subprocess.run(["git", "--git-dir", self.directory, *words], capture_output=True, check=False, env=environment)
        return done.stdout if done.returncode == 0 else b""

    @functools.cached_property
    def releases(self):
        """The newest patch of each minor release: the version, and the tag or version that has it."""
        pattern, found = re.compile(self.source.tags), {}
        tags = self.git("tag").decode().split()
        if self.source.module:
            at = self.source.module_directory
            listed = fetched(f"{escaped(self.source.module)}/@v/list").decode().split()
            tags += [f"{at}/{version}" if at and at in self.source.tags else version for version in listed]
        for tag in tags + list(self.source.also):
            match = pattern.fullmatch(tag)
            if match and order(match.group(1)) >= order(self.source.since):
                found.setdefault(match.group(1), tag)
        newest = {}
        for version in sorted(found, key=order):
            newest[order(version)[:2]] = version
        kept = sorted(newest.values(), key=order)[-self.source.most :]
        return [(version, found[version]) for version in kept]

    def files(self, version, tag, paths):
        """Path and text of the files of a release that match the patterns, in the order of the patterns."""
        if not self.git("rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}"):
            return self.of_zip(version, tag, paths)
        if tag not in self.lists:
            rows = (line.split("\t") for line in self.git("ls-tree", "-r", tag).decode().splitlines())
            self.lists[tag] = {path: about.split()[2] for about, path in rows}
        blobs = self.lists[tag]
        picked = [path for pattern in paths for path in sorted(blobs) if re.fullmatch(pattern, path)]
        texts = {path: self.git("cat-file", "blob", blobs[path]) for path in picked}
        if not picked or not all(texts.values()):
            absent = [path for path in picked if not texts[path]]
            if self.source.module:
                return self.of_zip(version, tag, paths)
            print(f"  {self.source.repository} {tag}: not in the clone: {absent or 'anything'}", file=sys.stderr)
        return [(path, texts[path]) for path in picked if texts[path]]

    def of_zip(self, version, tag, paths):
        module, directory = self.source.module, self.source.module_directory
        if not module:
            return []
        version = tag.rsplit("/", 1)[-1]
        kept = os.path.join(self.cache, f"{module.replace('/', '+')}@{version}.zip")
        if not os.path.exists(kept):
            try:
                body = fetched(f"{escaped(module)}/@v/{escaped(version)}.zip", True)
            except urllib.error.HTTPError as error:
                print(f"  {module} {version}: {error.code}", file=sys.stderr)
                return []
            with zipfile.ZipFile(io.BytesIO(body)) as whole, zipfile.ZipFile(kept + ".part", "w", zipfile.ZIP_DEFLATED) as cut:
                for name in whole.namelist():
                    if name.endswith((".yaml", ".yml")) or "/api/openapi-spec/v3/" in name or name.endswith("/zz_generated.openapi.go"):
                        cut.writestr(name, whole.read(name))
            os.rename(kept + ".part", kept)
        with zipfile.ZipFile(kept) as zipped:
            names = {os.path.join(directory, name.split(f"@{version}/", 1)[1]): name for name in zipped.namelist()}
            picked = [path for pattern in paths for path in sorted(names) if re.fullmatch(pattern, path)]
            return [(path, zipped.read(names[path])) for path in picked]


def escaped(module):
    return re.sub("[A-Z]", lambda match: "!" + match.group().lower(), module)


@functools.cache
def fetched(path, must=False):
    try:
        with urllib.request.urlopen(f"{PROXY}/{path}", timeout=300) as answer:
            return answer.read()
    except urllib.error.HTTPError:
        if must:
            raise
        return b""


def order(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


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


def documents(text):
    """The definitions in a file; lines of a chart that are only template are left out."""
    text = text.decode("utf-8", "replace")
    if "CustomResourceDefinition" not in text:
        return []
    if "{{" in text:
        text = re.sub(r"(?m)^\s*\{\{-?\s*(?!`)[^`\n]*\}\}\s*$", "", text)
        text = re.sub(r"\{\{-?\s*`([^`]*)`\s*-?\}\}", r"\1", text)
        text = re.sub(r"\{\{[^\n]*?\}\}", "x", text)
    found = []
    for part in re.split(r"(?m)^---(?:\s.*)?$", text):
        if "CustomResourceDefinition" in part:
            document = yaml.load(part, Loader)
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                found.append(document)
    return found


def definition_index(pool, schema):
    def below(child, _):
        return pool.add(node_of(child, below))

    def top(child, name):
        if name == "status":
            return pool.add(FREE)
        if name == "metadata":
            narrowed = node_of({key: child[key] for key in ("properties",) if key in child}, below)
            return pool.add({**narrowed, "metadata": True})
        return below(child, name)

    return pool.add(node_of(schema, top))


def served(document):
    """Group, version, kind, scope and schema of what a definition serves."""
    spec = document["spec"]
    for row in spec.get("versions") or []:
        # A patch of a definition has no scope.
        if row.get("served") and "scope" in spec:
            schema = (row.get("schema") or spec.get("validation") or {}).get("openAPIV3Schema")
            whole = dict(schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
            if whole.get("type") == "object" and (spec.get("preserveUnknownFields") or not whole.get("properties")):
                whole["x-kubernetes-preserve-unknown-fields"] = True
            yield spec["group"], row["name"], spec["names"]["kind"], spec["scope"], whole


class Definitions:
    """Releases of a project and the schemas of each."""

    def __init__(self, project, clones, cache):
        self.project, self.pool, self.read = project, Pool(), {}
        self.clones = [Clone(source, clones, cache) for source in project.sources]
        self.by_name = {clone.source.repository: clone for clone in self.clones}

    def releases(self):
        return self.clones[0].releases

    def parts(self, version, tag):
        """Texts of a release: of its own repository, and of those whose releases it is made of."""
        first = self.clones[0]
        yield from first.files(version, tag, first.source.paths)
        for clone in self.clones[1:]:
            for _, text in first.files(version, tag, clone.source.pinned_in):
                match = re.search(clone.source.pinned_as, text.decode())
                if match:
                    yield from clone.files(match.group(1).lstrip("v"), match.group(1), clone.source.paths)
                    break

    def kinds(self, version, tag):
        found = {}
        for _, text in self.parts(version, tag):
            key = hash(text)
            if key not in self.read:
                self.read[key] = [
                    (group, served_version, kind, scope, definition_index(self.pool, schema))
                    for document in documents(text)
                    for group, served_version, kind, scope, schema in served(document)
                    if re.search(self.project.groups, group)
                ]
            for group, served_version, kind, scope, index in self.read[key]:
                found.setdefault((group, served_version, kind), (scope, index))
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
            found[(schema, at, items)] = json.loads(f"[{enum.group(1)}]")
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

    def kinds(self, version, tag):
        files = dict(self.clone.files(version, tag, self.project.sources[0].paths))
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
            found[key] = (scope, self.definition(definition, (), True))

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
                index = self.beside(index, child)
                return index
            enum = self.enums.get((function, field, False))
            if enum and allowed(name, field):
                child["enum"] = enum
            if "items" in child and (function, field, True) in self.enums and allowed(name, field):
                child["items"] = {**child["items"], "enum": self.enums[(function, field, True)]}
            # The generator states the empty value of its type for what has no default.
            if not child.get("default") and child.get("default") is not True:
                child.pop("default", None)
            elif child.get("default") == {}:
                child.pop("default")
            return self.pool.add(node_of(child, below))

        return self.pool.add(node_of(self.schemas[name], below))

    def beside(self, index, child):
        """A reference with a default of its own."""
        default = child.get("default")
        if not default:
            return index
        return self.pool.add({**self.pool.nodes[index], "default": default})


def allowed(name, field):
    return (name.split("io.k8s.api.", 1)[-1], field) not in kinds_sources.WIDER_THAN_THEIR_ENUM


# --- files


def write(project, read):
    """Reads all releases of a project and writes its file."""
    releases, roots, scopes = [], {}, {}
    for version, tag in read.releases():
        kinds = read.kinds(version, tag)
        if not kinds:
            print(f"  {project.name} {version}: nothing", file=sys.stderr)
            continue
        at = len(releases)
        releases.append(".".join(version.split(".")[:2]) if project.name == "core" else version)
        for key, (scope, index) in kinds.items():
            scopes[key] = scope
            spans = roots.setdefault(key, [])
            if spans and spans[-1][1:] == [at - 1, index]:
                spans[-1][1] = at
            else:
                spans.append([at, at, index])
    if not releases:
        sys.exit(f"{project.name}: no release has a kind")
    pool = renumbered(read.pool.nodes, roots, getattr(read, "metadata", set()))
    head = {"project": project.name, "source": project.text(), "read": datetime.date.today().isoformat(), "releases": releases}
    if project.name == "core":
        head["metadata"] = max(read.metadata)
    lines = [
        json.dumps({"group": key[0], "version": key[1], "kind": key[2], "scope": scopes[key], "roots": roots[key]}, ensure_ascii=False)
        for key in sorted(roots)
    ]
    body = json.dumps(head, ensure_ascii=False)[:-1] + ",\n"
    body += ' "kinds": [\n' + ",\n".join(lines) + '],\n "nodes": [\n'
    body += ",\n".join(json.dumps(node, ensure_ascii=False) for node in pool) + "]}\n"
    os.makedirs(TARGET, exist_ok=True)
    with open(os.path.join(TARGET, project.name + ".json"), "w", encoding="utf-8") as file:
        file.write(body)
    print(f"{project.name}: {len(releases)} releases {releases[0]} to {releases[-1]}, {len(roots)} kinds, {len(pool)} nodes, {len(body)} bytes")


def children(node):
    for key in ("additionalProperties", "items", "not"):
        if isinstance(node.get(key), int) and node[key] is not False:
            yield key, None
    for key in ("oneOf", "anyOf", "allOf"):
        yield from ((key, at) for at in range(len(node.get(key, []))))
    yield from (("properties", name) for name in node.get("properties", {}))


def moved(node, to):
    """A node with other indexes of its children."""
    node = {key: dict(value) if key == "properties" else list(value) if key in ("oneOf", "anyOf", "allOf") else value for key, value in node.items()}
    for key, at in children(node):
        if at is None:
            node[key] = to[node[key]]
        else:
            node[key][at] = to[node[key][at]]
    return node


def renumbered(nodes, roots, more):
    """The nodes that a root reaches, in the order of the pool; the roots and `more` are told the new numbers."""
    wanted = {span[2] for spans in roots.values() for span in spans} | set(more)
    for index in range(len(nodes) - 1, -1, -1):
        if index in wanted:
            node = nodes[index]
            wanted |= {node[key] if at is None else node[key][at] for key, at in children(node)}
    to = {old: new for new, old in enumerate(sorted(wanted))}
    for spans in roots.values():
        for span in spans:
            span[2] = to[span[2]]
    if more:
        kept = {to[index] for index in more}
        more.clear()
        more.update(kept)
    return [moved(nodes[old], to) for old in sorted(wanted)]


def figures():
    pool, total = Pool(), 0
    for name in sorted(os.listdir(TARGET)):
        path = os.path.join(TARGET, name)
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        to, before = {}, len(pool.nodes)
        for index, node in enumerate(read["nodes"]):
            to[index] = pool.add(moved(node, to))
        size = os.path.getsize(path)
        total += size
        alone = len(zlib.compress(json.dumps(read["nodes"], separators=(",", ":")).encode(), 9))
        new = len(pool.nodes) - before
        span = f"{read['releases'][0]}..{read['releases'][-1]}"
        print(f"{name:34} {len(read['releases']):3} releases {span:22} {len(read['kinds']):4} kinds {len(to):6} nodes ({new:6} new) {size:9} bytes, deflated alone {alone}")
    body = "\n".join(json.dumps(node, separators=(",", ":"), ensure_ascii=False) for node in pool.nodes).encode()
    print(f"all: {total} bytes of files; {len(pool.nodes)} nodes in one pool, {len(body)} bytes, deflated {len(zlib.compress(body, 9))}")


def main():
    if sys.argv[1:] == ["--figures"]:
        return figures()
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clones, cache, *names = sys.argv[1:]
    os.makedirs(cache, exist_ok=True)
    for project in kinds_sources.PROJECTS:
        if not names or project.name in names:
            reader = Core if project.name == "core" else Definitions
            write(project, reader(project, clones, cache))
    return None


if __name__ == "__main__":
    main()
