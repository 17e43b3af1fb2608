#!/usr/bin/env python3
"""Holds manifests against the schemas of schemas/kinds with kubeconform, and compares what gpulint says of them.

    tests/oracles/conform.py GPULINT KUBECONFORM DIRECTORY...

Every YAML file of plain documents below the directories is judged by both, where schemas/kinds has its kinds; kubeconform refuses what it
refuses with the schemas of every release. Rules in CEL are not asked by kubeconform, nor are formats and items of sets and maps that are the
same. Prints how many documents there are, how many both refuse, and each on which they differ. Ends with 1 where kubeconform left a document
out: what nobody judged is no agreement.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RULES = {"unknown-field", "value-not-allowed", "required-field-missing", "contract-violated"}
LOCATION = "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"
SKIPPED = ("node_modules", ".git", "testdata", "_archived")
# What other documents are judged by, were they linted together: definitions of kinds, and what states which release is installed.
APART = ("CustomResourceDefinition", "HelmRelease", "HelmChart", "Application", "ApplicationSet", "Kustomization", "OCIRepository")


def schema(nodes, at, metadata, seen):
    """A node as JSON schema; what stands below it is named in `seen`."""
    if at in seen:
        return
    node = nodes[at]
    out = {}
    seen[at] = out
    ref = lambda number: {"$ref": f"#/definitions/{number}"}
    if node.get("metadata") and metadata is not None:
        out.update(metadata)
        return
    if node.get("quantity"):
        out["type"] = ["string", "number", "null"]
        return
    if node.get("int-or-string"):
        out["type"] = ["string", "integer", "null"]
    elif node.get("type"):
        kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
        out["type"] = [*kinds, "null"]
    if node.get("enum"):
        out["enum"] = list(dict.fromkeys([*node["enum"], None, ""]))
    for key in ("pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
                "maxProperties", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"):
        if key in node:
            out[key] = node[key]
    properties = node.get("properties", {})
    if properties:
        out["properties"] = {name: ref(child) for name, child in properties.items()}
    required = [name for name in node.get("required", [])
                if name not in properties or "default" not in nodes[properties[name]]]
    if required:
        out["required"] = required
    extra = node.get("additionalProperties")
    if isinstance(extra, int) and not isinstance(extra, bool):
        out["additionalProperties"] = ref(extra)
    elif (properties or extra is False) and node.get("type") == "object" and not node.get("preserve"):
        out["additionalProperties"] = False
    if node.get("embedded") and properties:
        for name in ("apiVersion", "kind", "metadata"):
            out["properties"].setdefault(name, {})
    if "items" in node:
        out["items"] = ref(node["items"])
    if "not" in node:
        out["not"] = ref(node["not"])
    for key in ("oneOf", "anyOf", "allOf"):
        if key in node:
            out[key] = [ref(child) for child in node[key]]
    children = [*properties.values(), *(node.get(key) for key in ("items", "not", "additionalProperties"))]
    children += [child for key in ("oneOf", "anyOf", "allOf") for child in node.get(key, [])]
    for child in children:
        if isinstance(child, int) and not isinstance(child, bool):
            schema(nodes, child, metadata, seen)


def standalone(nodes, root, metadata):
    seen = {}
    schema(nodes, root, metadata, seen)
    top = dict(seen[root])
    top["properties"] = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": metadata or {},
                         **top.get("properties", {})}
    if metadata:
        top["properties"]["metadata"] = metadata
    required = [name for name in top.pop("required", []) if name != "metadata"]
    if required:
        top["required"] = required
    return {**top, "definitions": {str(number): node for number, node in seen.items()}}


def inline(nodes, root):
    """ObjectMeta with everything in it."""
    seen = {}
    schema(nodes, root, None, seen)

    def put(value):
        if isinstance(value, dict) and "$ref" in value:
            return put(seen[int(value["$ref"].rsplit("/", 1)[1])])
        if isinstance(value, dict):
            return {key: put(inner) for key, inner in value.items()}
        return [put(inner) for inner in value] if isinstance(value, list) else value
    return put(seen[root])


def write_schemas(directory):
    """Writes the schemas of the newest release of each kind into a folder, those before it into the next, and so on; the kinds."""
    folder = os.path.join(ROOT, "schemas", "kinds")
    files = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    packs = {name: json.load(open(os.path.join(folder, name))) for name in files}
    metadata = next(inline(pack["nodes"], pack["metadata"]) for pack in packs.values() if "metadata" in pack)
    kinds = [(pack["nodes"], kind) for pack in packs.values() for kind in pack["kinds"]]
    folders = []
    for rank in range(max(len(kind["roots"]) for _, kind in kinds)):
        folders.append(os.path.join(directory, str(rank)))
        os.mkdir(folders[-1])
        for nodes, kind in kinds:
            roots = sorted(kind["roots"], key=lambda root: -root[1])
            name = f"{kind['kind'].lower()}-{kind['group'] or kind['version']}-{kind['version']}.json"
            with open(os.path.join(folders[-1], name), "w") as out:
                json.dump(standalone(nodes, roots[min(rank, len(roots) - 1)][2], metadata), out)
    called = lambda kind: "/".join(filter(None, (kind["group"], kind["version"])))
    return folders, {(called(kind), kind["kind"]) for _, kind in kinds if kind.get("version")}


class Loader(yaml.SafeLoader):
    """Dates stay text, as in JSON."""


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for key, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def documents(directories):
    for directory in directories:
        for base, folders, files in os.walk(directory):
            folders[:] = sorted(folder for folder in folders if folder not in SKIPPED)
            for name in sorted(files):
                path = os.path.join(base, name)
                if not name.endswith((".yaml", ".yml")) or os.path.islink(path) or os.path.getsize(path) > 1 << 20:
                    continue
                try:
                    text = open(path, encoding="utf-8").read()
                    if "{{" in text or "${" in text:
                        continue
                    all_of = [doc for doc in yaml.load_all(text, Loader=Loader) if doc is not None]
                except (UnicodeDecodeError, yaml.YAMLError, ValueError):
                    continue
                if all_of and all(isinstance(doc, dict) and "kind" in doc and "apiVersion" in doc for doc in all_of):
                    for doc in all_of:
                        # What SOPS encrypts is not what is applied.
                        if isinstance(doc["kind"], str) and not doc["kind"].endswith("List") and "sops" not in doc:
                            yield path, doc


def main():
    gpulint, kubeconform, *directories = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        schemas, files = os.path.join(work, "schemas"), os.path.join(work, "files")
        os.mkdir(schemas)
        os.makedirs(os.path.join(files, "apart"))
        folders, known = write_schemas(schemas)
        origin, others = {}, 0
        for number, (path, doc) in enumerate(documents(directories)):
            if (doc["apiVersion"], doc["kind"]) not in known:
                others += 1
                continue
            name = f"{number:06}.yaml"
            with open(os.path.join(files, *(["apart"] if doc["kind"] in APART else []), name), "w", encoding="utf-8") as out:
                json.dump(doc, out, default=str, ensure_ascii=False)
            origin[name] = (path, doc)
        theirs, judged = None, set(origin)
        for folder in folders:
            location = os.path.join(folder, LOCATION)
            done = subprocess.run([kubeconform, "-strict", "-ignore-missing-schemas", "-output", "json", "-verbose",
                                   "-schema-location", location, files], capture_output=True, text=True)
            refused, here = {}, set()
            for line in json.loads(done.stdout)["resources"]:
                name = os.path.basename(line["filename"])
                if line["status"] in ("statusValid", "statusInvalid", "statusError"):
                    here.add(name)
                if line["status"] in ("statusInvalid", "statusError"):
                    refused[name] = line["msg"]
            judged &= here
            theirs = refused if theirs is None else {name: said for name, said in theirs.items() if name in refused}
        ours = {}
        for folder in (os.path.join(files, "apart"), files):
            done = subprocess.run([gpulint, "check", "--all-kinds", "--isolated", "--format", "json", "--exit-zero", folder],
                                  capture_output=True, text=True)
            for finding in json.loads(done.stdout)["diagnostics"]:
                if finding["rule"] in RULES:
                    ours.setdefault(os.path.basename(finding["path"]), []).append((finding["rule"], finding["message"]))
            shutil.rmtree(folder)
        print(f"documents {len(origin)}, of other kinds {others}, judged {len(judged)}, refused by kubeconform {len(theirs)}, by gpulint {len(ours)}, "
              f"by both {len(set(theirs) & set(ours))}")
        for name in sorted(set(theirs) ^ set(ours)):
            path, doc = origin[name]
            said = theirs.get(name) or "; ".join(f"{rule}: {message}" for rule, message in ours[name])
            side = "kubeconform" if name in theirs else "gpulint"
            print(f"{side} alone: {path} {doc['kind']}: {said}"[:600])
        for name in sorted(set(origin) - judged):
            path, doc = origin[name]
            print(f"kubeconform left out: {path} {doc['apiVersion']} {doc['kind']}")
        sys.exit(1 if judged != set(origin) or not origin else 0)


if __name__ == "__main__":
    main()
