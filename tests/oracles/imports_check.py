#!/usr/bin/env python3
"""Imports pairs of releases for real, to compare with what imports.py derives.

    tests/oracles/imports_check.py CACHE < PAIRS

PAIRS are lines of imports.py. Each pair is imported from its kept sources in a Python of its own, where every other package
is a mock; the answer is the error of the import, if it names the provider.
"""

import csv
import pathlib
import subprocess
import sys

import imports

PROGRAM = """
import importlib, importlib.machinery, importlib.metadata, sys, types, unittest.mock as mock, zipfile
consumer, provider, module, *own = sys.argv[1:]
compiled = {n.split(".")[0].replace("/", ".") for z in (consumer, provider) for n in zipfile.ZipFile(z).namelist() if n.endswith((".so", ".pyd"))}
# What decides by versions as it is imported stays real.
REAL = {"packaging", "typing_extensions", "filelock", "tqdm", "yaml", "fsspec"}
ORDERS = {f"__{order}__": lambda self, other: True for order in ("lt", "gt", "le", "ge")}
sys.path[:0] = [consumer, provider]
class Mocks:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in own and name not in compiled or top not in own and (top in sys.stdlib_module_names or top in REAL):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        made = types.ModuleType(spec.name)
        made.__path__, made.__version__ = [], "2.1.0"
        made.__getattr__ = lambda name: type(name, (), {}) if name[:1].isupper() else mock.MagicMock(__version__="2.1.0", **ORDERS)
        return made
    def exec_module(self, made):
        pass
importlib.metadata.version = lambda name: "2.1.0"
sys.modules["importlib_metadata"] = importlib.metadata
sys.meta_path.insert(0, Mocks())
try:
    importlib.import_module(module)
    print("imported")
except BaseException as error:
    if "--trace" in sys.argv: import traceback; traceback.print_exc()
    print(type(error).__name__, str(error).replace(chr(10), " ")[:160])
"""


def real(cache, row):
    package, version, provider, other, _, module, name, at, _ = row
    rows = imports.packages()
    own = {m.split(".")[0] for p in (package, provider) for m in rows[p]["modules"].split()}
    words = [cache / package / f"{version}.zip", cache / provider / f"{other}.zip", at or rows[package]["modules"].split()[0]]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *map(str, words), *own], capture_output=True, text=True, timeout=120)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-160:]


if __name__ == "__main__":
    out = csv.writer(sys.stdout)
    for row in csv.reader(sys.stdin):
        out.writerow([*row, real(pathlib.Path(sys.argv[1]), row)])
        sys.stdout.flush()
