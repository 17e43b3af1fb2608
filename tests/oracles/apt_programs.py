"""What packages of Debian bring: rows of rules/catalog/system_packages.csv.

    apt_programs.py APT_CONF... < NAMES

Each APT_CONF is a configuration of apt (https://manpages.debian.org/apt.conf) for one release of Debian, after `apt-get update`.
NAMES are packages, one a line. A row holds the programs of rules/catalog/programs.csv that come with a package and all that it
depends on or recommends in any of the releases, of alternatives the first, and whether it needs packages that a minimal system with the tools of
NVIDIA's images does not have. Packages that some of the releases lack have no row."""
import csv, os, pathlib, re, subprocess, sys

CATALOG = pathlib.Path(__file__).parents[2] / "rules/catalog"
# What debootstrap's minbase and the images of nvidia/cuda hold beside packages that are essential or required.
BASE = ["apt", "ca-certificates", "gnupg", "gnupg2", "curl", "tzdata", "netbase"]


def read(conf):
    env = dict(os.environ, APT_CONFIG=conf)
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, env=env).stdout
    packages, provides = {}, {}
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", block, re.M))
        if "Package" not in fields:
            continue
        name = fields["Package"]
        packages[name] = fields
        for given in fields.get("Provides", "").split(","):
            provides.setdefault(given.split("(")[0].strip(), []).append(name)
    return packages, provides


def closure(names, packages, provides, recommends):
    seen, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        if name not in packages:
            todo += provides.get(name, [])[:1]
            continue
        seen.add(name)
        for field in ["Pre-Depends", "Depends"] + ["Recommends"] * recommends:
            for clause in filter(None, packages[name].get(field, "").split(",")):
                options = [re.split(r"[ (:\[]", option.strip())[0] for option in clause.split("|")]
                known = [option for option in options if option in packages or option in provides]
                # apt takes the first of them where none is there.
                todo += known[:1] if seen.isdisjoint(known) else []
    return seen


def main():
    releases = [read(conf) for conf in sys.argv[1:]]
    programs = [(row["program"], row["package"]) for row in csv.DictReader(open(CATALOG / "programs.csv")) if row["package"]]
    out = csv.writer(sys.stdout, lineterminator="\n")
    for name in sorted(set(sys.stdin.read().split())):
        if not all(name in packages or name in provides for packages, provides in releases):
            continue
        brings, needs_more = set(), True
        for packages, provides in releases:
            everything = closure([name], packages, provides, True)
            brings |= {program for program, package in programs if package in everything}
            required = [p for p, f in packages.items() if f.get("Essential") == "yes" or f.get("Priority") == "required"]
            there = closure(required + BASE, packages, provides, False)
            needs_more &= bool(closure([name], packages, provides, False) - there - {name})
        out.writerow([name, " ".join(sorted(brings)), "true" if needs_more else ""])


main()
