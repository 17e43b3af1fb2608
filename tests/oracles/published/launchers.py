"""Launchers of training and serving that are written in Python."""

import argparse
import ast

from . import clicks, fakes, release
from .lazy import Anything, Program, caught
from .options import Unknown, of_parser
from .programs import checked, program


def modules(of, **more):
    return Program(of, {**fakes.COMMON, **clicks.MODULES, **more})


@program("torchrun", "s3303", "prefixes script")
def torchrun():
    for of in release.packages("torch", since="1.9"):
        made = modules(of, shtab=ImportError)
        parser = made.module("torch.distributed.run").get_args_parser()
        checked(made, of, "torch")
        yield of.version, of_parser(parser)


@program("accelerate launch", "s3304", "prefixes script")
def accelerate():
    for of in release.packages("accelerate", since="0.5"):
        made = modules(of)
        parser = made.module("accelerate.commands.launch").launch_command_parser()
        checked(made, of, "accelerate")
        yield of.version, of_parser(parser)


@program("deepspeed", "s3305", "prefixes script")
def deepspeed():
    for of in release.packages("deepspeed", since="0.8"):
        made = modules(of)
        parser = caught(made.module("deepspeed.launcher.runner").parse_args)
        checked(made, of, "deepspeed")
        yield of.version, of_parser(parser)


def ray_command(path, command):
    for of in release.packages("ray", since="2.0"):
        made = modules(of, **{"ray.autoscaler._private.cli_logger.cf": Anything("cf"), "colorful": Anything("colorful")})
        found = getattr(made.module(path), command)
        checked(made, of, "ray")
        yield of.version, clicks.of_command(found)


@program("ray start", "s3306")
def ray_start():
    return ray_command("ray.scripts.scripts", "start")


@program("serve run", "s3307")
def serve_run():
    return ray_command("ray.serve.scripts", "run")


@program("horovodrun", "s3308", "prefixes script")
def horovodrun():
    for of in release.packages("horovod", since="0.20"):
        made = modules(of)
        parser = caught(made.module("horovod.runner.launch").parse_args)
        checked(made, of, "horovod")
        yield of.version, of_parser(parser)


@program("lmdeploy serve api_server", "s3309", "prefixes")
def lmdeploy():
    for of in release.packages("lmdeploy", since="0.1"):
        made = modules(of)
        serve = made.module("lmdeploy.cli.serve").SubCliServe
        if not hasattr(serve, "add_parser_api_server") and of.version < "0.2":
            continue
        serve.subparsers = argparse.ArgumentParser().add_subparsers()
        serve.add_parser_api_server()
        checked(made, of, "lmdeploy")
        found = of_parser(serve.subparsers.choices["api_server"])
        # The levels are those of the logging module, to which other modules add.
        found["log-level"]["choices"] = []
        yield of.version, found


@program("xinference-local", "s3321")
def xinference():
    for of in release.packages("xinference", since="0.2"):
        made = modules(of)
        if of.read("xinference/deploy/cmdline.py") is None or "\ndef local(" not in of.read("xinference/deploy/cmdline.py"):
            continue
        found = made.module("xinference.deploy.cmdline").local
        checked(made, of, "xinference")
        yield of.version, clicks.of_command(found)


def typer_function(of, paths, name):
    """The flags that typer makes of the parameters of a function; None when there is no such function."""
    for path in paths:
        if path not in of.listed():
            continue
        for node in ast.walk(ast.parse(of.read(path))):
            if isinstance(node, ast.FunctionDef) and node.name == name and node.decorator_list:
                return typer_flags(node)
    return None


def typer_flags(function):
    found = {"help": {"aliases": [], "takes": "none"}}
    for each in function.args.args + function.args.kwonlyargs:
        kind = ast.unparse(each.annotation).strip("'\"")
        flag = each.arg.replace("_", "-")
        takes = {"bool": "boolean", "int": "int", "float": "float"}.get(kind.removeprefix("list[").rstrip("]"), "one")
        found[flag] = {"aliases": [f"--no-{flag}"] if takes == "boolean" else [], "takes": takes}
    for given in [*function.args.defaults, *function.args.kw_defaults]:
        for node in ast.walk(given) if given else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("-"):
                raise Unknown(f"{function.name}: a parameter names its flag {node.value}")
    for option in found.values():
        option.update(choices=[], help="", excludes=set(), replaced_by="")
    return found


def infinity(command):
    for of in release.packages("infinity-emb"):
        found = typer_function(of, ("infinity_emb/cli.py", "infinity_emb/infinity_server.py"), command)
        if found:
            yield of.version, found


@program("infinity_emb v1", "s3322")
def infinity_v1():
    return infinity("v1")


@program("infinity_emb v2", "s3322")
def infinity_v2():
    return infinity("v2")
