"""The components of torchtune that a recipe's configuration names, and the arguments that each takes."""

import ast
import collections
import sys

OPEN = object()


class Modules:
    """The modules of one release: what each name in them leads to. Nothing is run."""

    def __init__(self, texts):
        self.trees = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): ast.parse(text) for path, text in texts.items()}
        self.packages = {path.removesuffix("/__init__.py").replace("/", ".") for path in texts if path.endswith("/__init__.py")}
        self.names = {module: self.names_of(module, tree.body) for module, tree in self.trees.items()}

    def names_of(self, module, body):
        """Names at the top of a module: nodes, and (module, name) of what is imported."""
        found = {}
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                found[node.target.id] = node.value
            elif isinstance(node, ast.ImportFrom):
                base = self.base(module, node)
                found.update({alias.asname or alias.name: (base, alias.name) for alias in node.names})
            elif isinstance(node, (ast.If, ast.Try)):
                inner = node.body + node.orelse + [line for handler in getattr(node, "handlers", ()) for line in handler.body]
                found.update(self.names_of(module, inner))
        return found

    def base(self, module, node):
        if not node.level:
            return node.module
        parts = module.split(".") if module in self.packages else module.split(".")[:-1]
        return ".".join(parts[: len(parts) - node.level + 1] + ([node.module] if node.module else []))

    def lead(self, module, name, seen=()):
        """The module and the node that a name of a module leads to; None where it is of another package."""
        if (module, name) in seen or module not in self.names:
            return None
        found = self.names[module].get(name)
        if isinstance(found, tuple):
            return self.lead(*found, seen + ((module, name),))
        return (module, found) if found is not None else None

    def arguments(self, module, node, seen=()):
        """The names that a callable takes as keywords; OPEN where that cannot be told; None for what is none."""
        if isinstance(node, ast.FunctionDef):
            own = node.args
            return OPEN if own.kwarg else {arg.arg for arg in own.args + own.kwonlyargs} - {"self", "cls"}
        if isinstance(node, ast.ClassDef):
            inner = {line.name: line for line in node.body if isinstance(line, ast.FunctionDef)}
            if "__new__" in inner or any("dataclass" in ast.unparse(one) for one in node.decorator_list):
                return OPEN
            if "__init__" in inner:
                return self.arguments(module, inner["__init__"])
            for base in node.bases:
                led = isinstance(base, ast.Name) and (module, base.id) not in seen and self.lead(module, base.id)
                if led and isinstance(led[1], ast.ClassDef):
                    return self.arguments(*led, seen + ((module, base.id),))
            return OPEN
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("partial", "functools.partial") and isinstance(node.args[0], ast.Name):
            led = self.lead(module, node.args[0].id)
            return self.arguments(*led, seen) if led else OPEN
        return OPEN if isinstance(node, ast.Call) else None

    def components(self):
        public = {module: names for module, names in self.names.items() if "._" not in module}
        for module, names in public.items():
            for name, node in names.items():
                if name.startswith("_"):
                    continue
                # What is of another package takes what that says.
                led = self.lead(module, name)
                source = node[0].split(".")[0] if isinstance(node, tuple) else "torchtune"
                taken = self.arguments(*led) if led else None if source in sys.stdlib_module_names else OPEN
                if taken is not None:
                    yield f"{module}.{name}", taken


TAKEN = {}


def taken_by(texts):
    """What each component takes in any release; it is told once."""
    releases = collections.defaultdict(dict)
    for path, text in () if TAKEN else texts.items():
        version, _, rest = path.partition("/")
        if rest.startswith("torchtune/") and not rest.startswith("torchtune/_cli/"):
            releases[version][rest] = text
    for own in releases.values():
        for name, arguments in Modules(own).components():
            before = TAKEN.get(name, set())
            TAKEN[name] = OPEN if OPEN in (before, arguments) else before | arguments
    return TAKEN


def components(texts):
    """A configuration does not say which release it is for: a component takes what it takes in any."""
    for name, arguments in taken_by(texts).items():
        closed = {} if arguments is OPEN else {"additionalProperties": False}
        names = () if arguments is OPEN else sorted(arguments)
        yield ("", "", name), {"type": "object", "properties": {"_component_": {}, **{one: {} for one in names}}, **closed}
