"""The CDK bindings of Terraform providers, which state the schema of each resource as the provider exports it.

Declarations (`index.d.ts`) have what may be set, with its type and whether it must be; what a provider alone decides stands in
the comments of their code (`index.js`). A resource is one schema in the form of `documents_schema.py`, with three keys more:

    block       it is written as a block
    argument    it is written as an argument; lists of objects of the older framework are written as either
    computed    the provider decides it, and nobody sets it

Texts have no type: Terraform converts numbers and truth values, and what is encoded as a text is read as what it encodes.
"""

import io
import re
import subprocess
import tarfile

# What Terraform converts is taken.
TYPES = {
    "string": {"argument": True},
    "number": {"argument": True, "type": ["number", "string"], "pattern": r"^\s*[-+]?\.?[0-9]"},
    "boolean": {"argument": True, "type": ["boolean", "string"], "enum": ["true", "false", "0", "1"]},
}
# A file, or a directory of some; older releases have them by service.
FILE = re.compile(r"package/lib/(?:[\w-]+/)?(?P<of>(?!index|structs)[\w-]+?)(?:-structs)?(?:/index|(?:/index-structs|(?<=-structs))/structs\d+)?\.(?:d\.ts|(?P<of_code>js))")
PROPERTY = re.compile(r"/\*\*(?P<said>(?:(?!\*/).)*?)\*/\s*readonly (?P<name>\w+)(?P<optional>\?)?: (?P<type>[^;{]+|\{[^}]*\}[^;]*);", re.S)
INTERFACE = re.compile(r"export interface (\w+)(?: extends [^{]+)? \{\n(.*?)\n\}\n", re.S)
CLASS = re.compile(r"^(?:export )?class (\w+) extends (.*?)^\}", re.S | re.M)
COMPUTED = re.compile(r"// (\w+) - computed: true, optional: false, required: false")


class Bindings:
    """One release of a provider."""

    def __init__(self, provider, release, cache):
        name = f"cdktf-provider-{provider}-{release}.tgz"
        try:
            self.file = tarfile.open(f"{cache}/{name}")
        except FileNotFoundError:
            subprocess.run(["npm", "pack", "-s", f"@cdktf/provider-{provider}@{release}"], cwd=cache, check=True, stdout=subprocess.DEVNULL)
            self.file = tarfile.open(f"{cache}/{name}")
        self.files = {}

    def read(self, resources):
        """The schemas of resources, by their names; those that this release does not have are left out."""
        wanted = {of.replace("_", "-"): name for name in resources for of in (name, name.split("_", 1)[1])}
        texts = {}
        for member in self.file:
            found = FILE.fullmatch(member.name)
            if found and found["of"] in wanted:
                text = io.TextIOWrapper(self.file.extractfile(member), encoding="utf-8").read()
                texts.setdefault(wanted[found["of"]], {}).setdefault("js" if found["of_code"] else "ts", []).append(text)
        return {name: resource("\n".join(found["ts"]), "\n".join(found["js"])) for name, found in texts.items()}


def resource(declared, code):
    """The schema of one resource."""
    interfaces = {name: [each.groupdict() for each in PROPERTY.finditer(body)] for name, body in INTERFACE.findall(declared)}
    root = next(name for name in interfaces if re.search(rf"interface {name} extends cdktf.TerraformMetaArguments", declared))
    computed = {}
    for name, body in CLASS.findall(code):
        of = root if body.startswith("cdktf.TerraformResource") else name.removesuffix("OutputReference")
        computed.setdefault(of, []).extend(COMPUTED.findall(body))
    return structure(root, interfaces, computed)


def structure(name, interfaces, computed):
    properties, required = {}, []
    for one in interfaces[name]:
        called = re.search(r"\{@link \S+ \w+#(\w+)\}", one["said"])
        if not called:
            continue
        own = called.group(1)
        is_block = re.search(rf"^\s*\* {own} block\s*$", one["said"], re.M)
        properties[own] = value(one["type"].strip(), is_block, interfaces, computed)
        if not one["optional"]:
            required.append(own)
    for own in computed.get(name, ()):
        properties.setdefault(own, {"computed": True})
    out = {"type": ["object"], "properties": properties, "additional": False}
    return {**out, "required": sorted(required)} if required else out


def value(written, is_block, interfaces, computed):
    """The schema of a type."""
    written = re.sub(r"\s*\|\s*cdktf\.IResolvable", "", written).strip().strip("()")
    mapped = re.fullmatch(r"\{\s*\[key: string\]: (.*?);?\s*\}", written, re.S)
    if mapped:
        return {"argument": True, "type": ["object"], "additional": value(mapped.group(1), False, interfaces, computed)}
    if written.endswith("[]"):
        items = value(written[:-2], False, interfaces, computed)
        own = "block" if is_block else "argument"
        either = items.get("properties") and not is_block
        return {"type": ["array"], "items": items, **({} if either else {own: True})}
    if written in interfaces:
        one = structure(written, interfaces, computed)
        return {"type": ["array"], "items": one, "maxItems": 1, "block": True} if is_block else {"argument": True, **one}
    return TYPES.get(written, {})
