"""Runs just so much of a program's own source as builds its parser.

A name of a module is made when it is first asked for, by running the statements at the top of the module that bind it.
Modules that the release does not hold are stood for by `Anything`, unless the standard library has them; whoever reads
the parser tells where one of these got into a flag.
"""

import argparse
import ast
import builtins
import importlib
import sys
import types


class Anything:
    """Stands for what is not there: may be called, asked, subscripted, derived from and used as a decorator."""

    def __init__(self, name="anything", *_, **__):
        self.__dict__["_name"] = name

    def __call__(self, *given, **named):
        if len(given) == 1 and not named and isinstance(given[0], (type, types.FunctionType, staticmethod, classmethod)):
            return given[0]
        return Anything(self._name + "()")

    def __getattr__(self, name):
        if name == "__version__":
            return "99.0.0"
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Anything(f"{self._name}.{name}")

    def __setattr__(self, name, value):
        pass

    def __getitem__(self, key):
        if isinstance(key, int):
            raise IndexError(key)
        return Anything(f"{self._name}[]")

    def __mro_entries__(self, bases):
        return ()

    def __or__(self, other):
        return other

    __ror__ = __or__

    def __iter__(self):
        return iter(())

    def __contains__(self, item):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __bool__(self):
        return False

    def __len__(self):
        return 0

    def __hash__(self):
        return hash(self._name)

    def __eq__(self, other):
        return isinstance(other, Anything) and other._name == self._name

    def __repr__(self):
        return f"<{self._name}>"

    def __format__(self, spec):
        return repr(self)

    def _same(self, *_):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __mod__ = _same
    __neg__ = __and__ = __rand__ = __floordiv__ = __pow__ = __lshift__ = __rshift__ = __invert__ = _same

    def _no(self, *_):
        return False

    __lt__ = __gt__ = __le__ = __ge__ = _no

    def __int__(self):
        return 0

    __index__ = __int__

    def __float__(self):
        return 0.0

    def __fspath__(self):
        return ""


def bound(statement):
    """The names that a statement at the top of a module binds or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or (alias.name if isinstance(statement, ast.ImportFrom) else alias.name.split(".")[0]) for alias in statement.names}
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    target = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        target = next((each for each in targets if isinstance(each, (ast.Subscript, ast.Attribute))), None)
    if isinstance(target, ast.Call) and not isinstance(target.func, ast.Attribute):
        target = None
    while isinstance(target, (ast.Call, ast.Attribute, ast.Subscript)):
        target = target.func if isinstance(target, ast.Call) else target.value
    return names | ({target.id} if isinstance(target, ast.Name) else set())


def names_now(node):
    """The names that are looked up when a statement runs: bodies of functions wait until they are called."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parts = node.args.defaults + [d for d in node.args.kw_defaults if d] + getattr(node, "decorator_list", [])
        for part in parts:
            yield from names_now(part)
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from names_now(child)


class Bare(ast.NodeTransformer):
    """Drops the annotations of functions, and what classes tell their bases: these may not be there."""

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.keywords = [keyword for keyword in node.keywords if keyword.arg == "metaclass"]
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        for each in node.args.args + node.args.kwonlyargs + node.args.posonlyargs:
            each.annotation = None
        for each in (node.args.vararg, node.args.kwarg):
            if each:
                each.annotation = None
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


class Globals(dict):
    """The names of a module."""

    def __init__(self, program, name, text, package):
        super().__init__(__name__=name, __file__=name, __package__=package)
        self["__builtins__"] = {**vars(builtins), "__import__": self.imported}
        self.program, self.statements, self.busy, self.main = program, {}, set(), []
        self.tree = Bare().visit(ast.parse(text))
        self.future = "from __future__ import annotations" in text
        self.collect(self.tree.body)

    def collect(self, body):
        for statement in body:
            if isinstance(statement, ast.If):
                test = ast.unparse(statement.test)
                if test == "__name__ == '__main__'":
                    self.main = statement.body
                    continue
                if "TYPE_CHECKING" in test and not test.startswith("not "):
                    # What stands under the test is bound only where nothing else binds it.
                    self.collect(statement.orelse)
                    other = Globals.__new__(Globals)
                    dict.__init__(other)
                    other.statements, other.program = {}, self.program
                    other.collect(statement.body)
                    for name, found in other.statements.items():
                        self.statements.setdefault(name, found)
                    continue
                if "version_info" in test:
                    chosen = eval(test, {"sys": sys})  # pylint: disable=eval-used
                    self.collect(statement.body if chosen else statement.orelse)
                    continue
                if not any(isinstance(n, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)) for n in ast.walk(statement)):
                    self.add(statement)
                    continue
                self.collect(statement.orelse)
                self.collect(statement.body)
            elif isinstance(statement, ast.Try):
                for handler in statement.handlers:
                    self.collect(handler.body)
                self.collect(statement.orelse)
                self.collect(statement.body)
            elif isinstance(statement, ast.With):
                self.collect(statement.body)
            else:
                self.add(statement)

    def add(self, statement):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute) and isinstance(statement.value, ast.Constant):
            # It closes what the statements before it have built.
            return
        binds = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        fresh = isinstance(statement, binds)
        if isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], (ast.Name, ast.Tuple)):
            fresh = False
        for name in bound(statement):
            if fresh and name not in names_now(statement):
                self.statements[name] = [statement]
            else:
                self.statements.setdefault(name, []).append(statement)

    def __missing__(self, name):
        path = f"{self['__name__']}.{name}"
        if path in self.program.instead:
            self[name] = self.program.instead[path]
            return self[name]
        if name not in self.statements or name in self.busy:
            if name == "__file__":
                return path
            star = next((s for s in self.tree.body if isinstance(s, ast.ImportFrom) and s.names[0].name == "*"), None)
            if star and not hasattr(builtins, name):
                found = self.program.module(self.absolute(star))
                if isinstance(found, Module) and found.has(name):
                    return getattr(found, name)
            raise KeyError(name)
        self.busy.add(name)
        try:
            for statement in self.statements[name]:
                self.run(statement)
        finally:
            self.busy.discard(name)
        if name not in self:
            raise KeyError(name)
        return self[name]

    def imported(self, name, _globals=None, _locals=None, wanted=(), level=0):
        """What an import in the body of a function finds."""
        whole = self.absolute(ast.ImportFrom(name, [], level))
        if self.program.instead.get(whole) is ImportError:
            raise ImportError(whole)
        return self.program.module(whole if wanted else whole.split(".")[0])

    def absolute(self, statement):
        base = statement.module or ""
        if statement.level:
            parts = self["__package__"].split(".")
            base = ".".join(parts[: len(parts) - statement.level + 1] + ([base] if base else []))
        return base

    def run(self, statement):
        if isinstance(statement, ast.ImportFrom):
            source = self.program.module(self.absolute(statement))
            for alias in statement.names:
                if alias.name != "*":
                    self[alias.asname or alias.name] = self.program.member(source, self.absolute(statement), alias.name)
            return
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                whole = self.program.module(alias.name)
                self[alias.asname or alias.name.split(".")[0]] = whole if alias.asname else self.program.module(alias.name.split(".")[0])
            return
        for name in set(names_now(statement)):
            try:
                self[name]
            except KeyError:
                pass
        if isinstance(statement, ast.ClassDef) and self["__name__"] in self.program.modules:
            # Annotations that are text are looked up in the module itself.
            vars(self.program.modules[self["__name__"]]).update({k: v for k, v in self.items() if not k.startswith("__")})
        tree = ast.Module([statement], [])
        flags = 0x1000000 if self.future else 0
        code = compile(ast.fix_missing_locations(tree), self["__name__"], "exec", flags=flags, dont_inherit=True)
        try:
            exec(code, self)  # pylint: disable=exec-used
        except Parsed:
            raise
        except Exception as error:  # pylint: disable=broad-except
            if self.program.strict:
                raise
            if isinstance(statement, ast.Expr) and isinstance(error, NameError):
                # What it is about is being made just now.
                return
            self.program.failed.append((self["__name__"], statement.lineno, repr(error)[:200]))
            for name in bound(statement):
                self.setdefault(name, Anything(f"{self['__name__']}.{name}"))


class Module(types.ModuleType):
    """A module of the release."""

    def __init__(self, program, name, names):
        super().__init__(name)
        self.__dict__["_program"], self.__dict__["_names"] = program, names

    def has(self, name):
        try:
            self._names[name]
        except KeyError:
            return False
        return True

    def __getattr__(self, name):
        try:
            return self._names[name]
        except KeyError:
            whole = f"{self.__name__}.{name}"
            if name.startswith("__"):
                raise AttributeError(name) from None
            return self._program.module(whole)


class Program:
    """The modules of one release. `instead` holds what stands for a module or for one of its names."""

    def __init__(self, release, instead=None, root="", strict=False):
        self.release, self.instead, self.root, self.strict = release, instead or {}, root, strict
        self.modules, self.failed = {}, []
        for name in [name for name, module in sys.modules.items() if isinstance(module, Module)]:
            del sys.modules[name]

    def module(self, name):
        if name in self.instead:
            return self.instead[name]
        if name in self.modules:
            return self.modules[name]
        path = self.root + name.replace(".", "/")
        for file, package in ((f"{path}/__init__.py", name), (f"{path}.py", name.rpartition(".")[0])):
            text = self.release.read(file) if file in self.release.listed() else None
            if text is not None:
                self.modules[name] = Module(self, name, Globals(self, name, text, package))
                # Dataclasses look up the module of a class whose annotations are text.
                sys.modules[name] = self.modules[name]
                return self.modules[name]
        made = Anything(name)
        if name.split(".")[0] in sys.stdlib_module_names:
            try:
                made = importlib.import_module(name)
            except ImportError:
                pass
        self.modules[name] = made
        return made

    def member(self, source, name, member):
        whole = f"{name}.{member}"
        if whole in self.instead:
            return self.instead[whole]
        if isinstance(source, Module):
            return getattr(source, member)
        if isinstance(source, types.ModuleType):
            return getattr(source, member, None) if hasattr(source, member) else Anything(whole)
        return getattr(source, member)


class Parsed(Exception):
    """A program came to where it reads its command line."""


def caught(run, *given):
    """The parser with which a function reads the command line."""

    def stop(parser, *_, **__):
        raise Parsed(parser)

    kept = argparse.ArgumentParser.parse_args, argparse.ArgumentParser.parse_known_args
    argparse.ArgumentParser.parse_args = argparse.ArgumentParser.parse_known_args = stop
    try:
        run(*given)
    except Parsed as parsed:
        return parsed.args[0]
    finally:
        argparse.ArgumentParser.parse_args, argparse.ArgumentParser.parse_known_args = kept
    raise LookupError("it reads no command line")


def run_main(module):
    """Runs what a module does when it is the program."""
    names = module._names  # pylint: disable=protected-access
    for statement in names.main:
        names.run(statement)
