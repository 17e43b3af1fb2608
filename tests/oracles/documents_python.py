"""Modules out of wheels, imported without what they need: a package that is not at hand is replaced by a stand-in."""

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from unittest import mock


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the texts, and something for all others that are not there."""

    def __init__(self, texts, real):
        self.texts = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): text for path, text in texts.items()}
        self.own = {path.split("/")[0] for path in texts}
        self.real, self.made = real, set()

    def find_spec(self, name, _path=None, _target=None):
        top = name.split(".")[0]
        if top in sys.stdlib_module_names or top in self.real:
            return None
        # Of the package itself only the modules that are asked for are run.
        return importlib.machinery.ModuleSpec(name, self, is_package=name not in self.texts)

    def create_module(self, spec):
        self.made.add(spec.name)
        if spec.name in self.texts or spec.name in self.own or any(known.startswith(spec.name + ".") for known in self.texts):
            return types.ModuleType(spec.name)
        return mock.MagicMock(__name__=spec.name, __path__=[], __spec__=spec, __all__=[])

    def exec_module(self, module):
        if isinstance(module, types.ModuleType):
            module.__path__, module.__file__ = [], module.__name__
            text = self.texts.get(module.__name__)
            if text is None:
                module.__getattr__ = lambda name: self.standing_in(module.__name__, name)
            else:
                # pylint: disable-next=exec-used
                exec(compile(text, module.__name__, "exec", dont_inherit=True), module.__dict__)


    def standing_in(self, module, name):
        """What a module that is not read has under a name."""
        within = f"{module}.{name}"
        if name == "__version__":
            return "0"
        if name.startswith("__"):
            raise AttributeError(name)
        if within in self.texts or any(known.startswith(within + ".") for known in self.texts):
            return importlib.import_module(within)
        return mock.MagicMock(__name__=name)


@contextlib.contextmanager
def importing(texts, real=()):
    """Within it the modules of the texts can be imported, and those of `real` as they are installed."""
    finder = Finder(texts, set(real))
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module
    finally:
        sys.meta_path.remove(finder)
        for name in finder.made:
            sys.modules.pop(name, None)


def classes(texts):
    """The classes of modules by their names: fields, constants and bases."""
    trees = [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    found = {}
    for node in trees:
        name = lambda target: target.id if isinstance(target, ast.Name) else None
        fields = [name(line.target) for line in node.body if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line.annotation)]
        values = {name(line.targets[0]): line.value.value for line in node.body if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)}
        before = found.get(node.name, ([], {}, []))
        bases = [ast.unparse(base).rsplit(".", 1)[-1] for base in node.bases]
        found[node.name] = ([*before[0], *fields], {**before[1], **values}, [*before[2], *bases])
    return found


def fields(found, name):
    """The fields of a class with those that it inherits from classes that were read."""
    own, _, bases = found.get(name, ([], {}, []))
    return [field for base in bases for field in fields(found, base)] + own
