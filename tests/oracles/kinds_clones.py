"""The files of the releases of a repository: of a bare clone, and where that lacks them of the Go module proxy."""

import functools
import io
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile

PROXY = "https://proxy.golang.org"


class Clone:
    """One repository."""

    def __init__(self, source, clones, cache):
        self.source, self.cache, self.lists, self.texts = source, cache, {}, {}
        name = source.repository.replace("/", "+")
        places = [os.path.join(clones, name, "repo"), os.path.join(clones, name)]
        self.directory = next((place for place in places if os.path.exists(os.path.join(place, "objects"))), None)

    def git(self, *words, given=None):
        if self.directory is None:
            return b""
        environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
        done = subprocess.run(["git", "--git-dir", self.directory, *words], input=given, capture_output=True, check=False, env=environment)
        return done.stdout if done.returncode == 0 else b""

    def read(self, blobs):
        """Reads blobs that were not read yet; the clone may lack some."""
        wanted = "\n".join(sorted(blobs - self.texts.keys()))
        body, at = self.git("cat-file", "--batch", given=wanted.encode()) if wanted else b"", 0
        while at < len(body):
            end = body.index(b"\n", at)
            about = body[at:end].split()
            at = end + 1
            if about[1] == b"blob":
                size = int(about[2])
                self.texts[about[0].decode()] = body[at : at + size]
                at += size + 1

    @functools.cached_property
    def tags(self):
        return set(self.git("tag").decode().split())

    @functools.cached_property
    def releases(self):
        """The releases that can be read: version, the tag or commit that has it, and whether it is the newest of its minor."""
        pattern, found = re.compile(self.source.tags), dict(self.source.commits)
        listed = fetched(f"{escaped(self.source.module)}/@v/list").decode().split() if self.source.module else []
        for tag in sorted(self.tags) + listed + list(self.source.also):
            match = pattern.fullmatch(tag)
            if match and order(self.source.since) <= order(match.group(1)) < order(self.source.until):
                found.setdefault(match.group(1), tag)
        # A date has no patches.
        newest = {order(version)[:2] if "." in version else "": version for version in sorted(found, key=order)}
        # A zip is read only for the newest patch.
        last = set(newest.values())
        held = {version for version, tag in found.items() if tag in self.tags or version in self.source.commits}
        return [(version, found[version], version in last) for version in sorted(last | held, key=order)]

    def files(self, tag, paths, must=True):
        """Path and text of the files of a release that match the patterns, in the order of the patterns."""
        if not self.git("rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}"):
            return self.of_zip(tag, paths)
        if tag not in self.lists:
            rows = (line.split("\t") for line in self.git("ls-tree", "-r", tag).decode().splitlines())
            self.lists[tag] = {path: about.split()[2] for about, path in rows if about.startswith("100")}
        blobs = self.lists[tag]
        picked = [path for pattern in paths for path in sorted(blobs) if re.fullmatch(pattern, path)]
        self.read({blobs[path] for path in picked})
        texts = {path: self.texts.get(blobs[path]) for path in picked}
        absent = [path for path in picked if not texts[path]]
        if absent and self.source.module and must:
            return self.of_zip(tag, paths)
        if absent:
            # Without one of its files a release would seem to lack a kind.
            print(f"  {self.source.repository} {tag}: the clone lacks {' '.join(absent)}", file=sys.stderr)
            return []
        return [(path, texts[path]) for path in dict.fromkeys(picked)]

    def naming(self, text, tag):
        """The manifests of a release that have a text, but for those of tests and of others."""
        for row in self.git("grep", "-l", "-F", text, tag, "--", "*.yaml", "*.yml").decode().splitlines():
            path = row.split(":", 1)[1]
            if not re.search(r"(^|/)(tests?|e2e|vendor|third_party|examples?|docs?|hack|testdata)/", path):
                yield self.git("cat-file", "blob", row)

    def of_zip(self, tag, paths):
        module = self.source.module
        if not module:
            return []
        kept = os.path.join(self.cache, f"{module.replace('/', '+')}@{tag}.zip")
        if not os.path.exists(kept):
            try:
                body = fetched(f"{escaped(module)}/@v/{escaped(tag)}.zip", True)
            except urllib.error.HTTPError as error:
                print(f"  {module} {tag}: {error.code}", file=sys.stderr)
                return []
            with zipfile.ZipFile(io.BytesIO(body)) as whole, zipfile.ZipFile(kept + ".part", "w", zipfile.ZIP_DEFLATED) as cut:
                for name in whole.namelist():
                    wanted = any(re.fullmatch(pattern, name.partition(f"@{tag}/")[2]) for pattern in paths)
                    if wanted or name.endswith((".yaml", ".yml")) or "/api/openapi-spec/v3/" in name or name.endswith("/zz_generated.openapi.go"):
                        cut.writestr(name, whole.read(name))
            os.rename(kept + ".part", kept)
        with zipfile.ZipFile(kept) as zipped:
            names = {name.split(f"@{tag}/", 1)[1]: name for name in zipped.namelist()}
            picked = [path for pattern in paths for path in sorted(names) if re.fullmatch(pattern, path)]
            return [(path, zipped.read(names[path])) for path in dict.fromkeys(picked)]


def escaped(module):
    return re.sub("[A-Z]", lambda match: "!" + match.group().lower(), module)


def fetched(path, must=False):
    try:
        with urllib.request.urlopen(f"{PROXY}/{path}", timeout=300) as answer:
            return answer.read()
    except urllib.error.HTTPError:
        if must:
            raise
        return b""


def order(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))
