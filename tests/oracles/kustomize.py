#!/usr/bin/env python3
"""Compares what `gpulint render` makes of kustomizations with what `kustomize build` makes of them, as data.

    tests/oracles/kustomize.py target/debug/gpulint DIRECTORY... [--kustomize PATH] [--verbose]

Every kustomization below the directories is built on its own, those that others include too; components are not.
What kustomize itself refuses, or would fetch from a network, is left out and counted.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

try:
    import yaml
except ImportError:
    sys.exit("skipped: PyYAML is not installed")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads what Kubernetes reads: dates are text, an odd `=` is text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def named(documents):
    """Documents by what names them."""
    out = {}
    for document in documents:
        meta = document.get("metadata") or {}
        key = (document.get("apiVersion"), document.get("kind"), meta.get("namespace"), meta.get("name") or meta.get("generateName"))
        out.setdefault(str(key), []).append(document)
    return out


def difference(ours, theirs, path=""):
    """The first place where two documents differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(set(ours) | set(map(str, theirs)), key=str):
            mine, other = ours.get(key, difference), {str(k): v for k, v in theirs.items()}.get(key, difference)
            if mine is difference or other is difference:
                return f"{path}.{key}: {'only here' if other is difference else 'only in kustomize'}"
            if (found := difference(mine, other, f"{path}.{key}")) is not None:
                return found
        return None
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            if (found := difference(a, b, f"{path}[{i}]")) is not None:
                return found
        return None
    return None if ours == theirs else f"{path}: {ours!r:.200} here, {theirs!r:.200} in kustomize"


def ours(gpulint, root):
    """What gpulint builds below a directory: documents and remarks by kustomization."""
    done = subprocess.run([gpulint, "render", "--bases", "."], cwd=root, capture_output=True, text=True, check=False)
    built, current = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("# Kustomization: "):
            current = built.setdefault(line.removeprefix("# Kustomization: "), ([], []))
        elif current and line.startswith("{"):
            current[0].append(json.loads(line))
        elif current and line.startswith("# "):
            current[1].append(line)
    return built


def theirs(kustomize, directory):
    """What kustomize builds: (documents, error)."""
    # An unreachable proxy: nothing is fetched.
    offline = {**os.environ, "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "GIT_TERMINAL_PROMPT": "0"}
    command = [kustomize, "build", "--load-restrictor", "LoadRestrictionsNone", directory]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=offline, check=False)
    except subprocess.TimeoutExpired:
        return None, "too slow"
    if done.returncode != 0:
        return None, done.stderr.strip()[:300]
    return [document for document in yaml.load_all(done.stdout, Loader) if document], ""


def compare(mine, other):
    """The first difference of two builds, or None."""
    documents, remarks = mine
    a, b = named(documents), named(other)
    if lacking := sorted(set(b) - set(a)):
        return f"only in kustomize: {lacking[:3]} {remarks[:2]}"
    if extra := sorted(set(a) - set(b)):
        return f"only here: {extra[:3]} {remarks[:2]}"
    for key in sorted(b):
        if len(a[key]) != len(b[key]):
            return f"{key}: {len(a[key])} here, {len(b[key])} in kustomize"
        for x, y in zip(a[key], b[key]):
            if (found := difference(x, y)) is not None:
                return f"{key} {found}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint", type=os.path.abspath)
    parser.add_argument("roots", nargs="+")
    parser.add_argument("--kustomize", default=shutil.which("kustomize"))
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if not arguments.kustomize:
        print("skipped: kustomize is not installed")
        return 0
    total, refused, equal, repositories = 0, 0, 0, 0
    for root in arguments.roots:
        built = ours(arguments.gpulint, root)
        with ThreadPoolExecutor(2) as pool:
            others = list(pool.map(lambda d: theirs(arguments.kustomize, os.path.join(root, d)), sorted(built)))
        before = total
        for directory, (documents, error) in zip(sorted(built), others):
            if documents is None:
                refused += 1
                if arguments.verbose:
                    print(f"refused {root}/{directory}: {error} | {built[directory][1][:1]}")
                continue
            total += 1
            detail = compare(built[directory], documents)
            equal += detail is None
            if detail is not None:
                print(f"differs {root}/{directory}: {detail}", flush=True)
        repositories += total > before
    share = 100 * equal / total if total else 100
    print(f"{equal} of {total} kustomizations in {repositories} repositories equal ({share:.1f} %), {refused} refused by kustomize itself")
    return 1 if equal < total else 0


if __name__ == "__main__":
    sys.exit(main())
