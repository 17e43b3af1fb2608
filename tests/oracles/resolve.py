#!/usr/bin/env python3
"""Asks uv and gpulint whether pins of packages of the catalog can be installed together.

    tests/oracles/resolve.py GPULINT COMBINATIONS ANSWERS [SEED]

Pairs and triples of pins are made of package_requires.csv: a release, and a release of what it requires, in half of them one
that it does not take. uv resolves them from the Python Package Index for a Python that has wheels of all, and builds nothing.
Every combination that uv resolves and gpulint refuses is printed, and of those that uv refuses the ones that gpulint says
nothing of, with the reason of uv.
"""

import ast
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from packaging.specifiers import SpecifierSet
from packaging.version import Version

CATALOG = pathlib.Path(__file__).parents[2] / "rules/catalog"


def table(name):
    with open(CATALOG / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def specifiers(text):
    return SpecifierSet(text.replace(" ", ","))


def releases():
    out = {}
    for row in table("package_releases"):
        versions = []
        for word in row["releases"].split():
            head, *others = word.split(",")
            versions += [head] + [f"{head.rpartition('.')[0]}.{last}" for last in others]
        out[row["package"]] = versions
    return out


def pythons(wheels, package, version):
    rows = (row for row in wheels[package] if version in specifiers(row["versions"]))
    row = next((row for row in rows if "linux-x86_64" in row["platforms"] or "any" in row["platforms"]), None)
    if row is None:
        return set()
    within = lambda minor: not (
        row["oldest_python"] and Version(f"3.{minor}") < Version(row["oldest_python"])
        or row["newest_python"] and Version(f"3.{minor}") > Version(row["newest_python"])
    )
    return {minor for minor in range(8, 15) if within(minor)}


def combinations(count, chance):
    """Lists of pins, with the newest Python that has wheels of all of them."""
    published, wheels = releases(), collections.defaultdict(list)
    for row in table("package_wheels"):
        wheels[row["package"]].append(row)
    requires = [row for row in table("package_requires") if row["requires"] in published and not row["extra"]]
    by_target = collections.defaultdict(list)
    for row in requires:
        by_target[row["requires"]].append(row)
    seen = set()
    while len(seen) < count:
        # Each package as often as another, however many rows it has.
        target = chance.choice(sorted(by_target))
        package = chance.choice(sorted({row["package"] for row in by_target[target]}))
        row = chance.choice([row for row in by_target[target] if row["package"] == package])
        version = chance.choice([v for v in published[package] if v in specifiers(row["versions"])])
        wanted = len(seen) % 2 == 0
        of_target = [v for v in published[target] if (v in specifiers(row["requirement"])) == wanted]
        if not of_target:
            continue
        pins = {package: version, target: chance.choice(of_target)}
        if len(seen) % 3 == 2:
            other = chance.choice(by_target[target])
            fits = [v for v in published[other["package"]] if v in specifiers(other["versions"])]
            pins.setdefault(other["package"], chance.choice(fits))
            if chance.random() < 0.5 and len(pins) == 3:
                del pins[target]
        common = set.intersection(*(pythons(wheels, *pin) for pin in pins.items()))
        if common and len(pins) > 1:
            seen.add((max(common), tuple(f"{name}=={version}" for name, version in pins.items())))
    return sorted(seen)


def resolved(task):
    """Whether uv resolves pins, and what it says where it does not."""
    python, pins = task
    words = "--quiet --no-header --no-build --python-platform x86_64-manylinux_2_39 --index-url https://pypi.org/simple".split()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("UV_")}
    command = [sys.executable, "-m", "uv", "pip", "compile", *words, "--python-version", f"3.{python}", "-"]
    done = subprocess.run(command, input="\n".join(pins), capture_output=True, text=True, env=environment, check=False)
    return done.returncode == 0, " ".join(done.stderr.split())


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    tasks = combinations(count, random.Random(int((sys.argv[4:] or [1])[0])))
    kept = pathlib.Path(sys.argv[3])
    answers = json.loads(kept.read_text()) if kept.exists() else {}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        todo = [task for task in tasks if str(task) not in answers]
        for task, answer in zip(todo, pool.map(resolved, todo)):
            answers[str(task)] = answer
            kept.write_text(json.dumps(answers))
    tasks = [ast.literal_eval(task) for task in answers]
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for at, (_, pins) in enumerate(tasks):
            root.joinpath(str(at)).mkdir()
            root.joinpath(str(at), "requirements.txt").write_text("\n".join(pins) + "\n")
        done = subprocess.run([program, "check", "--format", "json", "."], cwd=root, capture_output=True, check=False)
        found = collections.defaultdict(dict)
        for one in json.loads(done.stdout)["diagnostics"]:
            found[int(one["path"].split("/")[0])][one["rule"]] = one["message"]
    figures = collections.Counter()
    for at, (python, pins) in enumerate(tasks):
        fits, why = answers[str(tasks[at])]
        told = found[at].get("requirement-conflict") or found[at].get("release-not-published")
        figures[("resolved" if fits else "refused", "told" if told else "silent")] += 1
        if fits and told:
            print(f"FALSE python 3.{python} {' '.join(pins)}: {told}")
        if not fits and not told:
            print(f"MISSED python 3.{python} {' '.join(pins)}: {why[:400]}")
    for (uv, own), number in sorted(figures.items()):
        print(f"uv {uv}, gpulint {own}: {number}")


if __name__ == "__main__":
    main()
