#!/usr/bin/env python3
"""Writes first inputs of the fuzz targets from the fixtures and the examples of the rules: fuzz/seeds.py. Needs PyYAML."""
import glob, hashlib, os, yaml

here = os.path.dirname(os.path.abspath(__file__))
LIMIT = 6000


def put(target, *parts):
    data = b"\0".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    if len(data) <= LIMIT:
        os.makedirs(f"{here}/corpus/{target}", exist_ok=True)
        with open(f"{here}/corpus/{target}/{hashlib.sha1(data).hexdigest()[:16]}", "wb") as file:
            file.write(data)


def target_of(path):
    name = os.path.basename(path)
    if name.startswith("Dockerfile"): return "dockerfile"
    if "compose" in name: return "compose"
    if name == "Makefile": return "ci"
    if name.endswith(".pbtxt"): return "triton"
    if name.endswith((".tf", ".tf.json")): return "terraform"
    if name.endswith((".sh", ".sbatch", ".slurm")): return "shell"
    if name.endswith((".txt", ".toml", ".lock")): return "packages"
    return "manifests" if name.endswith((".yaml", ".yml", ".json")) else None


for folder, _, names in os.walk(f"{here}/../fixtures"):
    files = [(os.path.relpath(os.path.join(folder, name), folder), open(os.path.join(folder, name), "rb").read()) for name in sorted(names)]
    put("check", *[part for pair in files for part in pair])
    for name, text in files:
        if target_of(name): put(target_of(name), text)
        if "workflows" in folder or "gitlab-ci" in name: put("ci", b"all:\n\ttrue\n", text, text)
for path in glob.glob(f"{here}/../rules/*/*.yaml"):
    text = open(path).read()
    put("rules", text)
    for example in yaml.safe_load(text)["examples"]:
        files = example.get("fires") or example.get("silent")
        files = {name: value.replace("‹", "").replace("›", "") for name, value in files.items() if isinstance(value, str)}
        if len(files) > 1: put("check", *[part for pair in files.items() for part in pair])
        for name, value in files.items():
            if target_of(name): put(target_of(name), value)
template = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ include \"n\" . | trunc 63 }}\nspec:\n  {{- with .Values.nodes }}\n  nodeSelector: {{- toYaml . | nindent 4 }}\n  {{- end }}\n  containers:\n  {{- range $i, $c := .Values.list }}\n  - name: {{ $c.name | quote }}\n    image: \"{{ $c.image }}:{{ $c.tag | default \"1\" }}\"\n    resources: {limits: {nvidia.com/gpu: {{ $c.gpus }}}}\n  {{- end }}\n"
put("helm", template, "nodes: {a: b}\nlist: [{name: c, image: x, gpus: 1}]\n", "name: c\nversion: 1.0.0\n", '{{ define "n" }}a-{{ .Release.Name }}{{ end }}')
base = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}\n"
put("kustomize", "resources: [r.yaml, base]\npatches: [{path: p.yaml, target: {kind: Pod}}]\nimages: [{name: x, newTag: '2'}]\nnamePrefix: a-\ncommonLabels: {a: b}\n", base, "- {op: replace, path: /metadata/name, value: b}\n", "resources: [r.yaml]\n", base.replace("name: a", "name: b"))
put("configuration", "clusters: [{name: a, driver: '550', pools: [{name: p, gpu: H100}]}]\nrules: {x: off}\nhelm: [{chart: c, set: {a.b: 1}}]\nignores: [{rule: x, until: 2031-01-01}]\n")
