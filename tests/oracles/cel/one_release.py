#!/usr/bin/env python3
"""Leaves one release of each named project in a copy of schemas/kinds, and no other project but the core API.

    tests/oracles/cel/one_release.py SCHEMAS PROJECT=VERSION...

SCHEMAS is schemas/kinds of another work tree: gpulint built there says what breaks that one release, as the API server with its
definitions does, and not what breaks all releases that may serve.
"""

import json
import os
import sys


def version(text):
    return [int(part) for part in text.split(".")]


def main():
    folder, *named = sys.argv[1:]
    wanted = dict(name.split("=") for name in named)
    for name in sorted(os.listdir(folder)):
        project, path = name.removesuffix(".json"), os.path.join(folder, name)
        if project == "core":
            continue
        if project not in wanted:
            os.remove(path)
            continue
        pack = json.load(open(path, encoding="utf-8"))
        at = max(at for at, release in enumerate(pack["releases"]) if version(release) <= version(wanted[project]))
        for kind in pack["kinds"]:
            kind["roots"] = [[0, 0, root] for first, last, root in kind["roots"] if first <= at <= last]
        pack["kinds"] = [kind for kind in pack["kinds"] if kind["roots"]]
        pack["releases"] = [pack["releases"][at]]
        with open(path, "w", encoding="utf-8") as out:
            json.dump(pack, out)


if __name__ == "__main__":
    main()
