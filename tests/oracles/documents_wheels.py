"""The files of the releases of a package on PyPI: single files out of wheels, of which only these are fetched."""

import io
import json
import os
import re
import urllib.request
import zipfile

from kinds_clones import order

INDEX = "https://pypi.org/pypi"
FILES = "https://files.pythonhosted.org/packages"


class Remote(io.RawIOBase):
    """A file on a server that gives parts of it."""

    def __init__(self, address, size):
        self.address, self.size, self.at = address, size, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def tell(self):
        return self.at

    def readinto(self, buffer):
        end = min(self.size, self.at + len(buffer))
        if end <= self.at:
            return 0
        asked = urllib.request.Request(self.address, headers={"Range": f"bytes={self.at}-{end - 1}"})
        with urllib.request.urlopen(asked, timeout=120) as answer:
            body = answer.read()
        buffer[: len(body)] = body
        self.at += len(body)
        return len(body)


class Wheels:
    """One package: `paths` are patterns of the files that are read."""

    pinned_in = ()

    def __init__(self, package, paths, since, cache=None):
        self.package, self.paths, self.since, self.cache = package, paths, since, cache
        self.source = self

    def in_cache(self, cache):
        """The same with a place to keep what is fetched."""
        return Wheels(self.package, self.paths, self.since, cache)

    def where(self):
        """What of it is read, in short."""
        return re.split(r"[(\[*\\]", self.paths[0])[0]

    @property
    def releases(self):
        """The releases: version, its files, and whether it is the newest of its minor."""
        with urllib.request.urlopen(f"{INDEX}/{self.package}/json", timeout=120) as answer:
            all_files = json.load(answer)["releases"]
        kept = {}
        for version, files in all_files.items():
            wheels = [file for file in files if file["packagetype"] == "bdist_wheel" and not file["yanked"]]
            wheels.sort(key=lambda file: ("manylinux" not in file["filename"], file["size"]))
            if wheels and re.fullmatch(r"[\d.]+", version) and order(version) >= order(self.since):
                kept[version] = wheels[0]
        newest = {order(version)[:2]: version for version in sorted(kept, key=order)}
        return [(version, kept[version], version in newest.values()) for version in sorted(kept, key=order)]

    def files(self, wheel, _paths=(), _must=True):
        """Path and text of the files of a release that match the patterns."""
        place = os.path.join(self.cache, "wheels", wheel["filename"])
        if not os.path.exists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            remote = io.BufferedReader(Remote(f"{FILES}/{wheel['url'].rsplit('/packages/', 1)[1]}", wheel["size"]), 1 << 18)
            with zipfile.ZipFile(remote) as whole, zipfile.ZipFile(place + ".part", "w", zipfile.ZIP_DEFLATED) as cut:
                for name in whole.namelist():
                    if any(re.fullmatch(pattern, name) for pattern in self.paths):
                        cut.writestr(name, whole.read(name))
            os.rename(place + ".part", place)
        with zipfile.ZipFile(place) as zipped:
            return [(name, zipped.read(name)) for name in zipped.namelist()]
