#!/usr/bin/env python3
"""What gpulint and other linters offer, as commands that a reader can repeat: benches/features.py GPULINT

A cell is a yes where the command beside it succeeds. Tools that are not on the PATH are left out.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOLS = ["gpulint", "ruff", "zizmor", "kube-linter", "checkov", "trivy", "hadolint"]
# Each tool's help for what is asked of it.
HELP = {"gpulint": "gpulint check --help", "ruff": "ruff check --help", "trivy": "trivy config --help", "kube-linter": "kube-linter lint --help"}
# A feature: in whose help a word stands, or a command of its own.
FEATURES = [
    ("report for code scanning (SARIF)", {tool: "sarif" for tool in TOOLS}),
    ("annotations of a change on GitHub", {tool: "github" for tool in ["gpulint", "ruff", "zizmor"]}),
    ("report for merge requests on GitLab", {tool: "template" if tool == "trivy" else "gitlab" for tool in TOOLS}),
    ("report of tests (JUnit)", {tool: "template" if tool == "trivy" else "junit" for tool in TOOLS}),
    ("mends what it finds", {tool: "--fix" for tool in TOOLS}),
    ("baseline of what is accepted", {tool: "--baseline" for tool in TOOLS}),
    ("only what a diff touches", {tool: "--changed-since" for tool in TOOLS}),
    ("rules of one's own", {"gpulint": "--rules", "checkov": "--external-checks-dir", "trivy": "--config-check", "kube-linter": ["kube-linter templates list"]}),
    ("tests of one's own rules", {"gpulint": ["gpulint test --help"]}),
    ("page of a rule on the command line", {"gpulint": ["gpulint explain model-does-not-fit"], "ruff": ["ruff rule F401"], "kube-linter": ["kube-linter checks list"]}),
    ("language server for editors", {"gpulint": ["gpulint lsp --help"], "ruff": ["ruff server --help"], "zizmor": "--lsp"}),
    ("schema of its configuration", {"gpulint": ["gpulint schema config"], "ruff": ["ruff config --output-format json"]}),
    ("plans of Terraform", {"checkov": "terraform_plan", "trivy": "terraformplan"}),
    ("secrets in any file", {"checkov": "secrets", "trivy": ["trivy filesystem --help | grep secret"]}),
    ("known vulnerabilities of images", {"trivy": ["trivy image --help"]}),
    ("whether a model fits the memory of GPUs", {"gpulint": ["gpulint vram --model meta-llama/Llama-3.1-8B --gpu L4"]}),
]


def main(binary):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "gpulint").symlink_to(pathlib.Path(binary).resolve())
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
        tools = [tool for tool in TOOLS if shutil.which(tool)]
        print("| | " + " | ".join(tools) + " |\n|---|" + "---|" * len(tools))
        run = []
        for feature, asked in FEATURES:
            cells = []
            for tool in tools:
                ask = asked.get(tool)
                command = ask[0] if isinstance(ask, list) else ask and f"{HELP.get(tool, tool + ' --help')} | grep -i -e '{ask}'"
                yes = command and subprocess.run(f"set -o pipefail; {command}", shell=True, executable="/bin/bash", capture_output=True).returncode == 0
                cells.append("yes" if yes else "")
                if yes:
                    run.append(f"- {feature}, {tool}: `{command}`".replace("|", "\\|"))
            print(f"| {feature} | " + " | ".join(cells) + " |")
        print("\nEach yes is a command that succeeds:\n\n" + "\n".join(run))


main(sys.argv[1])
