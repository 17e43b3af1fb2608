#!/usr/bin/env python3
"""Writes rules/catalog/chart_values.csv: the values that releases of charts know.

    tests/oracles/chart_values.py MIRRORS [CHART…]

The charts are those of charts.csv beside it; MIRRORS holds their repositories as OWNER+NAME/repo, with their tags. With
charts named, the rows of the others stay as they are.

A value is known when `values.yaml` or `values.schema.json` states it or a template reads it (chart_templates.py); anything
may stand below one that has no keys of its own, that a template takes whole, or that belongs to a dependency. A release
whose templates take all values at once is judged by a schema that is closed, else not at all, and neither is one before it.

A row has the `keys` that stand `under` a path, "" being the top, in a range of versions; one without keys says which
versions of the chart were read, and a part of the address of its repository where other charts have its name. A path with
no row has nothing to say of what stands below it. `*` in a path are the items of a list, or values whose keys are free. The
key `!` says that the schema refuses any other, so that Helm does. Behind `:` stands what a key holds: the types that the
schema allows, else `switch` for a boolean that templates only test, so that "false" in quotes switches it on, and `text` for
what goes through functions that take no number.
"""

import csv
import json
import multiprocessing
import os
import re
import subprocess
import sys

import yaml

import chart_templates
from go_templates import Unreadable, parse

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = f"{HERE}/../../rules/catalog/chart_values.csv"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WORD = re.compile(r"[A-Za-z0-9_*/@$!\\.-]+")
# Keys that every chart of a library takes through its templates.
LIBRARIES = {"common": ("bitnami+charts", "bitnami/common", "common/")}


class Repository:
    """A git repository whose objects are read by one process."""

    def __init__(self, directory):
        self.directory = directory
        self.reader = subprocess.Popen(
            ["git", "--git-dir", directory, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.texts = {}

    def git(self, *words):
        done = subprocess.run(["git", "--git-dir", self.directory, *words], capture_output=True, check=False)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    def text(self, blob):
        if blob not in self.texts:
            self.reader.stdin.write(f"{blob}\n".encode())
            self.reader.stdin.flush()
            head = self.reader.stdout.readline().split()
            if len(head) < 3:
                return ""
            body = self.reader.stdout.read(int(head[2]) + 1)[:-1]
            self.texts[blob] = body.decode(errors="replace")
        return self.texts[blob]

    def files(self, commit, path):
        """The files below a directory by their paths in it."""
        out = {}
        place = f"{commit}:{path}" if path != "." else commit
        for line in self.git("ls-tree", "-r", place).splitlines():
            head, name = line.split("\t", 1)
            mode, type_, blob = head.split()
            if mode == "120000":
                # What a link leads to is packed in its place.
                target = os.path.normpath(os.path.join(path, os.path.dirname(name), self.text(blob)))
                found = self.git("rev-parse", f"{commit}:{target}").strip()
                if self.git("cat-file", "-t", found).strip() == "tree":
                    out.update({f"{name}/{below}": at for below, at in self.files(commit, target).items()})
                elif found:
                    out[name] = found
            elif type_ == "blob":
                out[name] = blob
        return out

    def releases(self, path, tags, since):
        """Commits by the version of the chart that they released."""
        out = {}
        if tags:
            pattern = re.compile(tags)
            for line in self.git("tag", "--format=%(refname:strip=2) %(creatordate:short)").splitlines():
                tag, _, date = line.rpartition(" ")
                found = pattern.fullmatch(tag)
                if found and date >= since:
                    version = found.group(1) if pattern.groups else self.version(tag, path)
                    if version:
                        out.setdefault(version.lstrip("v"), tag)
            return out
        log = self.git("log", "--reverse", "--first-parent", "--format=%H %cs", "--", f"{path}/Chart.yaml")
        for line in log.splitlines():
            commit, _, date = line.partition(" ")
            version = self.version(commit, path)
            if version and date >= since:
                out.setdefault(version.lstrip("v"), commit)
        return {version: commit for version, commit in out.items() if re.fullmatch(r"\d+(\.\d+){2}", version)}

    def version(self, commit, path):
        found = re.search(r"^version:\s*[\"']?([^\s\"']+)", self.git("show", f"{commit}:{path}/Chart.yaml"), re.M)
        return found.group(1) if found else None


PARSED = {}


def parsed(repository, blob):
    if blob not in PARSED:
        try:
            PARSED[blob] = parse(repository.text(blob))
        except Unreadable as error:
            PARSED[blob] = error
    return PARSED[blob]


def load(text):
    try:
        return yaml.load(text, LOADER)
    except yaml.YAMLError:
        return None


def walk(value, path, keys, texts):
    """The keys of values with their kinds, and the texts among them that are templates."""
    if isinstance(value, dict):
        for key, below in value.items():
            here = path + (str(key),)
            keys[here] = kind(below)
            walk(below, here, keys, texts)
    elif isinstance(value, list):
        for below in value:
            if isinstance(below, (dict, list)):
                keys[path + ("*",)] = kind(below)
            walk(below, path + ("*",), keys, texts)
    elif isinstance(value, str) and "{{" in value:
        texts[path] = value


def kind(value):
    names = ((bool, "bool"), (int, "int"), (float, "number"), (str, "string"), (dict, "map"), (list, "list"))
    return next((name for type_, name in names if isinstance(value, type_)), "")


TYPES = dict(boolean="bool", integer="int", number="number", string="string", object="map", array="list", null="null")


def of_schema(schema, root, path, out, depth=0):
    """What a schema says of the places: their kinds, and those that take no key but their own."""
    for _ in range(8):
        if isinstance(schema, dict) and "$ref" in schema:
            place = schema["$ref"]
            target = root
            if not place.startswith("#"):
                return
            for part in place[1:].strip("/").split("/"):
                target = target.get(part.replace("~1", "/"), {}) if isinstance(target, dict) else {}
            schema = {**target, **{k: v for k, v in schema.items() if k != "$ref"}} if isinstance(target, dict) else {}
    if not isinstance(schema, dict) or depth > 9:
        return
    several = [word for word in ("anyOf", "oneOf", "allOf", "if", "patternProperties", "not") if word in schema]
    types = schema.get("type")
    if types and path:
        types = [types] if isinstance(types, str) else types
        out[0][path] = "|".join(sorted(TYPES[t] for t in types if t in TYPES))
    if schema.get("additionalProperties") is False and not several:
        out[1].add(path)
    for word in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(word) or []:
            inner = ({}, set(), out[2])
            of_schema(one, root, path, inner, depth + 1)
            for key in inner[0]:
                if key != path:
                    out[0].setdefault(key, "")
    for key, below in (schema.get("properties") or {}).items():
        here = path + (str(key),)
        out[0].setdefault(here, "")
        of_schema(below, root, here, out, depth + 1)
    if isinstance(schema.get("items"), dict):
        of_schema(schema["items"], root, path + ("*",), out, depth + 1)


def library(mirrors, name, version):
    """The templates of a library chart, of the release that a range of versions would take."""
    repository, path, prefix = LIBRARIES[name]
    directory = f"{mirrors}/{repository}/repo"
    if (repository, "") not in REPOSITORIES:
        REPOSITORIES[(repository, "")] = Repository(directory)
        found = REPOSITORIES[(repository, "")].git("tag", "--list", f"{prefix}*").split()
        REPOSITORIES[(repository, "tags")] = sorted((tag[len(prefix) :] for tag in found), key=order)
    held, tags = REPOSITORIES[(repository, "")], REPOSITORIES[(repository, "tags")]
    major = str(version).lstrip("^~>=v ").split(".")[0]
    exact = str(version) if str(version) in tags else None
    fits = [tag for tag in tags if tag.split(".")[0] == major]
    tag = exact or (fits[-1] if fits else None)
    if tag is None:
        return {}
    key = (repository, tag)
    if key not in REPOSITORIES:
        defined = {}
        for name_, blob in held.files(f"{prefix}{tag}", path).items():
            if name_.startswith("templates/"):
                found = parsed(held, blob)
                defined.update(found[1] if isinstance(found, tuple) else {})
        REPOSITORIES[key] = defined
    return REPOSITORIES[key]


REPOSITORIES = {}
READ = {}


class Release:
    """What a release knows: `keys` by place with their kinds, `whole` where anything may stand."""

    def __init__(self, mirrors, repository, files, beside_it=None):
        text = lambda name: repository.text(files[name]) if name in files else ""
        values, chart = load(text("values.yaml")), load(text("Chart.yaml")) or {}
        requirements = load(text("requirements.yaml")) or {}
        lock = load(text("Chart.lock")) or load(text("requirements.lock")) or {}
        self.why = None
        if values is None:
            values = {}
        if not isinstance(values, dict):
            self.why = "values.yaml"
            return
        self.keys, texts = {}, {}
        walk(values, (), self.keys, texts)
        self.defaults = dict(self.keys)
        dependencies = (chart.get("dependencies") or []) + (requirements.get("dependencies") or [])
        locked = {one["name"]: one.get("version") for one in lock.get("dependencies") or []}
        defined, bodies, beside = {}, [], {}
        sealed = True
        for one in dependencies:
            place = str(one.get("repository") or "")
            if one["name"] in LIBRARIES and "bitnami" in place:
                defined.update(library(mirrors, one["name"], locked.get(one["name"]) or one.get("version")))
            elif place.startswith("file://") and beside_it:
                for name, blob in beside_it(place[7:]).items():
                    if name.startswith("templates/"):
                        found = parsed(repository, blob)
                        defined.update(found[1] if isinstance(found, tuple) else {})
            elif not any(name.startswith(f"charts/{one['name']}/") for name in files):
                sealed = False
        for name, blob in files.items():
            inner = re.match(r"charts/[^/]+/templates/(.*)", name)
            if name.startswith("templates/") or inner:
                if not name.endswith((".yaml", ".yml", ".tpl", ".txt")):
                    if "{{" in text(name):
                        beside[name] = text(name)
                    continue
                found = parsed(repository, blob)
                if isinstance(found, Unreadable):
                    self.why = f"{name}: {found}"
                    return
                defined.update(found[1])
                if not inner:
                    bodies.append((name, found[0]))
            elif not name.startswith(("ci/", "charts/", "tests/")) and not name.endswith((".md", ".gotmpl")):
                if "{{" in text(name):
                    beside[name] = text(name)
        found = chart_templates.Chart(bodies, defined, beside, texts, sealed)
        self.fails = found.fails
        self.chart = found
        self.types, self.shut = {}, set()
        schema = text("values.schema.json")
        schema = json.loads(schema) if schema else load(text("values.schema.yaml"))
        if isinstance(schema, dict):
            of_schema(schema, schema, (), (self.types, self.shut, None))
        for key in found.read | set(self.types):
            self.keys.setdefault(key, "")
        self.whole = found.whole | {("global",)}
        for one in dependencies:
            self.keys.setdefault((str(one.get("alias") or one["name"]),), "map")
            self.whole.add((str(one.get("alias") or one["name"]),))
            for condition in str(one.get("condition") or "").split(","):
                if condition.strip():
                    self.keys.setdefault(tuple(condition.strip().split(".")), "")
            if one.get("tags"):
                self.whole.add(("tags",))
            for both in one.get("import-values") or []:
                if isinstance(both, dict) and both.get("parent"):
                    self.whole.add(tuple(both["parent"].split(".")))
                elif both:
                    self.why = "import-values"
        for name in {name.split("/")[1].removesuffix(".tgz") for name in files if name.startswith("charts/")}:
            self.whole.add((re.sub(r"-v?\d+\.\d.*", "", name),))
        for place in self.whole:
            self.keys.setdefault(place, "")
        for place in list(self.keys):
            for end in range(1, len(place)):
                self.keys.setdefault(place[:end], "map")
        if () in self.whole and () not in self.shut:
            self.why = f"all values are taken in {found.all}"

    def places(self):
        """The places of keys with their types, without what stands below those where anything may stand."""
        below = {}
        for key in filter(None, self.keys):
            below.setdefault(key[:-1], set()).add(key[-1])
        out, todo = {}, [((), ((),), False)]
        while todo:
            # Several places of the values may be one here: the elements of a list, or of a mapping whose keys are free.
            here, places, taken = todo.pop()
            shut = any(place in self.shut for place in places)
            names = {}
            for place in places:
                for name in below.get(place, ()):
                    names.setdefault(name, []).append(place + (name,))
            taken |= any(place in self.whole for place in places)
            open_ = taken and not shut
            # What no template reads may be taken in ways that were not seen.
            if here and not shut:
                open_ |= not any(key in self.chart.read or key in self.types for held in names.values() for key in held)
            if here:
                out[here] = self.type(here, places)
            if open_:
                continue
            if shut:
                out[here + ("!",)] = ""
            if "*" in names:
                names = {"*": [place for held in names.values() for place in held]}
            todo += [(here + (name,), tuple(held), taken) for name, held in names.items()]
        return out

    def type(self, here, places):
        if len(places) != 1 or "*" in here:
            return ""
        place = places[0]
        stated, default, chart = self.types.get(place, ""), self.defaults.get(place), self.chart
        if stated:
            return stated
        if place in chart.kinds:
            return ""
        if default == "bool" and place in chart.switches:
            return "switch"
        if default == "string" and place in chart.strings:
            return "text"
        return ""


def order(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def spans(releases, stated, key):
    """Stretches of releases with what they say of a key. Those that do not know the key above it say nothing."""
    out, above = [], key[:-1]
    while above[-1:] == ("*",):
        above = above[:-1]
    for at, release in enumerate(releases):
        if above and above not in stated[release]:
            continue
        here = stated[release].get(key)
        if out and out[-1][2] == here:
            out[-1][1] = at
        else:
            out.append([out[-1][1] + 1 if out else 0, at, here])
    for span, after in zip(out, out[1:] + [None]):
        span[1] = span[1] if after else len(releases) - 1
    return [span for span in out if span[2] is not None]


def read(mirrors, row):
    repository = Repository(f"{mirrors}/{row['git'].replace('/', '+')}/repo")
    found = {}
    for path in row["path"].split():
        for version, commit in repository.releases(path, row["tags"], row["since"] or "2000").items():
            files = repository.files(commit, path)
            named = re.search(r"^name:\s*[\"']?([\w.-]+)", repository.text(files.get("Chart.yaml", "")), re.M)
            if "values.yaml" in files and (not named or named.group(1) == row["chart"]) and version not in found:
                found[version] = (commit, path, files)
    releases, seen = {}, {}
    for version in sorted(found, key=order):
        commit, path, files = found[version]
        state = tuple(sorted((n, b) for n, b in files.items() if n != "Chart.yaml" and not n.endswith((".md", ".gotmpl"))))
        if state not in seen:
            try:
                beside_it = lambda place: repository.files(commit, os.path.normpath(os.path.join(path, place)))
                seen[state] = Release(mirrors, repository, files, beside_it)
            except (RecursionError, ValueError, KeyError, TypeError) as error:
                print(f"{row['chart']} {version}: {error!r}", file=sys.stderr)
                continue
        releases[version] = seen[state]
    return releases, {version: found[version] for version in releases}, repository


def rows(chart, row, releases):
    versions = sorted(releases, key=order)
    stretches = [[]]
    for version in versions:
        if releases[version].why:
            stretches.append([])
        else:
            stretches[-1].append(version)
    if len(stretches) > 1:
        unread = [version for version in versions if releases[version].why]
        why = releases[unread[-1]].why
        print(f"{chart}: {len(unread)} of {len(versions)} not read, the last {unread[-1]}: {why:.300}", file=sys.stderr)
    # The last stretch of some length: what came before releases that cannot be read is left out.
    versions = ([stretch for stretch in stretches if len(stretch) > 4] or [max(stretches, key=len)])[-1]
    if not versions:
        return
    cached = {}
    for version in versions:
        if id(releases[version]) not in cached:
            cached[id(releases[version])] = releases[version].places()
    stated = {version: cached[id(releases[version])] for version in versions}
    last = len(versions) - 1
    yield [chart, "", f">={versions[0]} <={versions[-1]}", "", row["repository"], "opened", row["source"]]
    groups = {}
    for key in sorted({key for version in versions for key in stated[version]}):
        if key[-1] == "*" or not WORD.fullmatch(key[-1]):
            continue
        name = key[-1].replace(".", "\\.")
        under = ".".join(part.replace(".", "\\.") for part in key[:-1])
        for first, end, type_ in spans(versions, stated, key):
            bounds = [f">={versions[first]}"] * (first != 0) + [f"<={versions[end]}"] * (end != last)
            groups.setdefault((under, " ".join(bounds)), []).append(name + f":{type_}" * (bool(type_) and type_ != "map"))
    for (under, bounds), names in groups.items():
        yield [chart, under, bounds, " ".join(names), "", "opened", row["source"]]


def of_chart(task):
    mirrors, row = task
    try:
        return list(rows(row["chart"], row, read(mirrors, row)[0]))
    except OSError as error:
        print(f"{row['chart']}: {error}", file=sys.stderr)
        return []


def main():
    mirrors, wanted = sys.argv[1], sys.argv[2:]
    with open(f"{HERE}/charts.csv", encoding="utf-8") as file:
        charts = [row for row in csv.DictReader(file) if not wanted or row["chart"] in wanted]
    with open(TABLE, encoding="utf-8") as file:
        every = [row for row in csv.reader(file) if wanted and row[0] not in wanted + ["chart"]]
    with multiprocessing.Pool(2) as pool:
        for found in pool.imap_unordered(of_chart, [(mirrors, row) for row in charts], 1):
            every += found
    with open(TABLE, "w", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow("chart under versions keys repository evidence source".split())
        out.writerows(sorted(every, key=lambda row: row[:3]))


if __name__ == "__main__":
    main()
