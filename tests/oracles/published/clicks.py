"""Stands for the package click: keeps what a command takes."""

import re
import types

from .fakes import module
from .lazy import Anything
from .options import Unknown, words


class Command:
    """A command or group with its options."""

    def __init__(self, run=None, name=None, *_, **__):
        self.run, self.name, self.commands = run, name, {}
        self.options = list(getattr(run, "options", []))
        self.__dict__.update(params=[], callback=run, __name__=getattr(run, "__name__", name))

    def command(self, name=None, *_, **__):
        def made(run):
            command = run if isinstance(run, Command) else Command(run, name)
            self.commands[name if isinstance(name, str) else getattr(run, "__name__", None)] = command
            return command

        if callable(name):
            return Command(name)
        return made

    group = command

    def add_command(self, command, name=None):
        self.commands[name] = command

    def __call__(self, *given, **named):
        return None

    def __getattr__(self, name):
        return Anything(name)


def command(name=None, *_, **__):
    if callable(name) and not isinstance(name, type):
        return Command(name)
    return lambda run: run if isinstance(run, Command) else Command(run, name)


def option(*names, **said):
    def made(run):
        if isinstance(run, (types.FunctionType, Command)):
            # Decorators may be shared; the list belongs to what is decorated.
            run.options = [*getattr(run, "options", []), (names, said)]
        return run

    return made


def argument(*_, **__):
    return lambda run: run


def version_option(*_, **__):
    return option("--version", is_flag=True)


class Choice:
    def __init__(self, choices, *_, **__):
        self.choices = choices


class Path:
    def __init__(self, *_, **__):
        pass


class Named:
    def __init__(self, name):
        self.name = name

    def __call__(self, *_, **__):
        return self


class ParamType:
    name = "text"


class Group(Command):
    pass


CLICK = module(
    "click", command=command, group=command, option=option, argument=argument, version_option=version_option, Choice=Choice,
    Path=Path, File=Path, INT=int, FLOAT=float, STRING=str, BOOL=bool, IntRange=lambda *_, **__: int, FloatRange=lambda *_, **__: float,
    ParamType=ParamType, Command=Command, Group=Group, pass_context=lambda run: run, Option=Path, ClickException=Exception,
    UsageError=Exception, BadParameter=Exception, help_option=lambda *_, **__: lambda run: run, confirmation_option=lambda *_, **__: option("--yes", is_flag=True),
)
MODULES = {"click": CLICK, "colorama": Anything("colorama")}


def of_command(made, help_flag=True):
    """The options of a command: name to what stands in the columns."""
    found = {}
    if not isinstance(made, Command) or not made.options:
        raise Unknown(f"{made!r} has no options")
    for names, said in made.options:
        spelled, negative = [], []
        for text in names:
            if text.startswith("-"):
                positive, _, no = text.partition("/")
                spelled.append(positive.strip())
                if no:
                    negative.append(no.strip())
        first = next((text for text in spelled if text.startswith("--")), spelled[0])
        read = said.get("type")
        flag = said.get("is_flag") or said.get("count") or "flag_value" in said or (read is None and isinstance(said.get("default"), bool) and negative)
        how = "boolean" if negative else "none" if flag else "one"
        if how == "one" and (read in (int, float) or isinstance(said.get("default"), (int, float)) and read is None and not isinstance(said.get("default"), bool)):
            how = (read or type(said["default"])).__name__
        if how == "one" and (said.get("nargs", 1) != 1):
            how = "many"
        found[first.lstrip("-")] = {
            "aliases": sorted({*spelled, *negative} - {first}),
            "takes": how,
            "choices": words(first, read.choices) if isinstance(read, Choice) and read.choices else [],
            "help": str(said.get("help") or ""),
            "excludes": set(),
            "replaced_by": "",
        }
    if help_flag:
        found["help"] = {"aliases": [], "takes": "none", "choices": [], "help": "", "excludes": set(), "replaced_by": ""}
    return found
