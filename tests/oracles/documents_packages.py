"""Schemas that packages make of their own classes: a release is installed beside all others, and asked."""

import json
import os
import re
import shutil
import subprocess
import sys

from documents_wheels import Wheels

INSTALL = [sys.executable, "-m", "pip", "install", "--quiet", "--index-url", "https://pypi.org/simple", "--target"]


class Package(Wheels):
    """A package that answers a program with a schema in JSON."""

    def __init__(self, package, program, since, cache=None):
        super().__init__(package, [program], since, cache)

    def in_cache(self, cache):
        return Package(self.package, self.paths[0], self.since, cache)

    def where(self):
        return re.search(r"from (\S+) import", self.paths[0]).group(1)

    def files(self, wheel, _paths=(), _must=True):
        version = wheel["filename"].split("-")[1]
        kept = os.path.join(self.cache, "packages", f"{self.package}-{version}.json")
        if not os.path.exists(kept):
            os.makedirs(os.path.dirname(kept), exist_ok=True)
            place = os.path.join(self.cache, "packages", f"{self.package}-{version}")
            subprocess.run([*INSTALL, place, f"{self.package}=={version}"], check=True, stderr=subprocess.DEVNULL)
            answer = subprocess.run([sys.executable, "-c", self.paths[0]], env={**os.environ, "PYTHONPATH": place}, check=True, capture_output=True)
            with open(kept, "wb") as file:
                file.write(json.dumps(json.loads(answer.stdout)).encode())
            shutil.rmtree(place)
        with open(kept, "rb") as file:
            return [(self.package, file.read())]
