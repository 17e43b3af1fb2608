"""What Helm and Helmfile refuse of the files that describe a chart and list releases."""

import re

from documents_go import Structs

SCALAR = {"type": ["string", "number", "boolean"]}
# What semver.NewVersion takes.
SEMVER = r"^v?[0-9]+(\.[0-9]+)?(\.[0-9]+)?(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$"
# What is held against a pattern, and how a release says so.
ALIAS = r"aliasNameFormat = regexp\.MustCompile\(\"([^\"]+)\"\)"
# A chart without apiVersion is loaded as one of v1, before it is looked at.
SAID = {
    "name": "chart.metadata.name is required",
    "version": "chart.metadata.version is required",
}


def scalars(part):
    """Numbers and booleans are made text where text is wanted, and a switch may be written in many ways."""
    if part.get("type") in ("string", "boolean", "number", "integer"):
        return {**part, **SCALAR}
    return part


def walked(schema, change):
    if isinstance(schema, list):
        return [walked(part, change) for part in schema]
    return change({key: walked(value, change) for key, value in schema.items()}) if isinstance(schema, dict) else schema


def chart(texts):
    """`Metadata.Validate`, when a chart is loaded. Fields that it does not know are passed over."""
    whole = "\n".join(texts.values())
    schema = walked(Structs(texts.values()).schema("Metadata"), scalars)
    schema = walked(schema, lambda part: {key: value for key, value in part.items() if key != "additionalProperties" or value})
    own = schema["properties"]
    schema["required"] = [field for field, said in SAID.items() if said in whole]
    if "chart.metadata.version %q is invalid" in whole:
        # What has no digit is filled in before Helm reads it.
        own["version"]["pattern"] = f"^[^0-9]+$|{SEMVER}"
    if "chart.metadata.type must be application or library" in whole:
        own["type"]["enum"] = ["", "application", "library"]
    if "chart.metadata.name %q is invalid" in whole:
        own["name"]["pattern"] = "^[^/]+$"
    alias = re.search(ALIAS, whole)
    own["dependencies"]["items"]["properties"]["alias"]["pattern"] = f"^$|{alias.group(1)}"
    yield ("", "", "chart"), schema


def helmfile(texts):
    """`StateCreator.Parse` decodes strictly: a field that no structure has ends the run. Values are taken as they come."""
    structs = Structs(texts.values(), tag="yaml")
    schema = structs.schema("ReleaseSetSpec")
    own = schema["properties"]
    # Two types are read by functions of their own.
    below = dict(structs.fields("SubHelmfileSpec"))
    below.update(structs.fields("SubhelmfileEnvironmentSpec"))
    own["helmfiles"] = {"type": "array", "items": {"type": ["object", *SCALAR["type"]], "properties": below, "additionalProperties": False}}
    if "defaultInherit" in own:
        own["defaultInherit"] = {}

    def change(part):
        part = scalars(part)
        names = part.get("properties")
        if isinstance(names, dict) and "inherit" in names:
            part = {**part, "properties": {**names, "inherit": {}}}
        return part

    yield ("", "", "helmfile"), walked(schema, change)
