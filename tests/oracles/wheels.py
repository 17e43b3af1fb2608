#!/usr/bin/env python3
"""Writes package_requires.csv, package_wheels.csv and package_releases.csv of rules/catalog/ from the metadata of wheels.

    tests/oracles/wheels.py CACHE [--read]

With `--read`, pip is asked for what CACHE lacks: which releases of the packages of packages.csv it offers to each Python,
and what the wheel of each release states. pip reads the metadata alone, out of the middle of the wheel, and builds nothing:
a release without a wheel for Linux on x86_64 is known to be published, and nothing else of it.

A requirement is kept where both packages are in packages.csv and it excludes some release. Its marker is asked for CPython
on Linux and x86_64, for each Python and each extra: Pythons that do not stand side by side leave the requirement out.
Stretches of releases that require the same are one row; one that was not read ends a stretch.
"""

import collections
import concurrent.futures
import csv
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

HERE = pathlib.Path(__file__).parent
CATALOG = HERE.parents[1] / "rules/catalog"
PYTHONS = [f"3.{minor}" for minor in range(5, 15)]
LINUX = ["manylinux_2_35", "manylinux_2_34", "manylinux_2_31", "manylinux_2_28", "manylinux_2_27", "manylinux_2_24"]
LINUX += ["manylinux_2_17", "manylinux2014", "manylinux2010", "manylinux1", "linux"]
LINK = re.compile(
    r"https://files\.pythonhosted\.org/\S*/([^/\s#]+\.(?:whl|tar\.gz|zip))\S* \(from [^)]*\)(?: \(requires-python:([^)]*)\))?"
)
PLATFORM = re.compile("platform_system|platform_machine|sys_platform|os_name")
EXTRA = re.compile(r"extra == [\"']([^\"']+)[\"']")
# Extras that are for those who change a package.
DEVELOPERS = ("all", "bench", "dev", "doc", "lint", "quality", "test", "ci")


def pip(*words):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_FIND")}
    command = [sys.executable, "-m", "pip", *words, "--index-url", "https://pypi.org/simple"]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def target(python, platforms):
    chosen = [word for platform in platforms for word in ("--platform", platform)]
    return ["--only-binary", ":all:", "--python-version", python, *chosen]


class Cache:
    """What pip said, as files of JSON."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def path(self, *parts):
        return self.directory.joinpath(*parts[:-1], f"{parts[-1]}.json")

    def get(self, *parts):
        path = self.path(*parts)
        return json.loads(path.read_text()) if path.exists() else None

    def put(self, value, *parts):
        path = self.path(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))


def offered(package):
    """The files of a package with the Pythons that they require: pip tells of those that it skips, too."""
    done = pip("index", "versions", package, "-vv")
    return sorted(set(LINK.findall(done.stdout + done.stderr)))


def read_index(cache, packages, pool):
    tasks = [package for package in packages if cache.get("index", package) is None]
    for package, files in zip(tasks, pool.map(offered, tasks)):
        cache.put(files, "index", package)


@functools.cache
def allowed_by(required):
    return [python for python in PYTHONS if SpecifierSet(required).contains(f"{python}.9")]


def pythons_of(name, required):
    """The release that a file is of, and the Pythons that install it on Linux and x86_64; all where it is not of those."""
    try:
        allowed = allowed_by(required)
        if not name.endswith(".whl"):
            return parse_sdist_filename(name)[1], "sdist", allowed
        _, version, _, tags = parse_wheel_filename(name)
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidSpecifier, InvalidVersion):
        return None, "", []
    platforms = {platform_of(tag.platform) for tag in tags}
    fits = set()
    for tag in tags:
        exact = re.fullmatch(r"(cp|py)(\d)(\d*)", tag.interpreter)
        if not exact or platform_of(tag.platform) not in ("linux-x86_64", "any"):
            continue
        python = ".".join(filter(None, exact.groups()[1:]))
        later = tag.abi in ("abi3", "none")
        fits |= {one for one in allowed if one == python or later and Version(one) >= Version(python)}
    return version, " ".join(sorted(platforms)), [python for python in PYTHONS if python in fits]


def platform_of(tag):
    if tag == "any":
        return tag
    system = next((word for word in ("manylinux", "musllinux", "linux", "win", "macosx") if tag.startswith(word)), "other")
    machine = next((word for word in ("x86_64", "aarch64", "arm64", "amd64") if tag.endswith(word)), "")
    return f"linux-{machine}" if system in ("manylinux", "linux") else system


def releases_of(cache, package):
    """The final releases of a package in their order: their platforms, and the Pythons that install wheel and source."""
    out = {}
    for name, required in cache.get("index", package):
        version, platforms, pythons = pythons_of(name, required)
        if version is None or version.is_prerelease:
            continue
        release = out.setdefault(str(version), {"platforms": set(), "wheels": set(), "sdist": set()})
        release["platforms"].update(platforms.split())
        release["sdist" if platforms == "sdist" else "wheels"].update(pythons)
    return {version: out[version] for version in sorted(out, key=Version)}


def ordered(pythons):
    return [python for python in PYTHONS if python in pythons]


def stated(task):
    """What the wheels of some releases state, one of each package. One that pip does not take is left out."""
    python, releases = task
    x86 = [f"{name}_x86_64" for name in LINUX]
    while releases:
        with tempfile.TemporaryDirectory() as directory:
            words = ["install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed", "--use-feature=fast-deps"]
            words += [f"--target={directory}/to", f"--report={directory}/report", *target(python, x86)]
            done = pip(*words, *releases)
            if done.returncode == 0:
                report = json.loads(pathlib.Path(f"{directory}/report").read_text())
                return [one["metadata"] for one in report["install"]]
        refused = [release for release in releases if re.search(rf"{re.escape(release)}(\s|$)", done.stderr)]
        print("not read:", python, refused or releases, done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        releases = [release for release in releases if release not in refused] if refused else []
    return []


def read_metadata(cache, packages, pool):
    queues = collections.defaultdict(lambda: collections.defaultdict(list))
    for package, since in packages.items():
        for version, release in releases_of(cache, package).items():
            pythons = ordered(release["wheels"])
            wanted = pythons and since and Version(version) >= Version(since)
            if wanted and cache.get("metadata", package, version) is None:
                python = next((python for python in ("3.11", "3.9") if python in pythons), pythons[-1])
                queues[python][package].append(f"{package}=={version}")
    tasks = []
    for python, waiting in queues.items():
        while any(waiting.values()):
            tasks.append((python, [releases.pop(0) for releases in list(waiting.values())[:16]]))
            waiting = {package: releases for package, releases in waiting.items() if releases}
    for found in pool.map(stated, tasks):
        for metadata in found:
            name, version = canonicalize_name(metadata["name"]), metadata["version"]
            kept = {key: metadata.get(key) for key in ("requires_dist", "requires_python", "provides_extra")}
            cache.put(kept, "metadata", name, version)


def python_range(held, known):
    """The range of the Pythons in which something holds, of those known; `None` where they do not stand side by side."""
    if held == known:
        return ""
    first, last = known.index(held[0]), known.index(held[-1])
    if known[first : last + 1] != held:
        return None
    least = [f">={held[0]}"] if first else []
    return " ".join(least + ([f"<{known[last + 1]}"] if last + 1 < len(known) else []))


def environment(python, extra):
    linux = dict(os_name="posix", sys_platform="linux", platform_system="Linux", platform_machine="x86_64")
    cpython = dict(implementation_name="cpython", platform_python_implementation="CPython")
    return linux | cpython | dict(
        python_version=python, python_full_version=f"{python}.9", implementation_version=f"{python}.9", extra=extra
    )


def text_of(specifier):
    """A range as the catalog writes it; a whole release behind `~=` or `.*` as it is."""
    clauses = sorted(str(clause) for clause in specifier)
    least = [clause for clause in clauses if clause.startswith(">")]
    return " ".join(least + [clause for clause in clauses if not clause.startswith(">")])


@functools.cache
def held_by(line, pythons):
    """What a requirement asks for, with the extras and the Pythons for which it does: (extra, package, Pythons, of Linux, range)."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return ()
    name, text, marker = canonicalize_name(requirement.name), text_of(requirement.specifier), str(requirement.marker or "")
    if not text or requirement.url or "===" in text or "platform_release" in marker or "platform_version" in marker:
        return ()
    holds = lambda extra: [
        python for python in pythons if not marker or requirement.marker.evaluate(environment(python, extra))
    ]
    plain = holds("")
    extras = [""] if plain else [extra for extra in EXTRA.findall(marker) if not extra.lower().startswith(DEVELOPERS)]
    ranges = {extra: python_range(held, list(pythons)) for extra in extras if (held := holds(extra))}
    linux = "true" if PLATFORM.search(marker) else ""
    return tuple((extra, name, where, linux, text) for extra, where in ranges.items() if where is not None)


def requirements(metadata, pythons, packages):
    """Rows of a release: (extra, package, Pythons, of Linux, range)."""
    found = {row for line in metadata["requires_dist"] or [] for row in held_by(line, tuple(pythons)) if row[1] in packages}
    merged = collections.defaultdict(list)
    for *key, text in sorted(found):
        merged[tuple(key)].append(text)
    return {(*key, " ".join(dict.fromkeys(" ".join(texts).split()))) for key, texts in merged.items()}


def stretches(versions, said):
    """Ranges of releases, in their order, of which the same is said."""
    spans = []
    for at, version in enumerate(versions):
        here = said[version]
        if spans and spans[-1][2] == here:
            spans[-1][1] = at
        else:
            spans.append([at, at, here])
    for first, last, here in spans:
        if here is None:
            continue
        if first == last:
            yield f"=={versions[first]}", here
        else:
            yield f">={versions[first]} <={versions[last]}", here


def compact(versions):
    """Releases by their first two numbers: `2.1.0,1,2` is 2.1.0, 2.1.1 and 2.1.2."""
    groups = {}
    for version in versions:
        head, dot, tail = version.rpartition(".")
        groups.setdefault(head if dot else version, []).append(tail if dot else "")
    return " ".join(f"{head}.{','.join(tails)}" if tails != [""] else head for head, tails in groups.items())


def write(name, header, rows, source):
    with open(CATALOG / f"{name}.csv", "w", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*header.split(), "evidence", "source"])
        out.writerows([*row, "opened", source[row[0]]] for row in sorted(set(rows)))


def described_by(release):
    """The oldest and the newest Python that install a release, if they are not among all, and its platforms."""
    pythons = ordered(release["wheels"] | release["sdist"])
    if not pythons:
        return None
    oldest = pythons[0] if pythons[0] != PYTHONS[0] else ""
    newest = pythons[-1] if pythons[-1] != PYTHONS[-1] else ""
    return oldest, newest, " ".join(sorted(release["platforms"]))


def main():
    cache = Cache(sys.argv[1])
    with open(HERE / "packages.csv", encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    packages = {row["package"]: row["since"] for row in listed}
    source = {row["package"]: row["source"] for row in listed}
    asked = {row["package"]: row["since"] for row in listed if row["source"]}
    if "--read" in sys.argv:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            read_index(cache, asked, pool)
            read_metadata(cache, asked, pool)
    requires, tags, releases = [], [], []
    for package in asked:
        published = releases_of(cache, package)
        releases.append((package, compact(published)))
        described = {version: described_by(release) for version, release in published.items()}
        tags += [(package, versions, *found) for versions, found in stretches(list(published), described)]
        read = {version: cache.get("metadata", package, version) for version in published}
        said = {
            version: requirements(metadata, ordered(published[version]["wheels"]), packages)
            for version, metadata in read.items()
            if metadata
        }
        rows = collections.defaultdict(set)
        for extra, name, where, linux in {row[:4] for found in said.values() for row in found}:
            of_key = lambda found, key=(extra, name, where, linux): next((row[4] for row in found if row[:4] == key), None)
            # A release that was not read ends a stretch.
            texts = {version: of_key(said.get(version, ())) for version in published}
            for versions, text in stretches(list(published), texts):
                rows[(versions, name, where, text, linux)].add(extra)
        for (versions, name, where, text, linux), extras in rows.items():
            requires.append((package, versions, " ".join(sorted(extras)), name, where, text, linux))
    write("package_requires", "package versions extra requires python requirement linux_only", requires, source)
    write("package_wheels", "package versions oldest_python newest_python platforms", tags, source)
    write("package_releases", "package releases", releases, source)
    print(len(requires), "requirements,", len(tags), "stretches of wheels,", len(releases), "packages")


if __name__ == "__main__":
    main()
