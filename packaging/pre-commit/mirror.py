"""Makes a commit and a tag for each version of gpulint that PyPI has and this repository has not."""

import json
import pathlib
import re
import subprocess
import urllib.request

FILES = ["pyproject.toml", "README.md"]


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def key(version):
    return [int(number) for number in version.split(".")]


def versions():
    with urllib.request.urlopen("https://pypi.org/pypi/gpulint/json") as answer:
        releases = json.load(answer)["releases"]
    # Neither releases ahead of a version nor ones that were withdrawn.
    kept = [v for v, files in releases.items() if re.fullmatch(r"[\d.]+", v) and any(not f["yanked"] for f in files)]
    return sorted(kept, key=key)


def main(published):
    tags = set(git("tag").split())
    newest = max((key(tag[1:]) for tag in tags), default=[])
    for version in published:
        if f"v{version}" in tags or key(version) < newest:
            continue
        for name in FILES:
            path = pathlib.Path(name)
            text = re.sub(r"(?<=gpulint==)[\d.]+|(?<=rev: v)[\d.]+", version, path.read_text())
            path.write_text(text)
        git("add", *FILES)
        git("commit", "--allow-empty", "-m", f"gpulint {version}")
        git("tag", f"v{version}")


if __name__ == "__main__":
    main(versions())
