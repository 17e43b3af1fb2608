#!/usr/bin/env python3
"""Writes schemas/documents of formats that often stand inside other documents, and schemas/kinds of configurations that are
objects: what the programs refuse of them.

    tests/oracles/documents_inner.py CLONES CACHE [PROJECT...]    writes the files of projects (of all without a name)

CLONES and CACHE are those of `kinds.py`; CACHE/wheels has wheels as pip downloads them, of which any release is read. The form
of a file is that of `documents.py`: whatever breaks a schema, the program refuses; what it converts or ignores is allowed.
protobuf, pydantic and packaging have to be installed.
"""

import dataclasses
import os
import re
import sys
import typing

import documents_gpu
import documents_ray
import documents_strict
import documents_triton
import documents_volcano
import kinds
from kinds_clones import Clone, order
from kinds_read import Pool
from kinds_sources import Project, Source

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMAS = os.path.join(HERE, "..", "..", "schemas")


def placed(pool, schema):
    """The node of a schema whose children are schemas."""
    node = dict(schema)
    if "properties" in schema:
        node["properties"] = {name: placed(pool, child) for name, child in sorted(schema["properties"].items())}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), dict):
            node[key] = placed(pool, schema[key])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            node[key] = [placed(pool, child) for child in schema[key]]
    return pool.add(node)


@dataclasses.dataclass
class Wheels:
    """A format of a package on PyPI: `read` makes the node of a wheel."""

    name: str
    package: str
    place: str
    read: typing.Callable
    objects: bool = False

    def text(self):
        return f"https://pypi.org/project/{self.package} {self.place}"

    def releases(self, _clones, cache):
        found = {}
        for file in os.listdir(os.path.join(cache, "wheels")):
            name, version, *_ = file.split("-")
            if name == self.package:
                # The number of a build is no release.
                found[re.match(r"\d+\.\d+\.\d+", version).group()] = os.path.join(cache, "wheels", file)
        return sorted(found.items(), key=lambda row: order(row[0]))

    def kinds(self, wheel, pool):
        return {self.name: self.read(wheel, pool)}


@dataclasses.dataclass
class Structs(Project):
    """Formats of a repository: `decoded` makes schemas of its files, by their names or by group, version and kind."""

    decoded: typing.Callable = None
    objects: bool = False

    def releases(self, clones, cache):
        self.clone = Clone(self.sources[0], clones, cache)
        return [(version, tag) for version, tag, last in self.clone.releases if last]

    def kinds(self, tag, pool):
        texts = {path: text.decode() for path, text in self.clone.files(tag, self.sources[0].paths)}
        return {name: placed(pool, schema) for name, schema in self.decoded(texts).items()} if texts else {}


class Reader:
    """The releases of a project, and the schemas of each."""

    def __init__(self, project, clones, cache):
        self.project, self.pool, self.found = project, Pool(), project.releases(clones, cache)

    def releases(self):
        return [(version, place, place == self.found[-1][1]) for version, place in self.found]

    def kinds(self, place):
        found = self.project.kinds(place, self.pool)
        return {name if isinstance(name, tuple) else ("", "", name): ("", "", node) for name, node in found.items()}

    def mutated(self):
        return set()


def repository(name, place, paths, since, decoded):
    return Structs(name, [Source(place, [paths], since=since)], decoded=decoded)


def strict(name, place, api, since):
    """A controller's configuration, which is an object."""
    source = Source(place, [rf"{api}/config/v\w+/{GO}", r"pkg/config/config\.go"], since=since)
    return Structs(name, [source], decoded=documents_strict.configuration, objects=True)


GO = r"(?!.*_test\.go)[^/]*\.go"
PROJECTS = [
    Wheels("triton", "tritonclient", "tritonclient/grpc/model_config_pb2.py", documents_triton.root),
    Wheels("ray-serve", "ray", "ray/serve/schema.py", documents_ray.root),
    repository("device-plugin", "NVIDIA/k8s-device-plugin", rf"api/config/v1/{GO}", "0.12", documents_gpu.device_plugin),
    repository("mig-parted", "NVIDIA/mig-parted", rf"(api/spec/v1|pkg/types)/{GO}", "0.1", documents_gpu.mig_parted),
    repository(
        "volcano-scheduler",
        "volcano-sh/volcano",
        rf"pkg/scheduler/(conf/{GO}|util\.go|actions/([^/]*/)?{GO})",
        "1.0",
        documents_volcano.scheduler,
    ),
    strict("kueue-config", "kubernetes-sigs/kueue", "apis", "0.5"),
    strict("jobset-config", "kubernetes-sigs/jobset", "api", "0.5"),
    strict("lws-config", "kubernetes-sigs/lws", "api", "0.5"),
    strict("trainer-config", "kubeflow/trainer", "pkg/apis", "2"),
]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clones, cache, *names = sys.argv[1:]
    for project in PROJECTS:
        if not names or project.name in names:
            kinds.write(project, Reader(project, clones, cache), os.path.join(SCHEMAS, "kinds" if project.objects else "documents"))


if __name__ == "__main__":
    main()
