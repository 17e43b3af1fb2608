#!/usr/bin/env python3
"""Compares what gpulint and the libraries of the API server say of objects.

    tests/oracles/cel/compare.py GPULINT "ORACLE CRDS" DOCUMENTS... [--stated FILE]

ORACLE is the program of this directory (`go build -mod=mod`); CRDS has the definitions of one release of each project, from the project
itself. GPULINT speaks of what breaks all releases that may serve: for the same question it is built from a work tree that
`one_release.py` cut down to that release, or FILE states the release, which is linted beside the documents. Every document of a kind of schemas/kinds is judged by itself. Prints how many both take and
refuse, the faults by class, why each that only one of the two tells may be so, and each that has no such reason.

Faults are the same where class and field are; for rules and forms the message or the field is enough, as a rule may name another field
than that of its object. Reasons:

    follows   from another fault that is told: what the nearest form lacks where none fits, what stands in a value that is refused as
              a whole, rules about an object with a value of a wrong type, which cannot be asked
    webhook   a field is missing, null or empty that a webhook may fill in or leave out
    language  a rule asks for a part of CEL that gpulint does not have
"""

import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from mutate import documents

KINDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "schemas", "kinds")
LANGUAGE = re.compile(r"[?:] *\{\}|timestamp\(|\bsemver\(")
RULES = {"unknown-field": "unknown", "required-field-missing": "required", "value-not-allowed": "value", "contract-violated": "rule"}
Fault = collections.namedtuple("Fault", "kind field message")


def dotted(field):
    """A path with keys of maps as names: a[b].c[0] is a.b.c[0]."""
    field = "" if field == "<nil>" else field
    return re.sub(r"\[([^\[\]]*[^\[\]\d][^\[\]]*)\]", r".\1", field).lstrip(".")


def ours(gpulint, folder):
    """What gpulint says of each file."""
    done = subprocess.run([gpulint, "check", "--all-kinds", "--isolated", "--format", "json", "--exit-zero", folder], capture_output=True, text=True)
    out = collections.defaultdict(list)
    for finding in json.loads(done.stdout)["diagnostics"]:
        kind = RULES.get(finding["rule"])
        says = finding["message"].split(": ", 1)[-1]
        if kind == "required":
            fields = re.sub(r" (is|are) missing$", "", says).split(", ")
        elif kind == "unknown":
            fields = [says.removeprefix("there is no field ")]
        elif kind:
            fields = [re.match(r"((?:[\w$/.~-]|\[\d+\])*)(?=:| is | has )|", says)[0]]
            fields = [""] if fields == ["the object"] else fields
        else:
            continue
        out[os.path.basename(finding["path"])] += [Fault(kind, dotted(field), says) for field in fields]
    return out


def theirs(oracle, folder):
    """What the oracle says of each file of a kind that it knows, and whether rules were asked in vain."""
    done = subprocess.run([*shlex.split(oracle), folder], capture_output=True, text=True, check=True)
    out = {}
    for said in map(json.loads, done.stdout.splitlines()):
        faults = []
        for fault in said["faults"] or []:
            kind, field, message = fault["class"], dotted(fault["field"]), fault.get("message", "")
            # The library says where in the text alone.
            where = re.search(r'"([^"]*)" must| in (spec[^ ]*)$', message.replace('\\"', '"')) if fault["field"] == "<nil>" else None
            faults.append(Fault(kind, dotted(where[1] or where[2]) if where else field, message))
        if not said.get("unserved"):
            out[os.path.basename(said["file"])] = faults
    return out


def same(our, their):
    near = our.field.startswith(their.field) or their.field.startswith(our.field)
    if our.kind == "rule" and their.kind == "duplicate":
        return their.field == our.field
    if our.kind == "rule":
        text = our.message.removeprefix(our.field + ": ")
        return their.kind in ("rule", "form", "rule-error") and (our.field == their.field or near and text in their.message)
    return our.kind == their.kind and our.field == their.field


def within(field, other):
    return not other or field == other or field.startswith((other + ".", other + "["))


def reason(who, fault, their, our, mutated, rules):
    """Why only one of the two tells a fault; nothing where it should not be."""
    if who == "oracle":
        if mutated and (fault.kind in ("required", "rule-error") or re.search(r'[vV]alue: "(null)?": ', fault.message)):
            return "webhook"
        if any(form.kind == "form" and form != fault and within(fault.field, form.field) for form in their):
            return "follows"
        if any(one.kind in ("value", "rule") and within(fault.field, one.field) and (one.kind == "value" or fault.kind == "form") for one in our):
            return "follows"
        if fault.kind == "unknown" and any(one.kind == "value" and one.field != fault.field and within(fault.field, one.field) for one in their):
            return "follows"
        if fault.kind == "rule-error" and any(one.kind in ("value", "required") for one in their):
            return "follows"
        if fault.kind.startswith("rule") and any(LANGUAGE.search(rule) for message, rule in rules if message in fault.message):
            return "language"
    if who == "gpulint" and fault.kind == "rule" and any(other.kind == "rule-error" or other.kind == "value" for other in their):
        return "follows"
    return ""


def known():
    """The kinds of schemas/kinds: whether a webhook may fill them in; and the rules with their messages."""
    kinds, rules = {}, set()
    for name in sorted(os.listdir(KINDS)):
        pack = json.load(open(os.path.join(KINDS, name), encoding="utf-8"))
        for kind in pack["kinds"]:
            kinds[f"{kind['group']}/{kind['version']}", kind["kind"]] = kind.get("mutated", False)
        rules |= {(rule.get("message", rule["rule"]), rule["rule"]) for node in pack["nodes"] for rule in node.get("rules", [])}
    return kinds, rules


def main():
    gpulint, oracle, *paths = sys.argv[1:]
    stated = paths.pop(paths.index("--stated") + 1) if "--stated" in paths else None
    paths = [path for path in paths if path != "--stated"]
    with tempfile.TemporaryDirectory() as folder:
        origin = {}
        kinds, rules = known()
        for number, doc in enumerate(documents(paths)):
            name = f"{number:06}.yaml"
            if (doc.get("apiVersion"), doc["kind"]) in kinds:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                    json.dump(doc, out, indent=1, ensure_ascii=False)
                origin[name] = doc
        judged = theirs(oracle, folder)
        if stated:
            shutil.copy(stated, os.path.join(folder, "stated.yaml"))
        said = ours(gpulint, folder)
    whole, faults, alone = collections.Counter(), collections.Counter(), []
    for name, their in sorted(judged.items()):
        doc, our = origin[name], said[name]
        whole[bool(our), bool(their)] += 1
        told = [("gpulint", one, any(same(one, other) for other in their)) for one in our]
        told += [("oracle", other, any(same(one, other) for one in our)) for other in their]
        for who, fault, met in told:
            if met and who == "gpulint":
                faults[fault.kind, "both"] += 1
            elif not met:
                why = reason(who, fault, their, our, kinds[doc["apiVersion"], doc["kind"]], rules)
                faults[fault.kind, f"{who} alone{why and ': '}{why}"] += 1
                beside = "" if (their if who == "gpulint" else our) else ", which the other takes"
                alone += [(why, f"{who} alone: {fault.kind} {name} {doc['kind']} {fault.field}: {fault.message}{beside}")]
    print(f"documents {len(judged)}: both take {whole[False, False]}, both refuse {whole[True, True]}, "
          f"gpulint alone {whole[True, False]}, oracle alone {whole[False, True]}")
    for (kind, who), count in sorted(faults.items()):
        print(f"{kind:11} {who:24} {count:6}")
    for why, line in sorted(alone):
        print(f"{why or '!':9}{line}"[:400].replace("\n", " "))


if __name__ == "__main__":
    main()
