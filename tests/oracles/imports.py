#!/usr/bin/env python3
"""Derives which releases of Python packages do not run together, although pip installs them.

    tests/oracles/imports.py CACHE [--read] [PACKAGE…]

With `--read`, the releases of the packages of imports.csv that CACHE lacks are installed without their dependencies and
their sources kept. What is printed are the pairs that pip lets be, each with whether it is broken and the first thing that is
missing; rows of broken_pairs.csv are written from stretches of them, by hand.

A release needs what its modules import as they are imported themselves: at the top of a module and of its classes, out
of reach of `try`, of `TYPE_CHECKING` and of every other condition than `is_NAME_available()` for the package in question.
What is reached is `import PACKAGE`, and the parts that imports.csv names where a package imports them as they are asked for. The
attributes that are taken of a module while a module is run (bases of classes, decorators, defaults) are needed as well.

A release has what its modules define anywhere at their top, their submodules, and every text that stands in a module
with `__getattr__`; a module that is compiled, or that fills its names at run time, has everything.

A pair is broken where something needed is not there, some other release of the provider has all that is needed, and the
metadata of the one that needs it does not keep the other out.
"""

import ast
import collections
import concurrent.futures
import csv
import functools
import json
import pathlib
import re
import sys
import zipfile

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import imports_read

HERE = pathlib.Path(__file__).parent
FILLS = re.compile(r"\b(globals\(\)|sys\.modules\[__name__\]|exec\(|setattr\(|lazy_loader|_LazyModule|attach_stub)")
GONE = re.compile("expired|former|removed", re.IGNORECASE)
# Conditions under which a package is imported, beside that torch is there: `is_peft_available()`.
GUARDS = {"accelerate": "accelerate", "bitsandbytes": "bitsandbytes", "bnb": "bitsandbytes", "peft": "peft"}
GUARDS |= {"transformers": "transformers", "datasets": "datasets", "diffusers": "diffusers", "scipy": "scipy", "sklearn": "scikit-learn"}
AVAILABLE = re.compile(r"^_?is_(\w+?)_available$")


class Release:
    """The sources of one release."""

    def __init__(self, package, path):
        self.package, self.version = package, Version(path.stem)
        self.archive = zipfile.ZipFile(path)
        self.files = {}
        for name in self.archive.namelist():
            plain = name
            if name.endswith(".py"):
                plain = name[:-3]
            elif name.endswith(imports_read.COMPILED):
                plain = name.split(".")[0]
            else:
                continue
            plain = plain.removesuffix("/__init__")
            # A package stands before a module of its name.
            key = plain.replace("/", ".")
            if key not in self.files or name.endswith("/__init__.py"):
                self.files[key] = name
        self.packages = {module.rpartition(".")[0] for module in self.files}
        self.packages |= {".".join(parent.split(".")[:i]) for parent in set(self.packages) for i in range(1, parent.count(".") + 1)}
        self.trees, self.known, self.used = {}, {}, {}

    def metadata(self):
        names = [n for n in self.archive.namelist() if n.endswith(".dist-info/METADATA")]
        return self.archive.read(names[0]).decode(errors="replace").split("\n\n")[0] if names else ""

    @functools.cached_property
    def requires(self):
        out = collections.defaultdict(list)
        for line in re.findall(r"^Requires-Dist: (.*)$", self.metadata(), re.MULTILINE):
            try:
                requirement = Requirement(line.strip())
            except InvalidRequirement:
                continue
            if "extra" not in str(requirement.marker or ""):
                out[canonicalize_name(requirement.name)].append(requirement)
        return out

    def is_module(self, module):
        return module in self.files or module in self.packages

    def compiled(self, module):
        return self.files.get(module, "").endswith(imports_read.COMPILED)

    def text(self, module):
        return self.archive.read(self.files[module]).decode("utf-8", errors="replace")

    def tree(self, module):
        if module not in self.trees:
            name = self.files.get(module)
            tree = None
            if name and not self.compiled(module):
                try:
                    tree = ast.parse(self.text(module))
                except (SyntaxError, ValueError):
                    tree = False
            self.trees[module] = tree
        return self.trees[module]

    def is_package(self, module):
        return self.files.get(module, "").endswith("/__init__.py") or module not in self.files

    def absolute(self, module, node):
        """The module that an import names."""
        if not node.level:
            return node.module or ""
        parts = module.split(".")
        drop = node.level - (1 if self.is_package(module) else 0)
        base = parts[: len(parts) - drop] if drop else parts
        return ".".join([*base, *([node.module] if node.module else [])])

    # What it has.

    def names(self, module, seen=()):
        """The names of a module; `None` for one that may have any."""
        if module in self.known:
            return self.known[module]
        if module in seen:
            return set()
        if self.compiled(module) or self.tree(module) is False:
            return None
        tree = self.tree(module)
        if tree is None:
            return set()
        text = self.text(module)
        found, everything = set(), bool(FILLS.search(text)) and "__getattr__" not in text and "_LazyModule" not in text
        for node in statements(tree.body):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Import):
                found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name != "*":
                        found.add(alias.asname or alias.name)
                        continue
                    target = self.absolute(module, node)
                    star = self.names(target, (*seen, module)) if target in self.files else None
                    if star is None:
                        everything = True
                    else:
                        found |= star
            else:
                found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if "__getattr__" in found or "_LazyModule" in text or "lazy_loader" in text or "LazyLoader" in text:
            gone = {
                n.value
                for node in statements(tree.body)
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and GONE.search(ast.unparse(node)[:60])
                for n in ast.walk(node)
                if isinstance(n, ast.Constant)
            }
            found |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)} - gone
            if "define_import_structure" in text or "attach_stub" in text:
                everything = True
            # A table in a module of its own.
            if "__getattr__" in found and any(isinstance(n, ast.Call) and ast.unparse(n.func).endswith("import_module") for n in ast.walk(tree)):
                for node in statements(tree.body):
                    if isinstance(node, ast.ImportFrom) and node.level:
                        target = self.absolute(module, node)
                        if self.tree(target):
                            found |= {n.value for n in ast.walk(self.tree(target)) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        self.known[module] = None if everything else found
        return self.known[module]

    def has(self, module, name):
        """Whether `from module import name` works; anything counts that cannot be told."""
        if name.startswith("."):
            return self.has_attributes(module, name[1:].split("."))
        if not self.is_module(module):
            # A name of a module above, which is a module itself (`six.moves`), or a compiled package.
            above, _, last = module.rpartition(".")
            while above:
                if self.compiled(above) or (above in self.files and self.names(above) is None):
                    return True
                if self.is_module(above):
                    return False
                above = above.rpartition(".")[0]
            return False
        if not name or self.is_module(f"{module}.{name}"):
            return True
        if module not in self.files:
            return False
        names = self.names(module)
        return names is None or name in names

    def has_attributes(self, module, chain):
        """Whether a chain of attributes works, as far as it goes through modules."""
        for name in chain:
            # What is taken of a class or a value is not followed.
            if module not in self.files or self.compiled(module):
                return True
            if not self.is_module(f"{module}.{name}"):
                return self.has(module, name)
            module = f"{module}.{name}"
        return True

    # What it needs.

    def uses(self, module, others):
        """What running a module takes: (guards, own module or (module, name) of another package, line)."""
        if module in self.used:
            return self.used[module]
        tree = self.tree(module)
        out, aliases = [], {}
        lazy = bool(tree) and "annotations" in future(tree)
        for guards, node in running(tree.body if tree else []):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if provider_of(alias.name, others):
                        out.append((guards, (alias.name, ""), node.lineno))
                        top = alias.name.split(".")[0]
                        aliases[alias.asname or top] = alias.name if alias.asname else top
                    elif alias.name in self.files:
                        out.append((guards, alias.name, node.lineno))
            elif isinstance(node, ast.ImportFrom):
                target = self.absolute(module, node)
                names = [alias.name for alias in node.names]
                if not node.level and provider_of(target, others):
                    out += [(guards, (target, "" if name == "*" else name), node.lineno) for name in names]
                    aliases |= {a.asname or a.name: f"{target}.{a.name}" for a in node.names if a.name != "*"}
                elif self.is_module(target):
                    out.append((guards, target, node.lineno))
                    out += [(guards, f"{target}.{name}", node.lineno) for name in names if f"{target}.{name}" in self.files]
            elif aliases:
                for chain in evaluated(node, lazy):
                    if chain[0] in aliases:
                        out.append((guards, (aliases[chain[0]], "." + ".".join(chain[1:])), getattr(node, "lineno", 0)))
        self.trees.pop(module, None)
        self.used[module] = out
        return out

    def needs(self, start, others, guards):
        """What importing a module needs of other packages, whose modules are `others`, with packages that are there."""
        out, waiting, seen = {}, [start], set()
        while waiting:
            module = waiting.pop()
            if module in seen:
                continue
            seen.add(module)
            waiting += [".".join(module.split(".")[:i]) for i in range(1, module.count(".") + 1)]
            for asked, used, line in self.uses(module, others):
                if not asked <= guards:
                    continue
                if isinstance(used, str):
                    waiting.append(used)
                else:
                    out.setdefault(used, (module, line))
        return out


def provider_of(module, tops):
    """The package that a module is of, by the names that `tops` gives to packages."""
    while module:
        if module in tops:
            return tops[module]
        module = module.rpartition(".")[0]
    return None


def future(tree):
    return {a.name for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__" for a in n.names}


def statements(body):
    """The statements of a module, whatever condition they stand under."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for field in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)
            if isinstance(node, (ast.For, ast.With)):
                yield ast.Expr(getattr(node, "target", None) or node.items[0].context_expr)
        else:
            yield node


def running(body, guards=frozenset()):
    """The statements that are run without fail as a module is imported where the packages of their guards are there."""
    for node in body:
        if isinstance(node, ast.If):
            called = node.test.func if isinstance(node.test, ast.Call) and not node.test.args else None
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            found = AVAILABLE.match(name)
            if found:
                yield from running(node.body, guards | {found[1]})
        elif isinstance(node, ast.With):
            yield from running(node.body, guards)
        elif isinstance(node, (ast.Try, ast.For, ast.While)):
            continue
        elif isinstance(node, (ast.Raise, ast.Return)):
            return
        else:
            yield guards, node


def evaluated(node, lazy):
    """The attributes that a statement takes as it is run: what stands in functions is not."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        if not lazy:
            args = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
            parts += [a.annotation for a in args if a.annotation] + ([node.returns] if node.returns else [])
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases]
        for inner in node.body:
            if not isinstance(inner, (ast.If, ast.Try, ast.With, ast.For, ast.Import, ast.ImportFrom)):
                yield from evaluated(inner, lazy)
    elif isinstance(node, (ast.Assign, ast.Expr)):
        parts = [node.value]
    elif isinstance(node, ast.AnnAssign):
        parts = [*([node.value] if node.value else []), *([] if lazy else [node.annotation])]
    else:
        return
    for part in parts:
        yield from chains(part)


def chains(node):
    """Chains of attributes of names: np.float_ is (np, float_)."""
    if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp)):
        return
    if isinstance(node, ast.Attribute):
        names, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            names.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield (inner.id, *reversed(names))
            return
        node = inner
    for child in ast.iter_child_nodes(node):
        yield from chains(child)


def packages():
    with (HERE / "imports.csv").open() as file:
        return {row["package"]: row for row in csv.DictReader(file)}


def tops(rows):
    """The packages by the modules that they are imported as."""
    return {module: row["package"] for row in reversed(list(rows.values())) for module in row["modules"].split()}


def needed(path):
    """What a release needs, whatever part of it is used: (module, name) and where, kept beside its sources."""
    kept = path.with_suffix(".json")
    if kept.exists() and kept.stat().st_mtime > pathlib.Path(__file__).stat().st_mtime:
        return json.loads(kept.read_text())
    rows = packages()
    row, by_module = rows[path.parent.name], tops(rows)
    release = Release(row["package"], path)
    own = set(row["modules"].split())
    others = {module: package for module, package in by_module.items() if package != row["package"]}
    out = {}
    for guard in [None, *GUARDS]:
        guards = {"torch", guard}
        plain = release.needs(row["modules"].split()[0], others, guards)
        parts = [part for part in row["parts"].split() if part in release.files and part not in own]
        of_parts = [release.needs(part, others, guards) for part in parts]
        for key in plain.keys() | set.intersection(*(set(p) for p in of_parts)) if of_parts else plain.keys():
            provider = provider_of(key[0], others)
            if provider and guard in (None, *(name for name, of in GUARDS.items() if of == provider)):
                at = plain.get(key) or of_parts[0][key]
                out.setdefault(key, (provider, *key, *at))
    result = {
        "needs": sorted(out.values()),
        "abi": sorted({text for name in release.archive.namelist() if name.endswith(imports_read.COMPILED) for text in [release.archive.read(name).decode()] if text}),
        "python": (re.findall(r"^Requires-Python: (.*)$", release.metadata(), re.MULTILINE) or [""])[0],
        "requires": [str(r) for group in release.requires.values() for r in group],
    }
    kept.write_text(json.dumps(result))
    return result


def checked(task):
    """Which of some needs a release of the provider meets."""
    path, asked = task
    release = Release(path.parent.name, path)
    return [release.has(module, name) for module, name in asked]


def releases(cache, package):
    return sorted((cache / package).glob("*.zip"), key=lambda path: Version(path.stem))


def broken(cache, names):
    """The pairs that do not run together: (package, version, provider, version, [(module, name, where, line)])."""
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        kept = {name: releases(cache, name) for name in packages()}
        paths = [path for name in names for path in kept[name]]
        needs = dict(zip(paths, pool.map(needed, paths, chunksize=4)))
        asked = collections.defaultdict(set)
        for found in needs.values():
            for provider, module, name, *_ in found["needs"]:
                asked[provider].add((module, name))
        met = {}
        for provider, wanted in asked.items():
            wanted, there = sorted(wanted), kept[provider]
            for path, answers in zip(there, pool.map(checked, [(path, wanted) for path in there])):
                met[path] = dict(zip(wanted, answers))
    for path, found in needs.items():
        by_provider = collections.defaultdict(list)
        for provider, *need in found["needs"]:
            by_provider[provider].append(need)
        for provider, wanted in by_provider.items():
            there = kept[provider]
            # What no release has was not read rightly.
            wanted = [need for need in wanted if any(met[p][need[0], need[1]] for p in there)]
            if not any(all(met[p][need[0], need[1]] for need in wanted) for p in there):
                continue
            asks = [Requirement(text) for text in found["requires"]]
            asks = [r for r in asks if canonicalize_name(r.name) == provider]
            for other in there:
                lacks = [need for need in wanted if not met[other][need[0], need[1]]]
                if allows(asks, Version(other.stem)):
                    yield path, other, lacks


def allows(asks, version):
    """Whether pip installs a release of another package beside one that asks for it so, on some Python."""
    for python in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13"):
        around = {**default_environment(), "python_version": python, "python_full_version": f"{python}.0", "extra": ""}
        there = [r for r in asks if r.marker is None or r.marker.evaluate(around)]
        if all(r.specifier.contains(version, prereleases=True) for r in there):
            return True
    return False


def main():
    cache, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
    names = [word for word in words if word != "--read"] or list(packages())
    if "--read" in words:
        for name in names:
            row = packages()[name]
            for version in imports_read.thinned(imports_read.offered(name), row["since"]):
                imports_read.read(name, version, row["platform"], cache)
    out = csv.writer(sys.stdout)
    for path, other, lacks in broken(cache, names):
        module, name, at, line = lacks[0] if lacks else ("", "", "", "")
        out.writerow([path.parent.name, path.stem, other.parent.name, other.stem, int(bool(lacks)), module, name, at, line])


if __name__ == "__main__":
    main()
