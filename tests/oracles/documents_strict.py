"""Configurations of controllers that decode them strictly: a field that their structs do not have ends the start."""

import re

from documents_go import Structs

# time.ParseDuration
DURATION = {"type": "string", "pattern": r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"}
OTHER = {"metav1.Duration": DURATION, "resource.Quantity": {"quantity": True}}
INLINE = "type TypeMeta struct {\n}\n"


def configuration(texts):
    """`pkg/config/config.go` decodes with EnableStrict; a version of the API is a folder."""
    found = {}
    if not any("serializer.EnableStrict" in text for text in texts.values()):
        return found
    for folder in sorted({path.rsplit("/", 1)[0] for path in texts if "/config/v" in path}):
        own = [text for path, text in texts.items() if path.startswith(folder + "/")]
        group = re.search(r'Group: *"([\w.-]+)"|\+groupName=([\w.-]+)', "\n".join(own))
        structs = Structs([*own, INLINE], other=OTHER)
        if group and "Configuration" in structs.structs:
            found[(group.group(1) or group.group(2), folder.rsplit("/", 1)[1], "Configuration")] = structs.schema("Configuration")
    return found
