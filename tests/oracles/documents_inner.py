#!/usr/bin/env python3
"""Writes schemas/documents of formats that often stand inside other documents: what the programs refuse of them.

    tests/oracles/documents_inner.py CACHE [PROJECT...]    writes the files of projects (of all without a name)

CACHE/wheels holds wheels as pip downloads them (any release of a package that is there is read). The form of a file is that
of `documents.py`: whatever breaks a schema, the program refuses; what it converts or ignores is allowed.
"""

import dataclasses
import os
import re
import sys
import typing

import documents_triton
import kinds
from kinds_clones import order
from kinds_read import Pool

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "..", "..", "schemas", "documents")


@dataclasses.dataclass
class Wheels:
    """A format of a package on PyPI: `read` makes the node of a wheel."""

    name: str
    package: str
    source: str
    read: typing.Callable

    def text(self):
        return self.source


class Reader:
    """The releases of a package that the cache has."""

    def __init__(self, project, cache):
        self.project, self.pool = project, Pool()
        found = {}
        for file in os.listdir(os.path.join(cache, "wheels")):
            name, version, *_ = file.split("-")
            if name == project.package:
                # The number of a build is no release.
                found[re.match(r"\d+\.\d+\.\d+", version).group()] = os.path.join(cache, "wheels", file)
        self.wheels = sorted(found.items(), key=lambda row: order(row[0]))

    def releases(self):
        return [(version, wheel, wheel == self.wheels[-1][1]) for version, wheel in self.wheels]

    def kinds(self, wheel):
        return {("", "", self.project.name): ("", "", self.project.read(wheel, self.pool))}

    def mutated(self):
        return set()


PROJECTS = [
    Wheels("triton", "tritonclient", "https://pypi.org/project/tritonclient tritonclient/grpc/model_config_pb2.py", documents_triton.root),
]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cache, *names = sys.argv[1:]
    for project in PROJECTS:
        if not names or project.name in names:
            kinds.write(project, Reader(project, cache), TARGET)


if __name__ == "__main__":
    main()
