"""Keeps the Python sources of releases: one zip per release, written by `read` from what uv or pip installs without
dependencies.

A compiled module is kept as an empty file, or as one that names the ABI of NumPy that it was built for: `numpy1` where it
asks for `numpy.core` and never for `numpy._core`, which builds for NumPy 2 ask for first.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from packaging.version import Version

PYTHONS = ("3.10", "3.12", "3.8")
COMPILED = (".so", ".pyd", ".dylib")
TESTS = re.compile(r"(^|/)(tests?|testing_data|benchmarks|node_modules)/")
AVAILABLE = re.compile(r"^Available versions: (.*)$", re.MULTILINE)


def offered(package):
    """The final releases that have a wheel or a source for some Python."""
    found = set()
    for python in PYTHONS[:2]:
        words = ["index", "versions", package, "--python-version", python, "--only-binary=:all:"]
        out = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False).stdout
        for line in AVAILABLE.findall(out):
            found |= {Version(text) for text in line.split(", ")}
    return sorted(version for version in found if not version.is_prerelease and version.local is None)


def thinned(versions, since):
    """The last release of each minor one, and the first where it has another number of patches than one."""
    minors = {}
    for version in versions:
        if version >= Version(since):
            minors.setdefault(version.release[:2], []).append(version)
    return sorted({version for group in minors.values() for version in (group[0], group[-1])})


def read(package, version, platform, cache):
    """Keeps a release, if it can be installed."""
    kept = cache / package / f"{version}.zip"
    if kept.exists() or kept.with_suffix(".none").exists():
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        for python in PYTHONS:
            words = ["--no-deps", "--no-build", "--no-cache", "-q", "--python-version", python, "--target", folder]
            words += ["--python-platform", "aarch64-apple-darwin"] if platform == "macos" else []
            done = subprocess.run(["uv", "pip", "install", *words, f"{package}=={version}"], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                pack(pathlib.Path(folder), kept)
                return
            shutil.rmtree(folder)
            pathlib.Path(folder).mkdir()
    kept.with_suffix(".none").write_text(done.stderr[-300:])


def pack(folder, kept):
    with zipfile.ZipFile(kept.with_suffix(".part"), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if TESTS.search(name) and "numpy/testing" not in name and "/testing/" not in name:
                continue
            if name.endswith(COMPILED):
                out.writestr(name, abi(path))
            elif name.endswith((".py", ".dist-info/METADATA", ".dist-info/WHEEL")):
                out.write(path, name)
    kept.with_suffix(".part").rename(kept)


def abi(path):
    binary = path.read_bytes()
    if b"numpy._core" in binary:
        return "numpy2"
    return "numpy1" if b"numpy.core.multiarray" in binary or b"numpy.core._multiarray_umath" in binary else ""
