#!/usr/bin/env python3
"""Compares rules/catalog/program_flags.csv with the help of the programs.

    tests/oracles/flags_help.py [PROGRAM[@VERSION]…]

The Python files of a release are unpacked and imported as Python imports them, with the argparse, click, typer, pydantic, yaml and
msgspec that are installed; other packages that are missing are stood for by names that do nothing. The program then prints
its own help. What stands in the help and not in the table, or in the table and not in the help, is printed, and the choices
that differ. Two programs in Rust are compared with the help in their documentation.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from published import compiled, release

TABLE = pathlib.Path(__file__).parents[2] / "rules/catalog/program_flags.csv"
VLLM = """
from importlib import import_module as load
only(R); never(R + ".utils.cache"); never(R + "._custom_ops"); never(R + ".distributed"); never(R + ".platforms")
platform = Anything("platform"); vars(platform)["device_type"] = "cuda"; sys.modules[R + ".platforms"].current_platform = platform
def first(*names):
    for name in names:
        if os.path.exists(name.replace(".", "/") + ".py") or os.path.isdir(name.replace(".", "/")): return load(name)
m = first(R + ".entrypoints.common.cli_args", R + ".entrypoints.launchers.cli_args", R + ".entrypoints.openai.cli_args", R + ".endpoints.openai.args")
u = first(R + ".utils.argparse_utils", R + ".common.utils", R + ".utils")
p = m.make_arg_parser(u.FlexibleArgumentParser(prog=R + " serve"))
import argparse
for a in p._actions:
    # Texts of help come from the documentation of classes, which is not there: what stands before them is printed.
    if a.option_strings and a.help != argparse.SUPPRESS:
        print("  " + ", ".join(a.option_strings) + (" {" + ",".join(map(str, a.choices)) + "}" if a.choices and not isinstance(a, argparse.BooleanOptionalAction) else ""))
"""
SGLANG = """
only("sglang"); never("sglang.srt.distributed"); never("sglang.srt.layers"); never("sglang.srt.configs")
from sglang.srt.server_args import ServerArgs
import argparse
p = argparse.ArgumentParser(prog="sglang serve"); ServerArgs.add_cli_args(p)
for a in p._actions:
    # The help leaves out some that are taken, and has some that end the start where they are used.
    a.help = "" if a.help == argparse.SUPPRESS else a.help
    try:
        type(a).__name__ == "DeprecatedAction" and a(p, argparse.Namespace(), None, a.option_strings[0])
    except (Exception, SystemExit):
        a.help = argparse.SUPPRESS
p.print_help()
"""
# What the help leaves out is taken all the same.
SHOWN = """
import argparse
add_argument = argparse.HelpFormatter.add_argument
def shown(self, action):
    action.help = "" if action.help == argparse.SUPPRESS else action.help
    add_argument(self, action)
argparse.HelpFormatter.add_argument = shown
"""
RUNS = {
    "vllm": ("vllm", "R = 'vllm'" + VLLM, "0.10.2 0.11.2"),
    "aphrodite": ("aphrodite-engine", "R = 'aphrodite'" + VLLM, "0.6.5"),
    "sglang": ("sglang", SGLANG, "0.3.2 0.3.5.post1 0.4.6.post5 0.4.9 0.4.9.post3 0.5.3 0.5.9 0.5.12 0.5.18 0.5.20 0.5.23"),
    "torchrun": ("torch", "only('torch'); only('torch.distributed'); only('torch.distributed.elastic'); never('torch.nn'); never('torch.multiprocessing')\nfrom torch.distributed.run import get_args_parser as g\ng().print_help()", "1.13.1 2.3.0 2.15.0"),
    "accelerate launch": ("accelerate", "from accelerate.commands.launch import launch_command_parser as g\nimport argparse\np = g()\np.formatter_class = argparse.HelpFormatter\nargparse.ArgumentParser.print_help(p)", "0.20.3 0.34.2 1.15.0"),
    "deepspeed": ("deepspeed", "only('deepspeed'); never('deepspeed.accelerator'); never('deepspeed.runtime'); never('deepspeed.module_inject')\nfrom deepspeed.launcher.runner import parse_args as g\ng(['--help'])", "0.19.8"),
    "horovodrun": ("horovod", SHOWN + "sys.argv = ['horovodrun', '--help']\nfrom horovod.runner.launch import parse_args as g\ng()", "0.28.1"),
    "ray start": ("ray", "only('ray'); only('ray._private'); only('ray.util'); never('ray.util.placement_group'); never('ray.core'); never('ray._private.worker'); never('ray._private.services'); never('ray._private.resource_and_label_spec')\nfrom ray.scripts.scripts import start as g\nfor option in g.params: option.hidden = False\ng.main(['--help'], prog_name='ray start')", "2.60.0"),
    "serve run": ("ray", "only('ray'); only('ray._private'); only('ray.serve'); only('ray.util'); never('ray.util.placement_group'); never('ray._private.services'); never('ray.core'); never('ray.experimental'); never('ray._private.worker'); never('ray.serve._private.api'); never('ray.serve.api'); never('ray.serve.config'); never('ray.serve.generated')\nfrom ray.serve.scripts import run as g\ng.main(['--help'], prog_name='serve run')", "2.60.0"),
    "lmdeploy serve api_server": ("lmdeploy", "sys.argv = ['lmdeploy', 'serve', 'api_server', '--help']\nfrom lmdeploy.cli.entrypoint import run\nrun()", "0.6.0 0.18.0"),
    "xinference-local": ("xinference", "from xinference.deploy.cmdline import local as g\ng.main(['--help'], prog_name='x')", "1.0.0 4.1.0"),
    "infinity_emb v1": ("infinity-emb", "sys.argv = ['infinity_emb', 'v1', '--help']\nimport importlib, os\nsys.modules['uvloop'] = None\ntp = importlib.import_module('infinity_emb.cli' if os.path.exists('infinity_emb/cli.py') else 'infinity_emb.infinity_server').tp\ntp()", "0.0.54 0.0.78"),
    "infinity_emb v2": ("infinity-emb", "sys.argv = ['infinity_emb', 'v2', '--help']\nimport importlib, os\nsys.modules['uvloop'] = None\ntp = importlib.import_module('infinity_emb.cli' if os.path.exists('infinity_emb/cli.py') else 'infinity_emb.infinity_server').tp\ntp()", "0.0.54 0.0.78"),
}
# The documentation of the programs in Rust holds their help; it may be a release behind.
DOCUMENTED = {
    "text-generation-launcher": ("huggingface/text-generation-inference", "docs/source/basic_tutorials/launcher.md docs/source/reference/launcher.md", "1.4.0 2.2.0 3.3.5"),
    "text-embeddings-router": ("huggingface/text-embeddings-inference", "docs/source/en/cli_arguments.md README.md", "1.5.0 1.9.3"),
}
START = """
import importlib.abc, importlib.machinery, importlib.util, os, sys
sys.path.insert(0, PLACE)
from published.lazy import Anything
class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.stdlib_module_names:
            return None
        above = sys.modules.get(name.split(".")[0])
        if above is not None and "site-packages" in str(getattr(above, "__file__", "")) and not isinstance(above, Stub):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return Stub(spec.name)
    def exec_module(self, module):
        pass
class Stub(type(os)):
    def __getattr__(self, name):
        if name == "__version__": return "99.0.0"
        if name in ("__commit__", "__file__"): return "none"
        if name.startswith("__") or name in ("npu", "musa", "hpu"): raise AttributeError(name)
        return Anything(self.__name__ + "." + name)
sys.meta_path.append(Missing())
def schema(*_):
    from pydantic_core import core_schema
    return core_schema.any_schema()
Anything.__get_pydantic_core_schema__ = schema
class Loose:
    # What classes of missing packages are derived from: takes what it is given.
    def __init__(self, *_, **__): pass
    def __init_subclass__(cls, **_): super().__init_subclass__()
    __get_pydantic_core_schema__ = classmethod(schema)
def bases(self, given):
    above = [base for base in given if isinstance(base, Anything)]
    return (Loose,) if self is above[0] and not any(issubclass(base, Loose) for base in given if isinstance(base, type)) else ()
Anything.__mro_entries__, Anything.__setitem__ = bases, lambda *_: None
import builtins
ask = builtins.getattr
builtins.getattr = lambda of, name, *default: ask(of, name if isinstance(name, str) else "_", *default)
is_of = builtins.isinstance
builtins.isinstance = lambda of, kind: is_of(of, kind) if not is_of(kind, Anything) else False
def never(name):
    # Puts a package in place of which nothing is there.
    sys.modules[name] = Stub(name)
    sys.modules[name].__path__ = []
def only(name):
    # Puts a package in place without running it, so that its modules can be imported alone.
    sys.modules[name] = Stub(name)
    sys.modules[name].__path__ = [name.replace(".", "/")]
import importlib.metadata
known = importlib.metadata.version
def version(name):
    try: return known(name)
    except importlib.metadata.PackageNotFoundError: return "99.0.0"
importlib.metadata.version = version
for name in GONE: sys.modules[name] = None
os.environ["COLUMNS"] = "200"
"""
FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][\w.-]*)")


def table(program, version):
    """What the table says of a release: spelled flags, and choices by flag."""
    spelled, choices = {}, {}
    low, high = None, None
    with open(TABLE, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["program"] == program]
    for row in rows:
        fits = True
        for part in row["versions"].split():
            sign, bound = re.match(r"([<>=]+)(.*)", part).groups()
            left, right = release.order(version), release.order(bound)
            fits &= {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "==": left == right}[sign]
        if not row["flag"]:
            low, high = row["takes"], fits
        elif fits:
            flag = ("--" if len(row["flag"]) > 1 else "-") + row["flag"]
            for text in [flag, *row["aliases"].split()]:
                spelled[text] = flag
            if row["choices"]:
                choices[flag] = set(row["choices"].split())
    if not high:
        raise LookupError(f"{program} {version} is outside of the table")
    return spelled, choices, low


def helped(program, version):
    """The help of a release."""
    package, code, _ = RUNS[program]
    of = next(each for each in release.packages(package) if each.version == version)
    with tempfile.TemporaryDirectory() as place:
        wanted = [name for name in of.listed() if name.endswith((".py", ".json", ".yaml", ".toml", ".txt")) and ".dist-info" not in name and "/test" not in name]
        for name in wanted:
            path = pathlib.Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(of.text(name), encoding="utf-8")
        of.archive = None
        gone = ["shtab", "torch_xla", "colorful", "torch_npu", "torch_musa", "sgl_kernel_npu"]
        head = f"PLACE = {str(pathlib.Path(__file__).parent)!r}\nGONE = {gone!r}\n{START}\nsys.path.insert(0, {place!r})\n"
        done = subprocess.run([sys.executable, "-c", head + code], cwd=place, capture_output=True, text=True, check=False, timeout=300)
        return done.stdout, done.stderr


def invocations(text):
    """The flags of a help text: each with the words that stand with it, before what is said of it."""
    for line in text.splitlines():
        line = re.sub(r"[│╭╰*]", " ", line)
        if re.match(r"\s{1,10}-", line):
            yield re.split(r"(?<=\S) {2,}(?![- ])", line.strip())[0]


def compare(program, version, text):
    spelled, choices, manner = table(program, version)
    shown, differ = set(), []
    for line in invocations(text):
        names = [name.rstrip(".") for name in FLAG.findall(re.sub(r"\{.*?\}", "", line))]
        if "underscores" in manner:
            names = [name.replace("_", "-") if name.startswith("--") else name for name in names]
        shown |= set(names)
        listed = re.search(r"\{([^{}]+)\}", line)
        if listed and names and names[0] in spelled:
            here = {value for value in listed.group(1).split(",") if value != "None"}
            said = choices.get(spelled[names[0]])
            if said is not None and said - {"None"} != here:
                differ.append(f"{names[0]}: table {sorted(said - here)}, help {sorted(here - said)}")
            elif said is None and not listed.group(0).startswith("{{"):
                differ.append(f"{names[0]}: help has the choices {sorted(here)}")
    missing = sorted(shown - set(spelled))
    more = sorted(text for text in spelled if text not in shown)
    print(f"{program} {version}: {len(shown)} in the help, {len(spelled)} in the table")
    for label, found in (("  not in the table:", missing), ("  not in the help:", more), ("  choices:", differ)):
        if found:
            print(label, "; ".join(found))


def main():
    asked = sys.argv[1:]
    for program, (_, _, versions) in RUNS.items():
        for version in versions.split():
            if asked and program not in asked and f"{program}@{version}" not in asked:
                continue
            text, errors = helped(program, version)
            if len(text) < 200:
                print(f"{program} {version}: no help: {errors.strip().splitlines()[-1:]}")
                print(errors[-1500:], file=sys.stderr)
                continue
            compare(program, version, text)
    for program, (repository, paths, versions) in DOCUMENTED.items():
        if asked and program not in asked:
            continue
        for of in compiled.tagged(repository, r"v(\d+\.\d+\.\d+)"):
            if of.version in versions.split():
                text = "\n".join(of.read(path) or "" for path in paths.split())
                compare(program, of.version, "\n".join(f"  {line.lstrip('#').strip()}" for line in text.splitlines()))


main()
