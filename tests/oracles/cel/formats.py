#!/usr/bin/env python3
"""Writes tests/data/formats.json: which texts the API server takes for a format of a schema, and of which rules in CEL hold.

    tests/oracles/cel/formats.py ORACLE

ORACLE is the program of this directory (`go build -mod=mod`). The file has all texts, and those that are taken for each format and each
rule about `self`.
"""

import json
import os
import subprocess
import sys
import tempfile

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "formats.json")
FORMATS = ["byte", "cidr", "date-time", "duration", "ipv4", "ipv6", "uri"]
NAMES = ["dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue", "uri"]
RULES = [
    "isIP(self)", "isCIDR(self)", "isURL(self)", "url(self).getScheme() == 'http'", "url(self).getHostname() == 'a.b'",
    "url(self).getHost() == 'a.b:80'", "url(self).getPort() == '80'", "ip(self).family() == 4", "cidr(self).prefixLength() == 8",
    "cidr(self).containsIP(ip('10.0.0.1'))", *(f"!format.{name}().validate(self).hasValue()" for name in NAMES),
]
TEXTS = [
    "", "a", "A", "a-b", "-a", "a-", "a.b", "a..b", "a_b", "A_b.c-d", "1a", "a/b", "A.b/c", "nvidia.com/gpu", "a/", "/a", "a/b/c", "x" * 63, "x" * 64,
    ".".join(["x" * 60] * 4), ".".join(["x" * 60] * 5), "é", "a b", " a",
    "10.0.0.1", "010.0.0.1", "10.0.0", "10.0.0.256", "10.0.0.1.5", "::1", "::", "fe80::1", "fe80::1%eth0", "::ffff:10.0.0.1", "2001:db8:::1", "::FFFF",
    "10.0.0.0/8", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/", "/8", "::/0", "::/128", "::/129", "::ffff:10.0.0.0/100", "10.0.0/8",
    "2026-01-02T03:04:05Z", "2026-01-02t03:04:05z", "2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05+0100", "2026-02-29T00:00:00Z",
    "2024-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z", "2026-01-01T23:59:60Z",
    "2026-01-01", "2026-01-01T00:00Z", "2026-01-01 00:00:00Z", "2026-1-1T00:00:00Z", "tomorrow", "2026-01-01T00:00:00", "2026-01-01T00:00:00x5Z",
    "1s", "1h30m", "1.5h", "1d", "2 days", "3weeks", "1 mo", "1x", "0", "+0", "00", "-5m", "5", "an hour", "10 Minutes", "10m and more", "1ms", "1µs", "1us", "1ns",
    "YQ==", "YWI=", "YWJj", "YQ", "YQ=", "Y===", "====", "YW=j", "_w==", "-w==", "/w==", "YWJj\n", "YWJj\nZGVm", " YWJj", "YWJjZGVm\r\n",
    "http://a.b", "HTTP://a.b:80/c", "http://a.b:80", "https://u:p@a.b/", "http://u@v@a.b/", "http://u p@a.b/", "http://a b/", "http://a.b:c/", "http://a.b:/", "http://:80",
    "http://[::1]:80/", "http://[::1", "http://[::1]x", "http://a%20b/", "http://a%zz/", "http://a/%zz", "http://a/%2", "http://a/b c", "http://a/é", "http://é/", "http://a%C3%A9/",
    "mailto:a@b", "a:b", "a.b:80", "a.b:80/c", ":80", "1a:b", "a_b:c", "//a.b", "///a", "*", "?a", "#a", "/a?b=%zz", "/a#b", "http:", "http:a", "http:/a", "http://", "file:///a",
    "http://a.b?c", "http://a.b#c", "oci://a.b/c:v1", "a\tb", "http://a/\n", "http://a\\b/", "http://{a}/", "ghcr.io/a/b:v1", "http://a.b/?c?", "http://a.b?",
]


def main():
    fields = {f"f{at}": (name, {"type": "string", "format": name}) for at, name in enumerate(FORMATS)}
    fields |= {f"r{at}": (rule, {"type": "string", "maxLength": 400, "x-kubernetes-validations": [{"rule": rule}]}) for at, rule in enumerate(RULES)}
    spec = {"type": "object", "properties": {name: schema for name, (_, schema) in fields.items()}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tests.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Test", "plural": "tests"}, "versions": [{
            "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]},
    }
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "crd.yaml"), "w", encoding="utf-8") as out:
            json.dump(crd, out)
        asked = [(name, text) for name in fields for text in TEXTS]
        documents = [{"apiVersion": "example.com/v1", "kind": "Test", "metadata": {"name": "a"}, "spec": {name: text}} for name, text in asked]
        done = subprocess.run([sys.argv[1], work], input="\n---\n".join(map(json.dumps, documents)), capture_output=True, text=True, check=True)
    said = [not json.loads(line)["faults"] for line in done.stdout.splitlines()]
    if len(said) != len(asked):
        sys.exit(f"{len(asked)} texts, {len(said)} answers")
    taken = {what: [text for (name, text), yes in zip(asked, said) if yes and fields[name][0] == what] for what, _ in fields.values()}
    lines = [f"  {json.dumps(what)}: {json.dumps(texts, ensure_ascii=False)}" for what, texts in taken.items()]
    with open(TARGET, "w", encoding="utf-8") as out:
        out.write(f'{{"texts": {json.dumps(TEXTS, ensure_ascii=False)},\n "taken": {{\n' + ",\n".join(lines) + "}}\n")
    print(f"{len(TEXTS)} texts, {len(taken)} formats and rules, {sum(said)} taken")


main()
