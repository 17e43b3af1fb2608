#!/usr/bin/env python3
"""Writes schemas/terraform: what providers say of the resources that machines with GPUs are made of, by release.

    tests/oracles/terraform.py CLONES CACHE [PROVIDER...]    writes the files of providers (of all without a name)

CLONES and CACHE are those of `kinds.py`, and so is the form of a file; `terraform_bindings.py` has the keys that are new. The
bindings that schemas are read from end before the providers do: of a newer release they are what its documentation (or
bindings of another kind) adds to those of the last one that has bindings, so that it takes every argument that is new there,
wherever that stands.
"""

import os
import re
import subprocess
import sys
from collections import Counter

import kinds
from documents_schema import index
from kinds_clones import order
from kinds_read import Pool
from terraform_bindings import Bindings
from terraform_inputs import Inputs
from terraform_sources import PROVIDERS

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "..", "..", "schemas", "terraform")
# What every resource takes.
META = {name: {} for name in ("count", "depends_on", "for_each", "lifecycle", "provider", "provisioner", "connection")}
# An argument in documentation, and whether it may be left out.
NAMED = re.compile(r"\s*[*-]\s+`([a-z][a-z0-9_]*)`\W*(Optional|Required)?")
# Where the arguments of a block begin.
SECTION = re.compile(r"name=\"(nested_\w+)\"|`(\w+)` (?:block )?(?:supports|exports|contains|argument)")


class Reader:
    """Releases of a provider and the schemas of each."""

    def __init__(self, provider, clones, cache):
        self.project, self.pool, self.cache = provider, Pool(), cache
        self.clone = os.path.join(clones, provider.clone)
        self.clone = os.path.join(self.clone, "repo") if os.path.isdir(os.path.join(self.clone, "repo")) else self.clone
        self.names = [f"{provider.prefix}_{name}" for name in provider.resources.split()]
        self.inputs = Inputs(*provider.inputs, cache) if provider.inputs else None
        self.last = {}

    def releases(self):
        return [(version, version, True) for version in sorted([*self.project.bindings, *self.project.documented], key=order)]

    def kinds(self, version):
        binding = self.project.bindings.get(version)
        if binding:
            read = Bindings(self.project.package, binding, self.cache).read(self.names)
            framework = self.project.framework and version.startswith(self.project.framework)
            self.last = {name: arguments(schema) if framework else schema for name, schema in read.items()}
            schemas = self.last
        else:
            schemas = {name: self.documented(name, schema, version) for name, schema in self.last.items()}
        rooted = {name: {**schema, "properties": {**META, **schema["properties"]}} for name, schema in schemas.items()}
        return {("", "", name): ("", "", index(self.pool, schema)) for name, schema in sorted(rooted.items())}

    def documented(self, name, schema, version):
        """A schema with what the documentation of a later release adds to it, or bindings of another kind."""
        if self.inputs:
            return added(schema, self.inputs.names(name, Counter(known(schema))), set(), set())
        before, after = (list(self.stated(name, at)) for at in (list(self.project.bindings)[-1], version))
        places = {(section, own) for section, own, _ in before}
        new = {own for section, own, _ in after if (section, own) not in places}
        optional, settable = ({own for _, own, need in after if need in needs} for needs in (("Optional",), ("Optional", "Required")))
        return added(schema, new, optional, settable)

    def stated(self, name, version):
        """The arguments of a resource, as its pages have them."""
        pages = [name, *([self.project.beside[name]] if name in self.project.beside else [])]
        return (one for page in pages for one in named(self.page(page, version)))

    def page(self, name, version):
        path = f"v{version}:website/docs/r/{name.split('_', 1)[1]}.html.markdown"
        for path in (path, path.removesuffix(".html.markdown") + ".html.md", f"v{version}:docs/resources/{name.split('_', 1)[1]}.md"):
            shown = subprocess.run(["git", "-c", "safe.directory=*", "--git-dir", self.clone, "show", path], capture_output=True)
            if shown.returncode == 0:
                return shown.stdout.decode("utf-8", "replace")
        print(f"  {name} {version}: no page", file=sys.stderr)
        return ""

    def mutated(self):
        return set()


def arguments(schema):
    """A schema whose lists of objects are arguments."""
    own = {"argument": True} if schema.get("items", {}).get("properties") and not schema.get("block") else {}
    out = {**schema, **own}
    if "items" in schema:
        out["items"] = arguments(schema["items"])
    if "properties" in schema:
        out["properties"] = {name: arguments(child) for name, child in schema["properties"].items()}
    return out


def known(schema):
    """All names of a schema, each as often as it stands there."""
    properties = schema.get("properties", {})
    yield from properties
    below = [*properties.values(), *([schema["items"]] if "items" in schema else [])]
    for child in below:
        yield from known(child)


def named(page):
    """The arguments of a page, with the section that they stand in and whether they may be left out."""
    section = ""
    for line in page.splitlines():
        begins, argument = SECTION.search(line), NAMED.match(line)
        section = begins.group(1) or begins.group(2) if begins else section
        if argument:
            yield section, argument.group(1), argument.group(2)


def added(schema, names, optional, settable):
    """A schema whose objects have further arguments, and need none that may be left out."""
    out = dict(schema)
    if "items" in schema:
        out["items"] = added(schema["items"], names, optional, settable)
    if "properties" in schema:
        own = {name: {} if child.get("computed") and name in settable else added(child, names, optional, settable) for name, child in schema["properties"].items()}
        out["properties"] = {**{name: {} for name in names}, **own}
        out["required"] = [name for name in schema.get("required", ()) if name not in optional]
    return out


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clones, cache, *names = sys.argv[1:]
    os.makedirs(cache, exist_ok=True)
    for provider in PROVIDERS:
        if not names or provider.name in names:
            kinds.write(provider, Reader(provider, clones, cache), TARGET)


if __name__ == "__main__":
    main()
