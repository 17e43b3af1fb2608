#!/usr/bin/env python3
"""Compares what `gpulint render` makes of charts with what `helm template` makes of them, as data.

    tests/oracles/helm.py target/debug/gpulint DIRECTORY... [--helm PATH] [--verbose]

Every chart below the directories that no other chart holds is rendered with its default values. Charts that Helm
itself refuses are left out and counted. Values that differ between two runs of Helm (random names,
certificates) or that gpulint does not know (`$(now)`) are held to be equal to anything.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

try:
    import yaml
except ImportError:
    sys.exit("skipped: PyYAML is not installed")


# What gpulint writes for a value that only a clock, chance or a cluster could tell.
UNKNOWN = re.compile(r"\$\([A-Za-z0-9]+\)")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads what Kubernetes reads: dates are text, an odd `=` is text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def charts(roots):
    """Directories with a Chart.yaml that do not stand right under the `charts/` of another."""
    found = []
    for root in roots:
        for directory, _, files in os.walk(root):
            parent = os.path.dirname(directory)
            held = os.path.basename(parent) == "charts" and os.path.exists(os.path.join(parent, "..", "Chart.yaml"))
            if "Chart.yaml" in files and not held:
                found.append(directory)
    return sorted(set(found))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def documents(text):
    """Documents by what names them; empty ones are left out."""
    out = {}
    for document in yaml.load_all(text, Loader):
        if not document:
            continue
        meta = document.get("metadata") if isinstance(document, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        kind = document.get("kind") if isinstance(document, dict) else ""
        out.setdefault((str(kind), str(meta.get("namespace")), str(meta.get("name"))), []).append(document)
    for same in out.values():
        same.sort(key=lambda d: json.dumps(d, sort_keys=True, default=str))
    return out


def difference(ours, theirs, again, path=""):
    """The first place where two documents differ; what differs between two runs of Helm is equal to anything."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(set(ours) | set(theirs), key=str):
            where = f"{path}.{key}"
            if key not in theirs or key not in ours:
                return f"{where}: {'only in Helm' if key in theirs else 'only here'}"
            other = again.get(key) if isinstance(again, dict) else None
            if (found := difference(ours[key], theirs[key], other, where)) is not None:
                return found
        return None
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            other = again[i] if isinstance(again, list) and i < len(again) else None
            if (found := difference(a, b, other, f"{path}[{i}]")) is not None:
                return found
        return None
    if isinstance(ours, str) and UNKNOWN.search(ours):
        return None
    if ours == theirs and type(ours) is type(theirs) or theirs != again:
        return None
    return f"{path}: {ours!r:.200} here, {theirs!r:.200} in Helm"


def compare(gpulint, helm, chart):
    """Whether the chart renders alike: (verdict, detail)."""
    with open(os.path.join(chart, "Chart.yaml"), encoding="utf-8") as file:
        name = (yaml.load(file, Loader) or {}).get("name", "x")
    release = str(name)[:53].lower().replace("_", "-")
    template = [helm, "template", release, chart, "--include-crds", "--namespace", "default", "--kube-version", "1.31.0"]
    code, theirs, error = run(template)
    if code != 0:
        return "refused", error.strip().splitlines()[-1] if error.strip() else "no message"
    again = run(template)[1]
    code, ours, error = run([gpulint, "render", chart])
    if code != 0:
        return "differs", f"gpulint render: {error.strip()[:300]}"
    try:
        ours, theirs, again = documents(ours), documents(theirs), documents(again)
    except yaml.YAMLError as failure:
        return "differs", f"not YAML: {str(failure)[:300]}"
    # Documents with random names are told apart by their order.
    stable = {key for key in theirs if key in again}
    extra, lacking = sorted(set(ours) - set(theirs)), sorted(stable - set(ours))
    if lacking:
        return "differs", f"only in Helm: {lacking[:5]}"
    if len(extra) > len(set(theirs) - stable):
        return "differs", f"only here: {extra[:5]}"
    for key in sorted(stable):
        if len(ours[key]) != len(theirs[key]):
            return "differs", f"{key}: {len(ours[key])} here, {len(theirs[key])} in Helm"
        for mine, other, third in zip(ours[key], theirs[key], again[key]):
            if (found := difference(mine, other, third)) is not None:
                return "differs", f"{key} {found}"
    return "equal", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpulint")
    parser.add_argument("roots", nargs="+")
    parser.add_argument("--helm", default=shutil.which("helm"))
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if not arguments.helm:
        print("skipped: helm is not installed")
        return 0
    counts = {"equal": 0, "differs": 0, "refused": 0}
    for chart in charts(arguments.roots):
        verdict, detail = compare(arguments.gpulint, arguments.helm, chart)
        counts[verdict] += 1
        if verdict == "differs" or arguments.verbose:
            print(f"{verdict} {chart} {detail}", flush=True)
    rendered = counts["equal"] + counts["differs"]
    share = 100 * counts["equal"] / rendered if rendered else 100
    print(f"{counts['equal']} of {rendered} charts equal ({share:.1f} %), {counts['refused']} refused by Helm itself")
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
