#!/usr/bin/env python3
"""Writes the rows of rules/catalog/chart_values.csv: the values that releases of a chart know.

    tests/oracles/chart_values.py CHART GIT_DIRECTORY PATH TAGS SOURCE > rows.csv

PATH is the directory of the chart, TAGS a regular expression whose group is the version of the chart. A value is known
when `values.yaml` states it, in a comment too, or a template names it. It is open, so that anything may stand below it,
when it has no keys of its own, when a template takes it whole, and when it belongs to a dependency. A release whose
templates take all values at once is not judged, and neither is one before it.
"""

import re
import subprocess
import sys

import yaml

REFERENCE = re.compile(r"\.Values((?:\.[A-Za-z0-9_-]+)+)")
HAS_KEY = re.compile(r'\.Values((?:\.[A-Za-z0-9_-]+)*)\s+"([A-Za-z0-9_-]+)"')
WHOLE = re.compile(r"\.Values(?![.A-Za-z0-9_])")
CONDITION = re.compile(r"^[-\s]*(?:else\s+)?if\b")


def git(directory, *words):
    done = subprocess.run(["git", "--git-dir", directory, *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def walk(value, path, keys):
    """Keys of a mapping with whether anything may stand below them."""
    for key, below in value.items():
        here = path + (str(key),)
        keys[here] = not (isinstance(below, dict) and below) and not isinstance(below, (bool, int, float, str))
        if isinstance(below, dict):
            walk(below, here, keys)


def known(directory, tag, path):
    """The keys of a release, and those that comments name; None where that cannot be told."""
    try:
        values = yaml.safe_load(git(directory, "show", f"{tag}:{path}/values.yaml"))
        chart = yaml.safe_load(git(directory, "show", f"{tag}:{path}/Chart.yaml")) or {}
    except yaml.YAMLError:
        return None
    if not isinstance(values, dict):
        return None
    keys, whole = {}, False
    walk(values, (), keys)
    text = git(directory, "show", f"{tag}:{path}/values.yaml")
    commented = {m.group(1) for m in re.finditer(r"^\s*#[#\s-]*([A-Za-z][A-Za-z0-9_-]*):", text, re.M)}
    files = git(directory, "ls-tree", "-r", "--name-only", tag, f"{path}/templates/").split()
    for file in files:
        body = git(directory, "show", f"{tag}:{file}")
        for action in re.findall(r"\{\{(.*?)\}\}", body, re.S):
            if action.strip().startswith("/*"):
                continue
            while re.search(r"\(\s*\$?\.Values[\w.-]*\s*\)", action):
                action = re.sub(r"\(\s*\$?(\.Values[\w.-]*)\s*\)", r"\1", action)
            for match in HAS_KEY.finditer(action):
                keys.setdefault(tuple(match.group(1).split(".")[1:]) + (match.group(2),), True)
            action = HAS_KEY.sub("", action)
            whole |= bool(WHOLE.search(action))
            for match in REFERENCE.finditer(action):
                parts = tuple(match.group(1)[1:].split("."))
                for end in range(1, len(parts)):
                    keys.setdefault(parts[:end], False)
                taken = not CONDITION.match(action)
                keys[parts] = keys.get(parts, taken) or taken and any(k[: len(parts)] == parts and k != parts for k in keys)
    requirements = yaml.safe_load(git(directory, "show", f"{tag}:{path}/requirements.yaml") or "{}") or {}
    for dependency in (chart.get("dependencies") or []) + (requirements.get("dependencies") or []):
        keys[(str(dependency.get("alias") or dependency["name"]),)] = True
    keys[("global",)] = True
    return None if whole else (keys, commented)


def order(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def main():
    chart, directory, path, tags, source = sys.argv[1:]
    pattern = re.compile(tags)
    found = {}
    for tag in git(directory, "tag").split():
        match = pattern.fullmatch(tag)
        if match:
            found[match.group(1)] = tag
    releases = sorted(found, key=order)
    read = {release: known(directory, found[release], path) for release in releases}
    unread = [at for at, release in enumerate(releases) if read[release] is None]
    releases = releases[unread[-1] + 1 if unread else 0 :]
    if not releases:
        sys.exit(f"{chart}: no release was read whole")
    # What a comment names may stand anywhere.
    comments = {release: {(f"*.{name}",): False for name in read[release][1]} for release in releases}
    stated = {release: {**read[release][0], **comments[release]} for release in releases}
    every = sorted({key for release in releases for key in stated[release]})
    print(f"{chart},,>={releases[0]} <={releases[-1]},,opened,{source}")
    for key in every:
        spans = []
        for release in releases:
            here = stated[release].get(key)
            if here is None:
                spans.append(None)
            elif spans and spans[-1] is not None and spans[-1][2] == here:
                spans[-1][1] = release
                spans.append(spans[-1])
            else:
                spans.append([release, release, here])
        done = []
        for span in spans:
            if span is not None and not any(span is other for other in done):
                done.append(span)
                first = "" if span[0] == releases[0] else f">={span[0]}"
                last = "" if span[1] == releases[-1] else f"<={span[1]}"
                name = ".".join(part.replace(".", "\\.") for part in key) if not key[0].startswith("*") else key[0]
                if "," not in name and '"' not in name and " " not in name:
                    print(f"{chart},{name},{' '.join(part for part in (first, last) if part)},{'true' if span[2] else ''},opened,{source}")


main()
