#!/usr/bin/env python3
"""Writes schemas/kinds: what the Kubernetes API and the operators' own definitions say of their kinds, by release.

    tests/oracles/kinds.py CLONES CACHE [PROJECT...]    writes schemas/kinds/PROJECT.json (of all without a name)
    tests/oracles/kinds.py --figures                    prints how large what is written is

CLONES holds bare clones of the repositories of `kinds_sources.py` as OWNER+NAME or OWNER+NAME/repo. What a clone lacks,
releases and files, is taken from the zips of the Go module proxy; they are kept in CACHE, cut down to what is read.

A file has the newest patch of each minor release, and of the others those that differ from the one before: a release
that is not listed has what the listed one before it has. Releases are in the order of their time. Nodes are schemas
without prose; equal ones are one node, their children are indexes and stand before them. A key that a definition does
not state is left out:

    type, format, nullable, properties {name: index}, required, additionalProperties (false or an index), items, enum,
    pattern, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, uniqueItems,
    minProperties, maxProperties, multipleOf, oneOf, anyOf, allOf, not, default
    int-or-string   an integer or a string; of a definition `anyOf` of these two is then left out
    quantity        a quantity of the core API
    preserve        any field may stand here, and is kept
    embedded        a whole object with apiVersion, kind and metadata
    rules           the CEL rules, but for those that look at the old object
    list, keys      what a list is (map, set, atomic), and the keys of a map; merge: the key that a patch merges by
    metadata        ObjectMeta: the node that core.json names under `metadata`, with what `properties` narrow

An object of a definition with neither properties, additionalProperties nor preserve is emptied by the API server.
A kind with `mutated` has a mutating webhook, which runs before the required fields are looked for.
`status` of a root is any object. In core.json a field that is null is as if it were not there, and a string that is empty
is so wherever an enum does not list it.
"""

import datetime
import json
import os
import sys
import zlib

import kinds_sources
from kinds_read import Core, Definitions, Pool

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "..", "..", "schemas", "kinds")


def write(project, read, target=TARGET):
    """Reads all releases of a project and writes its file."""
    releases, kept = [], []
    for version, place, last in read.releases():
        kinds = read.kinds(place)
        if not kinds:
            print(f"  {project.name} {version}: nothing", file=sys.stderr)
        elif last or not kept or kept[-1] != kinds:
            releases.append(".".join(version.split(".")[:2]) if project.name == "core" else version)
            kept.append(kinds)
    roots, about, called = {}, {}, read.mutated()
    for at, kinds in enumerate(kept):
        for key, (scope, plural, index) in kinds.items():
            names = {(group, name) for group in (key[0], "*") for name in (plural, "*")}
            about[key] = {**({"scope": scope} if scope else {}), **({"mutated": True} if names & called else {})}
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
        json.dumps({**({"group": key[0], "version": key[1]} if key[1] else {}), "kind": key[2], **about[key], "roots": roots[key]}, ensure_ascii=False)
        for key in sorted(roots)
    ]
    body = json.dumps(head, ensure_ascii=False)[:-1] + ",\n"
    body += ' "kinds": [\n' + ",\n".join(lines) + '],\n "nodes": [\n'
    body += ",\n".join(json.dumps(node, ensure_ascii=False) for node in pool) + "]}\n"
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, project.name + ".json"), "w", encoding="utf-8") as file:
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
