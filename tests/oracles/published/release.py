"""The files of a published release, read one by one from where it was published.

A wheel is read by ranges of its bytes, so that no more than the files asked for is loaded; every file is kept in a cache.
"""

import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import time
import urllib.parse
import urllib.request
import zipfile

CACHE = pathlib.Path(os.environ.get("FLAGS_CACHE", pathlib.Path.home() / ".cache" / "gpulint-flags"))
PURE = re.compile(r"^[^/]+\.data/(purelib|platlib)/")
FINAL = re.compile(r"\d+(\.\d+)*(\.?post\d+)?")


def order(version):
    """What versions are sorted by: numbers, with a `.post1` after its release."""
    numbers, _, post = version.partition("post")
    parts = [int(part) for part in re.findall(r"\d+", numbers)]
    return parts + [0] * (6 - len(parts)), int(post or -1)


def load(url, first=None, end=None):
    request = urllib.request.Request(url, headers={} if first is None else {"Range": f"bytes={first}-{end - 1}"})
    for attempt in range(4):
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return answer.read()
        except OSError:
            if attempt == 3:
                raise
            time.sleep(1 + attempt)
    return None


class Ranged(io.RawIOBase):
    """A file behind a URL whose blocks are loaded when they are read."""

    def __init__(self, url, size, block):
        super().__init__()
        self.url, self.size, self.block, self.at, self.blocks = url, size, block, 0, {}

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def readinto(self, buffer):
        number, inside = divmod(self.at, self.block)
        if self.at >= self.size:
            return 0
        if number not in self.blocks:
            self.blocks[number] = load(self.url, number * self.block, min(self.size, (number + 1) * self.block))
        data = self.blocks[number][inside : inside + len(buffer)]
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


class Package:
    """One release of a package of PyPI."""

    def __init__(self, package, version, files):
        self.version, self.files, self.cache, self.archive = version, files, CACHE / package / version, None
        self.base = f"https://pypi.org/simple/{package}/"

    def open(self, block=1 << 18):
        if self.archive:
            return
        wheels = [file for file in self.files if file["packagetype"] == "bdist_wheel"]
        wheels.sort(key=lambda file: (not re.search("linux.*x86_64|-any", file["filename"]), file["size"]))
        sources = [file for file in self.files if file["packagetype"] == "sdist"]
        file = (wheels + sources)[0]
        url = urllib.parse.urljoin(self.base, file["url"])
        if wheels:
            archive = zipfile.ZipFile(io.BufferedReader(Ranged(url, file["size"], block), 1 << 16))
            self.archive = {PURE.sub("", name): lambda name=name: archive.read(name) for name in archive.namelist()}
        elif file["filename"].endswith(".zip"):
            archive = zipfile.ZipFile(io.BytesIO(load(url)))
            self.archive = {name.split("/", 1)[-1]: lambda name=name: archive.read(name) for name in archive.namelist()}
        else:
            archive = tarfile.open(fileobj=io.BytesIO(load(url)))
            members = [member for member in archive.getmembers() if member.isfile()]
            self.archive = {m.name.split("/", 1)[-1]: lambda m=m: archive.extractfile(m).read() for m in members}

    def text(self, path):
        """The text of a file without keeping it."""
        self.open(1 << 24)
        return self.archive[path]().decode("utf-8", "replace")

    def names(self):
        kept = self.cache / ".names.json"
        if not kept.exists():
            self.open()
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(list(self.archive)))
        return json.loads(kept.read_text())

    def read(self, path):
        """The text of a file, None when the release has none of that name."""
        kept = self.cache / path
        if not kept.exists():
            if path not in self.listed():
                return None
            self.open()
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(self.archive[path]())
        return kept.read_text(encoding="utf-8", errors="replace")

    def listed(self):
        if not hasattr(self, "known"):
            self.known = set(self.names())
        return self.known


class Tag:
    """One tag of a git repository."""

    def __init__(self, directory, tag, version):
        self.directory, self.tag, self.version = directory, tag, version

    def git(self, *words):
        done = subprocess.run(["git", "--git-dir", self.directory, *words], capture_output=True, check=False)
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None

    def listed(self):
        if not hasattr(self, "known"):
            self.known = set((self.git("ls-tree", "-r", "--name-only", self.tag) or "").splitlines())
        return self.known

    def read(self, path):
        return self.git("show", f"{self.tag}:{path}")


def packages(package, versions=FINAL, since="0"):
    """Releases of a package of PyPI, oldest first."""
    kept = CACHE / f"{package}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(load(f"https://pypi.org/pypi/{package}/json"))
    found = json.loads(kept.read_text())["releases"]
    named = [version for version in found if found[version] and versions.fullmatch(version)]
    return [Package(package, v, found[v]) for v in sorted(named, key=order) if order(v) >= order(since)]


def tags(directory, pattern, since="0"):
    """Tags of a git repository whose group is the version, oldest first."""
    done = subprocess.run(["git", "--git-dir", directory, "tag"], capture_output=True, text=True, check=True)
    found = {m.group(1): tag for tag in done.stdout.split() if (m := re.fullmatch(pattern, tag))}
    return [Tag(directory, found[v], v) for v in sorted(found, key=order) if order(v) >= order(since)]
