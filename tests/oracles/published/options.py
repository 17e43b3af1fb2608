"""What a parser takes, as rows of the table."""

import argparse
import enum
import re
import types

from .lazy import Anything

LIST = re.compile(r"\{([A-Za-z0-9_,-]+)\}")
DEPRECATED = re.compile(r"^\W*(\w+ )?deprecated|(this|the) (flag|option|argument|parameter)? ?(is|has been) (now )?deprecated", re.I)
INSTEAD = re.compile(r"(?:\buse\b|instead|replaced (?:by|with)|in favou?r of|alias (?:of|for)|renamed to)[^.]*?(--[a-z][A-Za-z0-9_{},-]*)", re.I)


# Flags whose choices were none: what fills their registry was not run.
EMPTY = []


class Unknown(Exception):
    """A flag of the program could not be told."""


def makes_none(read):
    """Whether a function that reads a value makes None of the word for it, which then is a value like any other."""
    try:
        return callable(read) and not isinstance(read, Anything) and read("None") is None
    except Exception:  # pylint: disable=broad-except
        return False


def words(flag, values, read=None):
    """Choices as text; empty where one cannot stand in the table, so that nothing is said of the values."""
    made = set()
    if isinstance(values, Anything) or any(isinstance(value, Anything) for value in values):
        raise Unknown(f"{flag}: the choices are {values!r}")
    for value in values:
        if value is None:
            made |= {"None"} if makes_none(read) else set()
            continue
        text = str(value.value if isinstance(value, enum.Enum) else value)
        if not text or re.search(r"[\s,\"]", text):
            return []
        made.add(text)
    if not made and not isinstance(values, range):
        EMPTY.append(flag)
    return sorted(made)


def kind(read):
    """What the function that reads a value makes of it."""
    name = getattr(read, "__name__", "")
    if read in (int, float):
        return read.__name__
    if isinstance(read, types.FunctionType) and name in ("_optional_type", "_parse_type", "_parse_optional", "optional_type"):
        inner = [cell.cell_contents for cell in read.__closure__ or () if callable(cell.cell_contents)]
        made = kind(inner[0]) if inner else "one"
        # vLLM up to 0.9 reads what is no object in JSON as `key=value,…`.
        return "pairs" if made == "json" and "nullable_kvs" in read.__globals__ else made
    if name in ("loads", "parse_dataclass"):
        return "json"
    if name.startswith("human_readable_int"):
        return "size"
    if re.fullmatch(r"(check_port|port|(non_?negative|positive|parse)_int)(_\w+)?", name):
        return "int"
    return "one"


def takes(action):
    if isinstance(action, argparse.BooleanOptionalAction):
        return "boolean"
    if action.nargs == 0:
        return "none"
    if action.nargs == "?":
        return "optional"
    if action.nargs in ("*", "+") or isinstance(action.nargs, int):
        return "many"
    if isinstance(action.nargs, Anything) or isinstance(action.type, Anything) and "json" in repr(action.type):
        raise Unknown(f"{action.option_strings}: {action.nargs!r} {action.type!r}")
    return kind(action.type)


def long_name(strings):
    return next((s for s in strings if s.startswith("--")), strings[0])


def refused(action):
    """Whether a flag that is still known only says that it is gone."""
    if not type(action).__name__.startswith("Deprecated"):
        return False
    try:
        action(argparse.ArgumentParser(), argparse.Namespace(), "", action.option_strings[0])
    except (ValueError, argparse.ArgumentError, argparse.ArgumentTypeError, SystemExit):
        return True
    except Exception:  # pylint: disable=broad-except
        return False
    return False


def instead(text):
    """The flags that a text of deprecation names."""
    if not DEPRECATED.search(text):
        return []
    found = INSTEAD.search(text)
    if not found:
        return []
    name = found.group(1)[2:].rstrip(",-")
    several = LIST.search(name)
    if several:
        return [LIST.sub(one, name) for one in several.group(1).split(",")]
    return [re.sub(r"[{},].*", "", name)]


def of_parser(parser, underscores=False):
    """The options of an argparse parser: name to what stands in the columns."""

    def dashed(text):
        return "--" + text[2:].replace("_", "-") if underscores and text.startswith("--") else text

    if len(parser._option_string_actions) < 3:  # pylint: disable=protected-access
        raise Unknown(f"{parser!r} has no options")
    found, spelled = {}, {}
    for text, action in parser._option_string_actions.items():  # pylint: disable=protected-access
        if not isinstance(text, str):
            raise Unknown(f"{text!r} is no name")
        # Some spellings are taken without being shown.
        spelled.setdefault(id(action), []).append(text)
    for action in parser._actions:  # pylint: disable=protected-access
        if not action.option_strings or id(action) not in spelled or refused(action):
            continue
        first = dashed(long_name(action.option_strings))
        how = takes(action)
        given = action.help if isinstance(action.help, str) else ""
        found[first.lstrip("-")] = {
            "aliases": sorted({dashed(text) for text in spelled[id(action)]} - {first}),
            "takes": how,
            "choices": [] if action.choices is None or how == "boolean" else words(first, action.choices, action.type),
            "help": given,
            "replaced": instead(given) or [n.lstrip("-") for n in [getattr(action, "new_flag", None)] if isinstance(n, str)],
            "excludes": set(),
        }
    for group in parser._mutually_exclusive_groups:  # pylint: disable=protected-access
        members = {dashed(long_name(a.option_strings)).lstrip("-") for a in group._group_actions if a.option_strings}
        for member in members & set(found):
            found[member]["excludes"] |= members - {member}
    for option in found.values():
        option["replaced_by"] = " ".join(name for name in option["replaced"] if name in found and found[name] is not option)
    return found
