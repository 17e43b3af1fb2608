"""The options of Slurm's commands that submit jobs: a table of structures in C since 19.05."""

import re

from .compiled import MIRRORS, option
from .options import Unknown
from .programs import program
from . import release

OPTIONS = "src/common/slurm_opt.c"
# Where each command had its options before.
OLDER = {"sbatch": "src/sbatch/opt.c", "salloc": "src/salloc/opt.c", "srun": "src/srun/libsrun/opt.c"}
TAKES = {"no": "none", "required": "one", "optional": "optional"}
# What took the place of options that no release has since 19.05.
RENAMED = {"workdir": "chdir", "cwd": "chdir", "share": "oversubscribe"}


def structures(of):
    """Name, kind of argument, value and the commands of each option that a release declares."""
    text = re.sub(r"/\*.*?\*/", "", of.read(OPTIONS), flags=re.S)
    listed = re.findall(r"&(slurm_opt_\w+),", text[text.index("common_options[]") :])
    # A few macros write the structures of options that are alike.
    for name in listed:
        body = re.search(r"slurm_cli_opt_t " + name + r"\s*=\s*\{(.*?)\n\};", text, re.S)
        if not body:
            raise Unknown(f"{of.version}: {name} is not declared")
        fields = dict(re.findall(r"\.(\w+)\s*=\s*([^,]+),", body.group(1)))
        if fields["name"] == "NULL":
            continue
        setters = [key for key in fields if key.startswith("set_func") and fields[key] != "NULL"]
        only = {key.removeprefix("set_func_") for key in setters if key not in ("set_func", "set_func_data")}
        takes = TAKES[fields["has_arg"].split("_")[0]]
        yield fields["name"].strip('"'), takes, fields["val"].strip("'"), only or set(OLDER)


def options(of, command):
    """The options of a command; several names of one are aliases."""
    by_value = {}
    for name, takes, value, commands in structures(of):
        if command in commands:
            by_value.setdefault((value, takes), []).append(name)
    found = {}
    for (value, takes), (first, *others) in by_value.items():
        short = [f"-{value}"] if len(value) == 1 else []
        found[first] = option(takes, short + [f"--{name}" for name in others])
    return found


def gone(of, command, known):
    """Options that the last release before had and none has since; what getopt reads as the beginning of another one is none."""
    text = re.sub(r"/\*.*?\*/", "", of.read(OLDER[command]), flags=re.S)
    names = re.findall(r'\{"([a-z-]+)",\s*(?:required|no|optional)_argument,', text)
    starts = lambda name: any(other.startswith(name) for other in known)
    return {name: option("removed", replaced_by=RENAMED.get(name, "")) for name in names if not starts(name)}


def command(name):
    directory = str(MIRRORS / "SchedMD+slurm/repo")
    tags = release.tags(directory, r"slurm-(\d+-\d+-\d+)-\d+", "18.08")
    read = [(of.version.replace("-", "."), options(of, name)) for of in tags if OPTIONS in of.listed()]
    every = {one for _, found in read for flag, given in found.items() for one in (flag, *(a[2:] for a in given["aliases"]))}
    older = [of for of in tags if OPTIONS not in of.listed()][-1]
    removed = gone(older, name, every)
    for version, found in read:
        yield version, {**found, **removed}


@program("sbatch", "s9978", "prefixes")
def sbatch():
    return command("sbatch")


@program("salloc", "s9978", "prefixes")
def salloc():
    return command("salloc")


@program("srun", "s9978", "prefixes")
def srun():
    return command("srun")


@program("pyxis", "s9979", "prefixes")
def pyxis():
    """The options that NVIDIA's plugin adds to Slurm's commands."""
    for of in release.tags(str(MIRRORS / "NVIDIA+pyxis/repo"), r"v(\d+\.\d+\.\d+)"):
        text = of.read("args.c") or of.read("pyxis_slurmstepd.c")
        body = re.search(r"struct spank_option spank_opts\[\]\s*=\s*\{(.*?)\n\};", text, re.S).group(1)
        found = re.findall(r'\{\s*"([a-z-]+)",\s*(NULL|"[^"]*"),.*?([01]),\s*\d+,\s*\w+\s*\}', body, re.S)
        if len(found) != len(re.findall(r'\{\s*"', body)):
            raise Unknown(f"{of.version}: an option has another form")
        yield of.version, {name: option("one" if has == "1" else "none") for name, _, has in found}
