"""Google's Cluster Toolkit: the fields of a blueprint, and the settings that the modules of its releases take."""

import collections
import re

from documents_go import Structs
from documents_helm import scalars, walked

UNTAGGED = re.compile(r"(?m)^\t([A-Z]\w*)([ \t]+[\w.\[\]*]+)[ \t]*(?://.*)?$")
UNNAMED = re.compile(r'(?m)^(\t([A-Z]\w*)[ \t]+[\w.\[\]*]+[ \t]+`yaml:")(,omitempty)')
VARIABLE = re.compile(r'(?m)^\s*variable\s+"?([\w-]+)"?\s*\{')
MODULE = re.compile(r"[\d.]+/((?:community/)?modules/.+)/[^/]+\.(?:tf|pkr\.hcl)")


SETTINGS = collections.defaultdict(set)


def settings(texts):
    """The settings of each module, of all releases together; they are read once."""
    for path, text in () if SETTINGS else texts.items():
        module = MODULE.fullmatch(path)
        if module:
            SETTINGS[module.group(1)].update(VARIABLE.findall(text))
    return SETTINGS


def blueprint(texts):
    """The decoder takes known fields only; so does each module of its settings, of which none is asked by a release of all.

    Which release a blueprint is for is not written in it: the settings of a module are those of all releases together.
    """
    own = [text for path, text in texts.items() if path.startswith("pkg/")]
    if not re.search(r"KnownFields\(true\)|UnmarshalStrict", "".join(own)):
        return
    # Without a tag a field has its name in small letters.
    tagged = [UNTAGGED.sub(lambda m: f'\t{m.group(1)}{m.group(2)} `yaml:"{m.group(1).lower()}"`', text) for text in own]
    tagged = [UNNAMED.sub(lambda m: m.group(1) + m.group(2).lower() + m.group(3), text) for text in tagged]
    schema = Structs(tagged, tag="yaml", other={"Dict": {}, "ModuleIDs": {}, "[]modulereader.OutputInfo": {}, "ModuleKind": {}}).schema("Blueprint")
    yield ("", "", "blueprint"), walked(schema, scalars)
    for name, taken in settings(texts).items():
        if taken:
            yield ("", "", name), {"type": "object", "properties": {one: {} for one in sorted(taken)}, "additionalProperties": False}
