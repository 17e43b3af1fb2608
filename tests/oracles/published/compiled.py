"""Programs that are not written in Python: their sources are searched for where they declare their flags."""

import os
import pathlib
import re

from . import release
from .options import Unknown
from .programs import program

MIRRORS = pathlib.Path(os.environ.get("FLAGS_MIRRORS", pathlib.Path.home() / ".cache/gpulint-mirrors"))


def option(takes, aliases=(), choices=(), excludes=(), replaced_by=""):
    return {
        "aliases": sorted(aliases), "takes": takes, "choices": sorted(choices), "excludes": set(excludes), "help": "",
        "replaced_by": replaced_by,
    }


def tagged(repository, pattern, since="0"):
    return release.tags(str(MIRRORS / repository.replace("/", "+") / "repo"), pattern, since)


def kebab(name):
    """The name that clap and Rust's casing crates give a variant."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("_", "-").lower()


def variants(of, name, path):
    """The values of an enum that clap reads; all that some build of the program knows."""
    texts = [of.read(file) for file in [path, *sorted(of.listed())] if file in (path, "backends/src/lib.rs", "backends/src/dtype.rs", "backends/core/src/lib.rs")]
    for text in texts:
        found = re.search(r"enum " + name.rpartition(":")[2] + r" \{(.*?)\n\}", text or "", re.S)
        if not found:
            continue
        head = text[: found.start()].rpartition("}")[2]
        if "rename_all" in head and re.search(r"(clap|value)\(rename_all", head):
            raise Unknown(f"{name}: {head}")
        values, given = [], None
        for line in found.group(1).splitlines():
            renamed = re.search(r'(?:clap|value)\(name = "([^"]+)"\)', line)
            given = renamed.group(1) if renamed else given
            variant = re.match(r"\s*([A-Z]\w*),", line)
            if variant:
                values.append(given or kebab(variant.group(1)))
                given = None
        return values
    raise Unknown(f"{of.version}: there is no enum {name}")


NUMBERS = {"usize": "int", "u16": "int", "u32": "int", "u64": "int", "i32": "int", "i64": "int", "f32": "float", "f64": "float"}


def clap(of, path):
    """The flags of a structure that derives clap's Parser."""
    text = of.read(path)
    body = re.search(r"\nstruct Args \{(.*?)\n\}", text, re.S)
    found = {}
    for attributes, name, kind in re.findall(r"((?:\s*(?:///[^\n]*|//[^\n]*|#\[.*?\]))*)\s*(\w+): ([\w:<>]+),", body.group(1), re.S):
        clap_says = " ".join(re.findall(r"#\[clap\((.*?)\)\]", attributes, re.S))
        if "long" not in clap_says:
            raise Unknown(f"{of.version}: {name} is no flag: {clap_says}")
        inner = re.sub(r"(Option|Vec)<|>", "", kind)
        flag = re.search(r'long\s*=\s*"([^"]+)"', clap_says)
        flag = flag.group(1) if flag else name.replace("_", "-")
        short = re.search(r"\bshort\b(?:\s*=\s*'(.)')?", clap_says)
        aliases = [f"-{short.group(1) or name[0]}"] if short else []
        aliases += [f"--{alias}" for alias in re.findall(r'alias\s*=\s*"([^"]+)"', clap_says)]
        takes, choices = "one" if "delimiter" in clap_says else NUMBERS.get(inner, "one"), []
        if kind == "bool":
            takes = "optional" if "num_args" in clap_says else "none"
            choices = ["true", "false"] if takes == "optional" else []
        elif inner == "bool":
            choices = ["true", "false"]
        elif "num_args" in clap_says:
            raise Unknown(f"{of.version}: {name}: {clap_says}")
        elif inner not in (*NUMBERS, "String", "PathBuf"):
            choices = variants(of, inner, path)
        against = re.findall(r'conflicts_with\s*=\s*"(\w+)"', clap_says)
        found[flag] = option(takes, aliases, choices, [other.replace("_", "-") for other in against])
    for flag, one in list(found.items()):
        for other in one["excludes"]:
            found[other]["excludes"].add(flag)
    found["help"] = option("none", ["-h"])
    if re.search(r"#\[clap\((?:author, )?version", text):
        found["version"] = option("none", ["-V"])
    return found


@program("text-generation-launcher", "s3310", "once")
def text_generation():
    for of in tagged("huggingface/text-generation-inference", r"v(\d+\.\d+\.\d+)", "0.5"):
        yield of.version, clap(of, "launcher/src/main.rs")


@program("text-embeddings-router", "s3311", "once")
def text_embeddings():
    for of in tagged("huggingface/text-embeddings-inference", r"v(\d+\.\d+\.\d+)"):
        yield of.version, clap(of, "router/src/main.rs")


TRITON = re.compile(r'\{\s*(OPTION_\w+),\s*"([A-Za-z0-9-]+)",\s*(?:Option::Arg(\w+)|")')
TRITON_KINDS = {"": "one", "None": "none", "Int": "int", "Float": "float", "Bool": "one", "Str": "one"}


@program("tritonserver", "s3312", "prefixes lists")
def tritonserver():
    for of in tagged("triton-inference-server/server", r"v(2\.\d+\.\d+)", "2.22"):
        path = next(path for path in ("src/command_line_parser.cc", "src/main.cc") if path in of.listed())
        text = re.sub(r"\n#[^\n]*", "", of.read(path))
        month = re.search(r'"' + re.escape(of.version) + r'"\s*:\s*\(\s*"(\d\d\.\d\d)"', of.read("build.py"))
        month = month or re.search(r'"triton_container_version": "(\d\d\.\d\d)(?:dev)?"', of.read("build.py"))
        month = month or re.search(r"'" + re.escape(of.version) + r"':\s*\(\s*'(\d\d\.\d\d)'", of.read("build.py"))
        ids = {}
        for number, name, kind in TRITON.findall(text):
            ids.setdefault(number, []).append((name, TRITON_KINDS[kind]))
        if len(TRITON.findall(text)) != len(re.findall(r"\{\s*OPTION_\w+,\s*\"", text)):
            raise Unknown(f"{of.version}: an option has another form")
        found = {}
        for spelled in ids.values():
            # The last of several names of one option is the one that the help names first.
            name, kind = spelled[-1]
            found[name] = option(kind, [f"--{other}" for other, _ in spelled[:-1]])
        if not month:
            raise Unknown(f"{of.version}: of which container")
        yield month.group(1), found


GO_FLAG = re.compile(r"&cli\.(\w+)Flag\{(.*?)\n\t*\}", re.S)
GO_KINDS = {"Bool": "optional", "Int": "int", "Uint": "int", "Float64": "float"}


def urfave(of, path, constants=()):
    """The flags of a Go program that names them for urfave/cli."""
    text = of.read(path)
    named = dict(re.findall(r'(\w+)\s*=\s*"([^"]*)"', "".join(of.read(file) or "" for file in (path, *constants))))
    found = {}
    for kind, body in GO_FLAG.findall(text):
        name = re.search(r"Name:\s*(\"([^\"]+)\"|\w+)", body)
        name = name.group(2) or named[name.group(1)]
        aliases = re.search(r"Aliases:\s*\[\]string\{([^}]*)\}", body)
        spelled = [word.strip().strip('"') for word in aliases.group(1).split(",")] if aliases else []
        name, *short = [word.strip() for word in name.split(",")]
        found[name] = option(GO_KINDS.get(kind, "one"), [("--" if len(word) > 1 else "-") + word for word in spelled + short])
    if len(found) != len(re.findall(r"&cli\.\w+Flag\{", text)):
        raise Unknown(f"{of.version}: a flag of {path} has another form")
    for name, letter in (("help", "-h"), ("version", "-v")):
        found.setdefault(name, option("optional", [letter]))
    return found


@program("nvidia-device-plugin", "s3313", "single-dash")
def device_plugin():
    for of in tagged("NVIDIA/k8s-device-plugin", r"v(\d+\.\d+\.\d+)", "0.10"):
        path = "cmd/nvidia-device-plugin/main.go"
        if path in of.listed():
            yield of.version, urfave(of, path)


@program("gpu-feature-discovery", "s3314", "single-dash")
def feature_discovery():
    for of in tagged("NVIDIA/k8s-device-plugin", r"v(\d+\.\d+\.\d+)", "0.15"):
        yield of.version, urfave(of, "cmd/gpu-feature-discovery/main.go")


@program("dcgm-exporter", "s3315", "single-dash")
def dcgm_exporter():
    for of in tagged("NVIDIA/dcgm-exporter", r"\d+\.\d+\.\d+-(\d+\.\d+\.\d+)", "2.3"):
        path = next((p for p in ("pkg/cmd/app.go", "cmd/dcgm-exporter/main.go", "pkg/main.go") if "cli.StringFlag" in (of.read(p) or "")), None)
        if path:
            yield of.version, urfave(of, path)


def literals(of, pattern, *paths):
    """Names in the sources of a tag."""
    text = of.git("grep", "-hoE", pattern, of.tag, "--", *paths) or ""
    return {name: option("one") for name in set(re.findall(pattern, text)) if not name.endswith("_")}


@program("ollama:env", "s3316", "open")
def ollama():
    for of in tagged("ollama/ollama", r"v(\d+\.\d+\.\d+)", "0.1.0"):
        yield of.version, literals(of, r"OLLAMA_[A-Z0-9_]+", "*.go", "*.c", "*.cpp", "*.h", "*.m", ":!*_test.go", ":!integration")


@program("nccl:env", "s3317", "open")
def nccl():
    for of in tagged("NVIDIA/nccl", r"v(2\.\d+\.\d+)-1", "2.12"):
        text = of.git("grep", "-hE", r'NCCL_PARAM *\(|"NCCL_', of.tag, "--", "src", "ext-*", "plugins") or ""
        names = {f"NCCL_{name}" for name in re.findall(r'NCCL_PARAM\s*\(\s*\w+,\s*"([A-Z0-9_]+)"', text)}
        names |= set(re.findall(r'"(NCCL_[A-Z0-9_]+)"', text))
        yield of.version, {name: option("one") for name in names}
