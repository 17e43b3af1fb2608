#!/usr/bin/env python3
"""Writes schemas/documents, and the kinds of tools that are no servers: what projects publish of the files that they read.

    tests/oracles/documents.py CLONES CACHE [PROJECT...]    writes the files of projects (of all without a name)

CLONES and CACHE are those of `kinds.py`, and so is the form of a file; but a document has neither group nor version, and its
kind is the name of its format (`gpulint formats`; of a trainer's configuration the name of the trainer, or the command that reads
it). Three keys more, and formats `python-*` of texts that argparse makes something else of:

    extensions      fields whose names begin with `x-` are the writer's own
    caseless        names of fields, and values of an enum, are taken whatever their case
    truths          what reads it takes the words of YAML 1.1 (no, off) for truth values

A file has the newest patch of each minor release that differs from the one before it, and the newest of all. What a project
takes is widened to what it converts (a number where it wants text), and what it only warns of is left out: whatever breaks
a schema, the project refuses.
"""

import os
import sys

import kinds
from documents_schema import index, plain
from documents_sources import PROJECTS
from documents_wheels import Wheels
from kinds_clones import Clone, order
from kinds_read import Definitions, Pool

HERE = os.path.dirname(os.path.abspath(__file__))


def opened(source, clones, cache):
    """The releases of a source: wheels, or a clone of a repository."""
    return source.in_cache(cache) if isinstance(source, Wheels) else Clone(source, clones, cache)


class Reader(Definitions):
    """Releases of a project and the schemas of each."""

    def __init__(self, project, clones, cache):
        self.project, self.pool = project, Pool()
        self.clones = [opened(source, clones, cache) for source in project.sources]
        self.beside = {}
        for clone in [opened(source, clones, cache) for source in project.beside]:
            for version, tag, newest in clone.releases:
                files = clone.files(tag, clone.source.paths) if newest else ()
                self.beside.update({f"{version}/{path}": text.decode() for path, text in files})

    def releases(self):
        newest = [row for row in super().releases() if row[2]]
        steps = [row for row in newest if order(row[0])[1] % self.project.step == 0 or row is newest[-1]]
        return [(version, place, version == steps[-1][0]) for version, place, _ in steps]

    def kinds(self, place):
        texts = {path: text.decode() for path, text in self.parts(*place)}
        found = {}
        for key, schema in self.project.read({**texts, **self.beside}) if texts else ():
            found[key] = ("", "", index(self.pool, plain(schema, schema)))
        return found

    def mutated(self):
        return set()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clones, cache, *names = sys.argv[1:]
    os.makedirs(cache, exist_ok=True)
    for project in PROJECTS:
        if not names or project.name in names:
            target = os.path.join(HERE, "..", "..", "schemas", "kinds" if project.objects else "documents")
            kinds.write(project, Reader(project, clones, cache), target)


if __name__ == "__main__":
    main()
