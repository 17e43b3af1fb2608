"""Files of NVIDIA's device plugin and MIG manager: the types of their structs, and what their own decoders refuse.

Where a decoder is written by hand its refusals stand here by what it says of them; a release whose source does not say so
does not refuse it.
"""

from documents_go import Structs

TEXT, TRUTH, WHOLE = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
# sigs.k8s.io/yaml makes text of what stands where a struct has text, but not below a decoder of its own.
CONVERTED = {"type": ["string", "number", "boolean"]}
# NewResourceName: with or without nvidia.com/ before it, the name is a DNS subdomain.
NAME = {"type": "string", "maxLength": 63, "pattern": r"^(nvidia\.com/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"}
# parseMigProfile of go-nvlib.
PROFILE = r"^([0-9]+c[.])?[0-9]+g[.][0-9]+gb([-+][A-Za-z]([A-Za-z0-9.]*[A-Za-z0-9])?(,[A-Za-z]([A-Za-z0-9.]*[A-Za-z0-9])?)*)?$"


def opened(schema):
    """A struct as it is decoded without strictness: other fields are ignored, and numbers are text where text is wanted."""
    if schema == TEXT:
        return CONVERTED
    schema = {key: value for key, value in schema.items() if key != "additionalProperties"}
    if "properties" in schema.get("items", {}):
        schema["items"] = opened(schema["items"])
    if "properties" in schema:
        schema = {**schema, "preserve": True, "properties": {name: opened(child) for name, child in schema["properties"].items()}}
    return schema


def device_plugin(texts):
    """api/config/v1 of the device plugin: `yaml.Unmarshal` ignores fields that it does not know."""
    source = "\n".join(texts.values())

    def refused(says, schema):
        return schema if says in source else {}

    index = refused("unsupported type for device", {"type": ["integer", "string"], "minimum": 0, "pattern": "^([0-9]+(:[0-9]+)?|(GPU|MIG)-.+)$"})
    devices = {"type": ["string", "integer", "array"], "items": index}
    devices |= refused("the only valid string input is 'all'", {"enum": ["all"]} if "count of devices must be > 0" not in source else {"pattern": "^all$"})
    devices |= refused("count of devices must be > 0", {"minimum": 1})
    needed = [name for name, says in (("name", "no resource name specified"), ("replicas", "no replicas specified")) if says in source]
    replicas = WHOLE | refused("number of replicas must be >= 2", {"minimum": 2})
    one = {"name": NAME, "rename": NAME, "devices": devices, "replicas": replicas}
    one = {"type": "object", "properties": one, "required": needed, "preserve": True}
    shared = {"renameByDefault": TRUTH, "failRequestsGreaterThanOne": TRUTH, "resources": {"type": "array", "items": one}}
    shared = {"type": "object", "properties": shared, "preserve": True}
    if '"no resources specified"' in source:
        shared = {**shared, "required": ["resources"]}
        shared["properties"]["resources"]["minItems"] = 1
    both = {"type": "object", "properties": {"pattern": {"type": ["string"]}, "name": NAME}, "preserve": True}
    both |= refused("resources must have a 'pattern' field set", {"required": ["name", "pattern"]})
    strategies = refused("invalid deviceListStrategy", {"type": ["string", "array"], "items": TEXT})
    words = "|infinite" if '"infinite"' in source else ""
    duration = rf"^([-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*|[-+]?0{words})$"
    # The decoder of what is shared has had two names.
    other = {"ReplicatedResources": shared, "TimeSlicing": shared, "Resource": both, "deviceListStrategyFlag": strategies or TEXT}
    other["Duration"] = refused("invalid duration", {"type": ["string", "number"], "pattern": duration})
    structs = Structs(texts.values(), other=other)
    config = opened(structs.schema("Config"))
    config["properties"]["version"] = {"type": "string"} | refused("unknown version", {"enum": ["v1"]})
    return {"DevicePluginConfig": config}


def mig_parted(texts):
    """api/spec/v1 of mig-parted: `UnmarshalJSON` refuses fields that it does not know, and by hand all else."""
    source = "\n".join(texts.values())
    for says in ("unexpected field: %v", "missing required field: %v", "invalid string input for", "unknown version", "at least one entry in"):
        if says not in source:
            return {}
    profiles = {"type": "object", "additionalProperties": {**WHOLE, "minimum": 0}}
    profiles["rules"] = [{"rule": f"self.all(profile, profile.matches('{PROFILE}'))", "message": "each name is one of a MIG profile, like 1g.10gb, 1g.10gb+me or 1c.2g.20gb"}]
    if "all counts for all MigProfiles are 0" in source:
        profiles["rules"].append({"rule": "size(self) == 0 || self.exists(profile, self[profile] > 0)", "message": "at least one count has to be above 0"})
    one = {"device-filter": {"type": ["string", "array"], "items": TEXT}, "devices": {"type": ["string", "array"], "enum": ["all"], "items": WHOLE}}
    one |= {"mig-enabled": TRUTH, "mig-devices": profiles}
    one = {"type": "object", "additionalProperties": False, "properties": one, "required": ["devices", "mig-enabled"]}
    enabled, devices = "self.mig__dash__enabled", "has(self.mig__dash__devices)"
    one["rules"] = [
        {"rule": f"!{enabled} || {devices}", "message": "mig-devices has to be set where mig-enabled is true"},
        {"rule": f"{enabled} || !{devices} || size(self.mig__dash__devices) == 0", "message": "mig-devices must be empty where mig-enabled is false"},
    ]
    configs = {"type": "object", "minProperties": 1, "additionalProperties": {"type": "array", "minItems": 1, "items": one}}
    whole = {"version": {"type": "string", "enum": ["v1"]}, "mig-configs": configs}
    return {"MigConfig": {"type": "object", "additionalProperties": False, "properties": whole, "required": ["version"]}}
