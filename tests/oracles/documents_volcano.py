"""The configuration of Volcano's scheduler: with what this refuses, the scheduler stays with its default configuration."""

import re

from documents_go import Structs
from documents_gpu import CONVERTED, opened


def scheduler(texts):
    """`UnmarshalSchedulerConf`: other fields are ignored; each action is one that is registered."""
    source = "\n".join(texts.values())
    registered = set(re.findall(r"framework\.RegisterAction\((\w+)\.New\(\)\)", source))
    names = set()
    for package in registered:
        own = "\n".join(text for path, text in texts.items() if f"/actions/{package}/" in path)
        name = re.search(r'\) Name\(\) string \{\s*return (?:"(\w+)"|(\w+))\s*\}', own)
        stated = name and (name.group(1) or re.search(rf'\b{name.group(2)} *= *"(\w+)"', own).group(1))
        if not stated:
            return {}
        names.add(stated)
    whole = opened(Structs(texts.values(), tag="yaml").schema("SchedulerConfiguration"))
    if names and "failed to find Action" in source:
        one = f"\\s*({'|'.join(sorted(names))})\\s*"
        whole["properties"]["actions"] = {**CONVERTED, "type": ["string"], "pattern": f"^{one}(,{one})*$"}
    tier = whole["properties"]["tiers"]["items"]
    if "proportion and drf with hierarchy enabled conflicts" in source:
        drf = "self.plugins.exists(p, p.name == 'drf' && has(p.enableHierarchy) && p.enableHierarchy)"
        both = f"!has(self.plugins) || !({drf} && self.plugins.exists(p, p.name == 'proportion'))"
        tier["rules"] = [{"rule": both, "message": "proportion and drf with enableHierarchy exclude each other"}]
    return {"VolcanoSchedulerConfig": whole}
