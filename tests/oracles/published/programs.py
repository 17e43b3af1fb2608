"""How the flags of each program are read from a release of it."""

import argparse
import ast
import collections
import re

from . import fakes, release
from .lazy import Anything, Program, caught, run_main
from .options import of_parser

PROGRAMS = {}


def program(name, source, manner="", renamed="", sparse=False):
    """Registers what yields (version, options) of each release, oldest first.

    `renamed` says what took the place of flags that a release dropped: lines of `old… = new…`. `sparse`: there are releases
    between those that are read.
    """

    def kept(read):
        sides = [line.split("=") for line in renamed.strip().splitlines()]
        new = {old: " ".join(news.split()) for olds, news in sides for old in olds.split()}
        PROGRAMS[name] = (read, source, manner, new, sparse)
        return read

    return kept


class Documented(collections.defaultdict):
    """The documentation of fields: every field has one."""

    def __contains__(self, key):
        return True


def vllm_modules(of, root="vllm"):
    """The modules of a release of vLLM, or of what was made of it, on a machine with CUDA."""
    platforms, platform = Anything("platforms"), Anything("platform")
    vars(platform)["device_type"] = "cuda"
    vars(platforms)["current_platform"] = platform
    stand = {
        **fakes.COMMON,
        f"{root}.platforms": platforms,
        f"{root}.logger": Anything("logger"),
        f"{root}.plugins": Anything("plugins"),
        "loguru": Anything("loguru"),
        f"{root}.common.logger": Anything("logger"),
        f"{root}.utils.LazyLoader": Anything,
        f"{root}.utils.import_utils.LazyLoader": Anything,
    }
    for module in (f"{root}.config", f"{root}.config.utils"):
        stand[f"{module}.get_attr_docs"] = lambda cls: Documented(str)
    return Program(of, stand)


def vllm_parser(of, root="vllm"):
    made = vllm_modules(of, root)
    paths = ("common/cli_args", "launchers/cli_args", "openai/cli_args", "openai/args", "openai/api_server")
    every = [f"{root}/{folder}/{path}.py" for folder in ("entrypoints", "endpoints") for path in paths]
    path = next(path for path in every if path in of.listed())
    module = made.module(path.removesuffix(".py").replace("/", "."))
    if not module.has("make_arg_parser"):
        parser = caught(module.parse_args) if module.has("parse_args") else caught(run_main, module)
    elif module.make_arg_parser.__code__.co_argcount == 0:
        parser = module.make_arg_parser()
    else:
        places = ("utils/argparse_utils.py", "common/utils.py", "utils/__init__.py", "utils.py")
        place = next(place for place in places if f"{root}/{place}" in of.listed())
        utilities = f"{root}/{place}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        flexible = made.module(utilities).FlexibleArgumentParser
        flexible = argparse.ArgumentParser if isinstance(flexible, Anything) else flexible
        parser = module.make_arg_parser(flexible(prog=f"{root} serve"))
    return made, parser


def checked(made, of, name):
    if made.failed:
        raise LookupError(f"{name} {of.version}: {made.failed[:3]}")


def told(options, text, conditions):
    """Adds what a program refuses: the conditions (flag, `needs` or `excludes`, other, words) whose words its source has."""
    text = re.sub(r"\"\s*\n\s*f?\"", "", text or "")
    for flag, how, other, message in conditions:
        if message in text and flag in options and other in options:
            options[flag].setdefault(how, set()).add(other)
            if how == "excludes":
                options[other].setdefault(how, set()).add(flag)
    return options


VLLM_TELLS = [
    ("enable-auto-tool-choice", "needs", "tool-call-parser", "--enable-auto-tool-choice requires --tool-call-parser"),
    ("enable-reasoning", "needs", "reasoning-parser", "--enable-reasoning requires --reasoning-parser"),
    ("enable-log-outputs", "needs", "enable-log-requests", "--enable-log-outputs requires --enable-log-requests"),
    ("grpc", "excludes", "grpc-port", "--grpc and --grpc-port are mutually exclusive"),
    ("enable-per-request-metrics", "excludes", "disable-log-stats", "remove --disable-log-stats to enable per-request"),
]


@program(
    "vllm",
    "s3301",
    "underscores prefixes dotted",
    """
    use-dummy-weights use-np-weights = load-format
    max-context-len-to-capture = max-seq-len-to-capture
    chat-template-text-format = chat-template-content-format
    mm-cache-preprocessor = disable-mm-preprocessor-cache
    ngram-prompt-lookup-max ngram-prompt-lookup-min num-speculative-tokens speculative-model = speculative-config
    spec-decoding-acceptance-method speculative-disable-by-batch-size speculative-disable-mqa-scorer = speculative-config
    speculative-draft-tensor-parallel-size speculative-max-model-len = speculative-config
    speculative-model-quantization disable-logprobs-during-spec-decoding = speculative-config
    typical-acceptance-sampler-posterior-alpha typical-acceptance-sampler-posterior-threshold = speculative-config
    override-neuron-config = additional-config
    rope-scaling rope-theta = hf-overrides
    eplb-log-balancedness eplb-step-interval eplb-window-size num-redundant-experts = eplb-config
    guided-decoding-backend guided-decoding-disable-additional-properties = structured-outputs-config
    guided-decoding-disable-any-whitespace guided-decoding-disable-fallback = structured-outputs-config
    override-pooler-config = pooler-config
    cuda-graph-sizes = cudagraph-capture-sizes
    disable-mm-preprocessor-cache = mm-processor-cache-gb
    enable-multimodal-encoder-data-parallel = mm-encoder-tp-mode
    task = runner convert
    disable-log-requests = enable-log-requests
    """,
)
def vllm():
    for of in release.packages("vllm"):
        made, parser = vllm_parser(of)
        checked(made, of, "vllm")
        text = "".join(of.read(f"vllm/entrypoints/{name}/cli_args.py") or "" for name in ("openai", "common", "launchers"))
        text += of.read("vllm/entrypoints/openai/api_server.py") or ""
        yield of.version, told(of_parser(parser, underscores=True), text, VLLM_TELLS)


@program(
    "sglang",
    "s3302",
    "prefixes",
    """
    max-prefill-num-token = max-prefill-tokens
    schedule-heuristic = schedule-policy
    disable-flashinfer enable-flashinfer-mla enable-flashmla = attention-backend
    disable-flashinfer-sampling = sampling-backend
    max-num-reqs = max-running-requests
    max-torch-compile-bs = torch-compile-max-bs
    disable-regex-jump-forward = disable-jump-forward
    n-share-experts-fusion = disable-shared-experts-fusion
    impl = model-impl
    enable-deepep-moe = moe-a2a-backend
    enable-ep-moe = ep-size
    enable-flashinfer-cutlass-moe enable-flashinfer-mxfp4-moe enable-flashinfer-trtllm-moe = moe-runner-backend
    enable-triton-kernel-moe = moe-runner-backend
    max-micro-batch-size = pp-max-micro-batch-size
    nsa-decode = nsa-decode-backend
    nsa-prefill = nsa-prefill-backend
    oltp-traces-endpoint = otlp-traces-endpoint
    kt-amx-method = kt-method
    kt-amx-weight-path = kt-weight-path
    hybrid-kvcache-ratio = swa-full-tokens-ratio
    enable-expert-distribution-metrics = expert-balancedness-report-mode
    """,
)
def sglang():
    for of in release.packages("sglang"):
        made = Program(of, fakes.COMMON)
        parser = argparse.ArgumentParser()
        made.module("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
        checked(made, of, "sglang")
        yield of.version, of_parser(parser)


@program("aphrodite", "s3318", "underscores prefixes dotted")
def aphrodite():
    for of in release.packages("aphrodite-engine", since="0.6"):
        made, parser = vllm_parser(of, "aphrodite")
        checked(made, of, "aphrodite")
        yield of.version, of_parser(parser, underscores=True)


ENVIRONMENT = re.compile(r"\b(?:VLLM|SGLANG|SGL)_[A-Z][A-Z0-9_]*[A-Z0-9]\b")


# What is said before the name of a variable that is to be set.
TO_SET = re.compile(r"(?i)\b(set|setting|unset|export|env\w*|via|variable)\b")


def only_raised(text):
    """Names that stand in the texts of exceptions and nowhere else, and are not said to be set: macros of C++, say."""
    told = collections.Counter()
    try:
        raises = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise)]
    except SyntaxError:
        return set()
    for said in (part.value for node in raises for part in ast.walk(node) if isinstance(part, ast.Constant)):
        for name in ENVIRONMENT.finditer(said if isinstance(said, str) else ""):
            if not TO_SET.search(said[: name.start()]) and said[name.end() : name.end() + 1] != "=":
                told[name.group()] += 1
    everywhere = collections.Counter(ENVIRONMENT.findall(text))
    return {name for name, count in told.items() if everywhere[name] == count}


def mentioned(of, folder, prefixes):
    """Environment variables that the Python files of a release mention: more than it reads, never less."""
    found = set()
    for path in sorted(of.listed()):
        if path.startswith(folder) and path.endswith(".py") and "/test" not in path:
            text = of.text(path)
            names = {name for name in ENVIRONMENT.findall(text) if name.startswith(prefixes)}
            found |= names - only_raised(text) if names else names
    empty = {"aliases": [], "takes": "one", "choices": [], "help": "", "excludes": set(), "replaced_by": ""}
    of.archive = None
    return {name: dict(empty) for name in found}


@program("sglang:env", "s3320", "open", sparse=True)
def sglang_environment():
    for of in newest_patches(release.packages("sglang", since="0.3"), 3):
        yield of.version, mentioned(of, "sglang/", ("SGLANG_", "SGL_"))


@program("vllm:env", "s3319", "open", sparse=True)
def vllm_environment():
    for of in newest_patches(release.packages("vllm", since="0.4")):
        yield of.version, mentioned(of, "vllm/", ("VLLM_",))


def newest_patches(releases, parts=2):
    """The newest release of those that begin with the same numbers."""
    newest = {}
    for of in releases:
        newest[tuple(of.version.split(".")[:parts])] = of
    return list(newest.values())
