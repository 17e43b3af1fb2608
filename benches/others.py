#!/usr/bin/env python3
"""What other linters tell of the reported failures in fixtures/cases: benches/others.py GPULINT

Each case is a repository as somebody had it when it failed, and as it was mended. A case counts for a tool that tells
something of the first (a file, a rule) that it does not tell of the second. Other findings do not count there; the second
table has them, by the kind of file. Tools that are not on the PATH are left out. Nothing is fetched.
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

CASES = pathlib.Path(__file__).resolve().parent.parent / "fixtures/cases"
KINDS = [
    ("workflows of GitHub", r"\.github/workflows/"),
    ("Dockerfiles", r"(?i)(docker|container)file"),
    ("Compose", r"(docker-)?compose[^/]*\.ya?ml$"),
    ("Terraform", r"\.(tf|tfvars)$"),
    ("charts", r"/(templates|charts?)/|values[^/]*\.ya?ml$|Chart\.yaml$"),
    ("other YAML", r"\.ya?ml$"),
    ("Slurm and shell scripts", r"\.(sh|sbatch|slurm|bsub|pbs)$"),
    ("Python packages", r"requirements[^/]*\.txt$|pyproject\.toml$|\.lock$|setup\.(py|cfg)$"),
    ("Python", r"\.py$"),
]


def kind(path):
    return next((name for name, pattern in KINDS if re.search(pattern, path)), "others")


def run(*command):
    return subprocess.run(command, cwd=CASES, capture_output=True, text=True).stdout


def report(*command):
    return json.loads(run(*command) or "[]")


def gpulint(binary):
    # Each is a repository of its own.
    for case in sorted(CASES.glob("batch-*/*/*/")):
        for found in report(binary, "check", case.relative_to(CASES), "--format", "json")["diagnostics"]:
            yield found["path"], found["rule"]


def checkov(command):
    for part in report(command, "--directory", ".", "--compact", "--quiet", "--skip-download", "-o", "json"):
        for found in part["results"]["failed_checks"]:
            yield found["file_path"], found["check_id"]


def trivy(command):
    for result in report(command, "config", "--quiet", "--skip-check-update", "--format", "json", ".")["Results"]:
        for found in result.get("Misconfigurations") or []:
            yield result["Target"], found["ID"]


def hadolint(command):
    files = [path.relative_to(CASES) for path in CASES.rglob("*") if kind(f"/{path.name}") == "Dockerfiles"]
    for found in report(command, "--no-fail", "--format", "json", *files):
        yield found["file"], found["code"]


def zizmor(command):
    for found in report(command, "--offline", "--no-exit-codes", "--quiet", "--format", "json", "."):
        for place in found["locations"]:
            yield place["symbolic"]["key"]["Local"]["verbatim_path"], found["ident"]


def ruff(command):
    for found in report(command, "check", "--no-cache", "--exit-zero", "--output-format", "json", "."):
        yield found["filename"], found["code"]


def main(binary):
    paths = [str(path.relative_to(CASES)) for path in CASES.glob("batch-*/*/*/**/*") if path.is_file()]
    there = collections.Counter(map(kind, paths))
    apart, kinds = {}, {}
    for tool in [gpulint, checkov, trivy, hadolint, zizmor, ruff]:
        command = binary if tool is gpulint else shutil.which(tool.__name__)
        if not command:
            print(f"{tool.__name__} is not on the PATH", file=sys.stderr)
            continue
        cases = collections.defaultdict(lambda: {"bad": set(), "good": set()})
        files = set()
        for path, rule in tool(command):
            case, state, file = re.search(r"(batch-\d+/[^/]+)/(bad|good)/(.*)", path).groups()
            cases[case][state].add((file, rule))
            files.add(f"{case}/{state}/{file}")
        apart[tool.__name__] = sum(1 for case in cases.values() if case["bad"] - case["good"])
        kinds[tool.__name__] = collections.Counter(map(kind, files))
    print("| | " + " | ".join(apart) + " |\n|---|" + "---:|" * len(apart))
    cases = len(list(CASES.glob("batch-*/*/case.json")))
    print(f"| of {cases} failures, told apart from the mended repository | " + " | ".join(map(str, apart.values())) + " |")
    for name, _ in KINDS:
        told = " | ".join(str(counts[name]) for counts in kinds.values())
        print(f"| {name}: of {there[name]} files, something is told of | {told} |")


main(str(pathlib.Path(sys.argv[1]).resolve()))
