"""The files that `trl METHOD --config` reads: which keys a release takes, where it refuses others, and of which values it makes none.

A key that no class of arguments has ends a run in two ways, and which of them holds is read from each release: the script raises
(`Unknown arguments from config file`), or the command hands it on to `accelerate launch`, which does not know it. TrainingArguments
are those of any release of transformers that the release of TRL asks for.

Values of a file become defaults of argparse, which holds them against no choices: only text is made into what an argument is. Words
of an enum are refused where TrainingArguments make one of them (`__post_init__`).
"""

import ast
import functools
import re
import sys

from packaging.requirements import Requirement
from packaging.version import Version

from documents_python import classes, fields

METHODS = ("sft", "dpo", "grpo", "kto", "reward", "rloo")
# What a text has to be for argparse to make it into the type.
TYPES = {"int": "python-int", "float": "python-float", "bool": "python-bool"}
# Keys that the parser itself takes, and the command that starts the script.
OWN = {"env", "config", "accelerate_config", "help"}
# By these a file says that it is for TrainingArguments, whoever reads it.
STRATEGIES = re.compile(r"(eval|evaluation|save|logging|hub)_strategy")


def release_of(texts):
    """The release of TRL, and what it asks transformers to be."""
    text = next(text for path, text in texts.items() if path.startswith("trl-") and path.endswith("METADATA"))
    required = [Requirement(line) for line in re.findall(r"^Requires-Dist: (.+)$", text, re.M)]
    asked = [one.specifier for one in required if one.name == "transformers" and not one.marker]
    return asked[0] if asked else None


def beside(texts, package, specifier=None):
    """The files of each release of a package that is installed beside TRL."""
    found = {}
    for path, text in texts.items():
        version, _, rest = path.partition("/")
        if rest.startswith(package + "/") and (specifier is None or specifier.contains(Version(version))):
            found.setdefault(version, {})[rest] = text
    return found


@functools.cache
def read(texts):
    """The classes of modules, and the types of their fields."""
    return classes(texts), types(texts)


def types(texts):
    """Types of the fields of classes, by class and field."""
    trees = [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    name = lambda line: line.target.id if isinstance(line.target, ast.Name) else ""
    return {node.name: {name(line): ast.unparse(line.annotation) for line in node.body if isinstance(line, ast.AnnAssign)} for node in trees}


def plain(annotation):
    """int, float or bool, be it optional; nothing for what is of another type, or of several."""
    return re.sub(r"^(?:typing\.)?Optional\[(\w+)\]$|^(\w+) \| None$", r"\1\2", annotation)


@functools.cache
def enums(texts):
    """Fields of TrainingArguments of which an enum is made whatever else is stated, with its words."""
    found, made = read(texts)[0], {}
    bodies = [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == "TrainingArguments"]
    for method in [line for body in bodies for line in body.body if isinstance(line, ast.FunctionDef) and line.name == "__post_init__"]:
        for line in method.body:
            match = isinstance(line, ast.Assign) and re.fullmatch(r"self\.(\w+) = (\w+)\(self\.\1\)", ast.unparse(line))
            if match and match.group(2) in found:
                made[match.group(1)] = [word for word in found[match.group(2)][1].values() if isinstance(word, str)]
    return made


@functools.cache
def options(text):
    """The options of a parser, as keys."""
    return {name.replace("-", "_") for name in re.findall(r'"--([a-z][\w-]*)"', text)}


def call(script, name):
    """The arguments of the call of a method in a script."""
    calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name)]
    return {word.arg: ast.unparse(word.value) for one in calls for word in one.keywords} if calls else None


def arguments(script):
    """The names of the classes of arguments that a script makes its parser of."""
    for node in ast.walk(ast.parse(script)):
        value = node.value if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "dataclass_types" else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "TrlParser" and node.args:
            value = node.args[0]
        if isinstance(value, ast.Tuple):
            return [ast.unparse(name) for name in value.elts]
    return []


def raises(parser, script):
    """Whether a script ends on keys that none of its classes has."""
    said = call(script, "parse_args_and_config") or {}
    if said.get("return_remaining_strings") == "True" or said.get("fail_with_unknown_args") == "False":
        return False
    if (call(script, "TrlParser") or {}).get("ignore_extra_args"):
        return False
    return "elif fail_with_unknown_args and config_remaining_strings" in parser or "not self.ignore_extra_args:" in parser


def handed_on(cli, method):
    """Whether the command hands keys on to `accelerate launch`, and if it asks for those of this method alone."""
    own = "separate_remaining_strings=True" in cli
    parts = re.split(r"^    (?:el)?if args\.command == ", cli, flags=re.M)
    part = next((part for part in parts[1:] if part.startswith(f'"{method}"')), cli if len(parts) == 1 else "")
    return "parse_args(launch_args + [" in part, own


def trl(texts):
    """`TrlParser.parse_args_and_config` of the scripts that `trl` starts."""
    own = {path: text for path, text in texts.items() if path.startswith("trl/")}
    scripts = {method: own.get(f"trl/scripts/{method}.py") or own.get(f"trl/commands/scripts/{method}.py") for method in METHODS}
    scripts = {method: text for method, text in scripts.items() if text and arguments(text)}
    parser = own.get("trl/scripts/utils.py") or own["trl/commands/cli_utils.py"]
    cli = "\n".join(text for path, text in own.items() if re.match(r"trl/cli(\.py|/)", path))
    shared = tuple(text for path, text in own.items() if re.search(r"(_config|utils)\.py$", path))
    releases = [tuple(files.values()) for files in beside(texts, "transformers", release_of(texts)).values()]
    launch = {name for files in beside(texts, "accelerate").values() for text in files.values() for name in options(text)}
    # An enum holds where all releases that have the field make one.
    words, other = {}, set()
    for files in releases:
        for field in fields(read(files)[0], "TrainingArguments"):
            if field in enums(files):
                words.setdefault(field, {}).update(dict.fromkeys(enums(files)[field]))
            else:
                other.add(field)
    words = {field: list(found) for field, found in words.items() if field not in other}
    if not launch or not words:
        sys.exit("the cache has wheels that were cut down to less: remove those of transformers and accelerate")
    keys, kinds = {}, {}
    for method, script in scripts.items():
        keys[method], kinds[method] = {}, {}
        for files in releases:
            found, typed = ({**read(files)[at], **read(shared)[at], **read((script,))[at]} for at in (0, 1))
            # A class that was moved keeps its name, and its base is the moved one behind a line.
            unread = {one for name in arguments(script) for one in [name, *above(found, name)]} - {*found, *(f"_{name}" for name in found)}
            if unread - {"ABC", "object"}:
                sys.exit(f"{method}: {unread} were not read")
            for name in arguments(script):
                keys[method].update(dict.fromkeys(fields(found, name)))
                for one in {name, *above(found, name)}:
                    for field in found.get(one, ([],))[0]:
                        kinds[method].setdefault(field, set()).add(plain(typed.get(one, {}).get(field, "")))
    every = {key for own in keys.values() for key in own}
    strategies = {field: word(found) for field, found in words.items() if STRATEGIES.fullmatch(field)}
    yield ("", "", "trl"), {"type": "object", "properties": strategies}
    # The server, and what talks to a model, are started by the same command.
    others = {name for path, text in own.items() if re.search(r"scripts/(chat|vllm_serve)\.py$", path) for name in (field for found in classes([text]).values() for field in found[0])}
    for method, script in scripts.items():
        passed, alone = handed_on(cli, method)
        properties = {key: value(key, kinds[method].get(key, set()), words) for key in keys[method]}
        more = OWN | (launch | (set() if alone else every | others) if passed else set())
        if passed or raises(parser, script):
            schema = {"type": "object", "properties": {**{key: {} for key in more}, **properties}, "additionalProperties": False}
        else:
            # Of what is passed over nothing needs to be known.
            schema = {"type": "object", "properties": {key: said for key, said in properties.items() if said}}
        yield ("", "", f"trl {method}"), schema


def above(found, name):
    """The classes that a class is made of."""
    bases = found.get(name, ([], {}, []))[2]
    return [one for base in bases for one in [base, *above(found, base)]]


def word(choices):
    # A plain NO is no text in YAML 1.1, which is what reads it.
    return {"type": "string", "enum": choices, "truths": True}


def value(key, kinds, words):
    if key in words:
        return word(words[key])
    kind = TYPES.get(next(iter(kinds))) if len(kinds) == 1 else None
    return {"format": kind} if kind else {}
