#!/usr/bin/env python3
"""robust.py GPULINT [ID-PREFIX...]   robustness tests, written by somebody who had not read the code (python3, standard library only)

Each test writes its files to a temporary directory, runs `GPULINT check` under limits (60 s CPU, 2 GiB memory) and
prints `held` or `FELL`, CPU seconds and peak memory. Last line: `N of M held`.
With ROBUST_DUMP=DIR in the environment the inputs are kept below DIR, for a look with the real tools.
"""
import base64
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

CPU, MEM = 60, 2 << 30
TESTS = []          # (id, function)
sys.setrecursionlimit(20000)
RUNS = []           # (cpu, mib) of the test at hand
DUMP = os.environ.get("ROBUST_DUMP")
GPULINT = None


class Fell(Exception):
    pass


class Result:
    def __init__(self, rc, sig, out, err, cpu, mib):
        self.rc, self.sig, self.out, self.err, self.cpu, self.mib = rc, sig, out, err, cpu, mib


def write(root, files):
    for name, text in files.items():
        path = os.path.join(os.fsencode(root), name if isinstance(name, bytes) else os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(text, tuple):          # ("link", target)
            os.symlink(text[1], path)
            continue
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))


def run(root, args):
    """One process at a time, measured by wait4."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            try:
                os.chdir(root)
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 2))
                resource.setrlimit(resource.RLIMIT_AS, (MEM, MEM))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                null = os.open(os.devnull, os.O_RDONLY)
                os.dup2(null, 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                env = {k: v for k, v in os.environ.items() if not k.startswith(("COMPOSE_", "TF_", "GPULINT"))}
                env["LC_ALL"] = "C.UTF-8"
                os.execve(GPULINT, [GPULINT] + args, env)
            finally:
                os._exit(127)
        end = time.time() + 4 * CPU
        while True:
            got, status, use = os.wait4(pid, os.WNOHANG)
            if got:
                break
            if time.time() > end:
                os.kill(pid, signal.SIGKILL)
                _, status, use = os.wait4(pid, 0)
                break
            time.sleep(0.01)
        out.seek(0)
        err.seek(0)
        r = Result(os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
                   os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
                   out.read(), err.read(), use.ru_utime + use.ru_stime, use.ru_maxrss / 1024)
        RUNS.append((r.cpu, r.mib))
        return r


COUNT = [0]


def lint(files, args=(), isolated=True, tag="x"):
    COUNT[0] += 1
    root = tempfile.mkdtemp(prefix="robust-")
    try:
        write(root, files)
        if DUMP:
            shutil.copytree(root, os.path.join(DUMP, CURRENT[0], f"{COUNT[0]}-{tag}"), symlinks=True)
        return run(root, ["check", "."] + (["--isolated"] if isolated else []) + (list(args) or ["--format", "json"]))
    finally:
        shutil.rmtree(root, ignore_errors=True)


CURRENT = [""]


def sane(r, what=""):
    if r.sig is not None:
        raise Fell(f"{what}killed by signal {r.sig}: {r.err[-200:]!r}")
    if r.rc not in (0, 1, 2):
        raise Fell(f"{what}exit code {r.rc}: {r.err[-200:]!r}")
    if b"panicked at" in r.err or b"internal-error" in r.out:
        raise Fell(f"{what}panic: {(r.err or r.out)[-300:]!r}")


def report(r):
    try:
        return json.loads(r.out)
    except ValueError:
        raise Fell(f"no JSON report (exit {r.rc}): {r.out[:100]!r} {r.err[-300:]!r}")


# ---------------------------------------------------------------- a) overlooked faults

REQ, IMG, FLAG, PRIV = "gpu-request-differs-from-limit", "image-not-pinned", "flag-unknown", "privileged-gpu-container"
CONFLICT = "requirement-conflict"
NOT_LINTED = {"syntax-error", "file-not-linted", "template-error", "kustomization-error"}


def told(rep, rules):
    """Rules of `rules` that are told, or places that are named as not linted with severity error."""
    hits = []
    for d in rep["diagnostics"]:
        if d["rule"] in rules or d["severity"] == "error" and d["rule"] in NOT_LINTED:
            hits.append((d["rule"], d["path"], d["message"]))
    return hits


CONTROLS = {}


def over(id, control, hidden, rules, whole=False):
    """`control` holds the fault plainly, `hidden` each of some spellings of it: {label: files}; each is a test of its
    own, or with `whole` all of them are one."""
    rules = {rules} if isinstance(rules, str) else set(rules)

    def test(variants):
        if id not in CONTROLS:
            c = report(lint(control, tag="control"))
            CONTROLS[id] = [d for d in c["diagnostics"] if d["rule"] in rules]
            if not CONTROLS[id]:
                raise Fell(f"CONTROL: the plain form is not told ({sorted({d['rule'] for d in c['diagnostics']})})")
        lost = []
        for label, files in variants.items():
            r = lint(files, tag=re.sub(r"\W+", "-", label))
            sane(r, label + ": ")
            rep = report(r)
            if not told(rep, rules):
                f = rep.get("files", {})
                lost.append(f"{label}: told is {sorted({d['rule'] for d in rep['diagnostics']})}; not understood "
                            f"{[u['path'] + (' (partly)' if u['partly'] else '') for u in f.get('unread', [])]}, skipped {f.get('skipped')}, seen {f.get('seen')}")
        if lost:
            raise Fell(" | ".join(lost))
    if whole:
        TESTS.append((id, lambda: test(hidden)))
    else:
        for label, files in hidden.items():
            TESTS.append((id + "/" + re.sub(r"\W+", "-", label), lambda label=label, files=files: test({label: files})))


def pod(res="{requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}", image="nvidia/cuda:12.4.1-base-ubuntu22.04",
        extra="", name="bad"):
    return (f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - name: c\n    image: {image}\n"
            f"{extra}    resources: {res}\n")


POD = pod()
PRIVPOD = pod("{limits: {nvidia.com/gpu: 1}}", extra="    securityContext: {privileged: true}\n")
LATEST = "vllm/vllm-openai:latest"
GOOD = "{limits: {nvidia.com/gpu: 1}}"
IMGPOD = pod(GOOD, LATEST)
J = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad"}, "spec": {"containers": [{
    "name": "c", "image": "nvidia/cuda:12.4.1-base-ubuntu22.04",
    "resources": {"requests": {"nvidia.com/gpu": 2}, "limits": {"nvidia.com/gpu": 1}}}]}}
OK = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ok"}, "data": {"a": "b"}}

over("a01-yaml-anchors-merge", {"p.yaml": POD}, {
    "merge list": {"p.yaml": """apiVersion: v1
kind: Pod
metadata:
  name: bad
  annotations: &lim {nvidia.com/gpu: "1"}
  labels: &req {nvidia.com/gpu: "2"}
spec:
  containers:
  - name: c
    image: nvidia/cuda:12.4.1-base-ubuntu22.04
    resources: {requests: {<<: [*req, *lim]}, limits: {<<: [*lim, *req]}}
"""},
    "alias as key": {"p.yaml": pod("{requests: {&k nvidia.com/gpu : 2}, limits: {*k : 1}}")},
    "anchored container": {"p.yaml": """apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  initContainers:
  - &c
    name: i
    image: nvidia/cuda:12.4.1-base-ubuntu22.04
    resources: &r
      limits: &l {nvidia.com/gpu: 1}
  containers:
  - <<: *c
    name: c
    resources:
      <<: *r
      requests: {<<: *l, nvidia.com/gpu: 2}
"""}}, REQ)
over("a02-yaml-tags", {"p.yaml": POD}, {
    "binary value": {"p.yaml": pod("{requests: {nvidia.com/gpu: !!binary Mg==}, limits: {nvidia.com/gpu: 1}}")},
    "binary key": {"p.yaml": pod("{requests: {!!binary bnZpZGlhLmNvbS9ncHU= : 2}, limits: {nvidia.com/gpu: 1}}")},
    "verbatim tag": {"p.yaml": pod("!<tag:yaml.org,2002:map> {requests: !!map {nvidia.com/gpu: !!str 2}, limits: {nvidia.com/gpu: 1}}")},
    "local tag": {"p.yaml": pod("{requests: {nvidia.com/gpu: ! \"2\"}, limits: {nvidia.com/gpu: 1}}")}}, REQ)
over("a03-yaml-numbers", {"p.yaml": POD}, {k: {"p.yaml": pod("{requests: {nvidia.com/gpu: %s}, limits: {nvidia.com/gpu: 1}}" % k)} for k in
    ("0x2", "0b10", "02", "0_2", "2e0", "'2e0'", "2000m", "0.002k", "+2", "'+2'", "2.0", "'2.'")}, REQ, True)
over("a04-yaml-quoting", {"p.yaml": POD}, {
    "escaped key": {"p.yaml": pod('{"\\x72equests": {"nvidia.com\\x2fgpu": 2}, "limits": {"\\u006evidia.com/gpu": 1}}')},
    "explicit keys": {"p.yaml": """? apiVersion
: v1
? "kin\\
   d"
: Pod
metadata: {name: bad}
spec:
  containers:
  - ? name
    : c
    ? image
    : >-
      nvidia/cuda:12.4.1-base-ubuntu22.04
    ? resources
    : ? requests
      : ? |-
          nvidia.com/gpu
        : "\\x32"
      ? limits
      : 'nvidia.com/gpu': 1
"""},
    "json like": {"p.yaml": pod('{"requests":{"nvidia.com/gpu":2},"limits":{"nvidia.com/gpu":1}}')},
    "flow over lines": {"p.yaml": pod('{requests: {nvidia.com/gpu: # {}\n      2 # {}\n      ,}, limits:\n\n     {nvidia.com/gpu: 1\n     }}')}}, REQ)
over("a05-yaml-bool11", {"p.yaml": PRIVPOD}, {k: {"p.yaml": PRIVPOD.replace("true", k)} for k in
    ("yes", "on", "Yes", "ON", "True", "TRUE", "y", "!!bool yes")}, PRIV, True)
over("a06-yaml-encodings", {"p.yaml": POD}, {
    "utf-8 bom": {"p.yaml": b"\xef\xbb\xbf" + POD.encode()},
    "utf-16le bom": {"p.yaml": b"\xff\xfe" + POD.encode("utf-16-le")},
    "utf-16be bom": {"p.yaml": b"\xfe\xff" + POD.encode("utf-16-be")},
    "crlf": {"p.yaml": POD.replace("\n", "\r\n")},
    "crlf utf-16": {"p.yaml": b"\xff\xfe" + POD.replace("\n", "\r\n").encode("utf-16-le")},
    "json utf-16": {"p.json": b"\xff\xfe" + json.dumps(J).encode("utf-16-le")},
    "json utf-8 bom": {"p.json": b"\xef\xbb\xbf" + json.dumps(J).encode()}}, REQ)
over("a07-yaml-line-breaks", {"p.yaml": PRIVPOD}, {
    "cr": {"p.yaml": PRIVPOD.replace("\n", "\r")},
    "comment ended by U+2028": {"p.yaml": PRIVPOD.replace("    securityContext", "    # note\u2028    securityContext")},
    "comment ended by U+0085": {"p.yaml": PRIVPOD.replace("    securityContext", "    # note\u0085    securityContext")},
    "comment ended by CR": {"p.yaml": PRIVPOD.replace("    securityContext", "    # note\r    securityContext")},
    "tabs": {"p.yaml": PRIVPOD.replace(": v1", ":\tv1").replace("kind: Pod", "kind:\tPod\t# x").replace("privileged: true", "privileged:\ttrue")}}, PRIV)
over("a08-documents", {"p.yaml": POD}, {
    "second, comment at marker": {"p.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: ok}\n--- # next\n" + POD},
    "after empty documents": {"p.yaml": "---\n---\n# nothing\n---\n" + POD},
    "json after json": {"p.json": json.dumps(OK) + json.dumps(J)},
    "json after json in yaml": {"p.yaml": json.dumps(OK, indent=1) + "\n" + json.dumps(J, indent=1)},
    "content at the marker": {"p.yaml": "--- " + json.dumps(J) + "\n"},
    "marker in a block": {"p.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |\n    x\n     ---\n---\n" + POD},
    "indented as a whole": {"p.yaml": "".join("   " + l + "\n" for l in POD.splitlines())},
    }, REQ)
INNER = {k: v for k, v in J.items() if k not in ("apiVersion", "kind")}
over("a09-lists", {"p.yaml": POD}, {
    "List": {"p.yaml": json.dumps({"apiVersion": "v1", "kind": "List", "items": [OK, J]})},
    "PodList": {"p.yaml": json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [J]})},
    "PodList without kinds": {"p.yaml": json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [INNER]})},
    "PodTemplateList": {"p.yaml": json.dumps({"apiVersion": "v1", "kind": "PodTemplateList", "items": [
        {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": INNER}]})}}, REQ)
over("a10-duplicate-keys", {"p.yaml": POD}, {
    "last one holds": {"p.yaml": pod(GOOD + "\n    resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}")},
    "inner": {"p.yaml": pod("{requests: {nvidia.com/gpu: 1, nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}")},
    "json": {"p.json": json.dumps(J).replace('"requests": {', '"requests": {"nvidia.com/gpu": 1, ')}}, REQ)
over("a11-names-of-files", {"p.yaml": POD}, {
    "hidden directory": {".deploy/p.yaml": POD},
    "hidden file": {".p.yaml": POD},
    "upper case": {"P.YAML": POD},
    "not UTF-8": {b"p\xff\xfe.yaml": POD},
    "line end": {"p\n.yaml": POD},
    "in vendor": {"vendor/k8s/p.yml": POD},
    "in build": {"build/p.yml": POD, "dist/q.yml": POD},
    "link": {"a.txt": POD, "k8s/p.yaml": ("link", "../a.txt")}}, REQ)

# Dockerfile
DK = "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\n"
BAD = "pip install torch==2.1.0 torchvision==0.15.0"
over("a12-dockerfile-forms", {"Dockerfile": DK + "RUN " + BAD + "\n"}, {
    "escape directive": {"Dockerfile": "# escape=`\n" + DK + "RUN pip install `\n  torch==2.1.0 `\n  torchvision==0.15.0\n"},
    "escape directive, upper case, after syntax": {"Dockerfile": "#syntax=docker/dockerfile:1\n#EsCaPe = `\n" + DK + "RUN pip install `  \n\n# x\n  torch==2.1.0 `\n  torchvision==0.15.0\n"},
    "comment and blanks in a continuation": {"Dockerfile": DK + "RUN pip install \\ \t \n# torchvision==0.16.0 \\\n\n   # more\n torch==2.1.0 \\\n\n torchvision==0.15.0\n"},
    "split inside a word": {"Dockerfile": DK + "R\\\nUN pip ins\\\ntall torch==2.1.0 torchvi\\\nsion==0.15.0\n"},
    "heredoc": {"Dockerfile": DK + "RUN <<EOF\nset -e\n" + BAD + "\nEOF\n"},
    "heredoc, quoted, tabs": {"Dockerfile": DK + "RUN <<-\"E_1\" bash -ex\n\t" + BAD + "\n\tE_1\n"},
    "two heredocs": {"Dockerfile": DK + "RUN <<A cat >/dev/null && <<B bash\nx\nA\n" + BAD + "\nB\n"},
    "exec form": {"Dockerfile": DK + 'RUN ["pip", "install", "torch==2.1.0", "torchvis\\u0069on==0.15.0"]\n'},
    "exec form of a shell": {"Dockerfile": DK + 'run ["/bin/bash", "-c", "pip install torch==2.1.0 torchvision==0.15.0"]\n'},
    "flags": {"Dockerfile": DK + "RUN --mount=type=cache,target=/root/.cache \\\n --network=default " + BAD + "\n"},
    "variables": {"Dockerfile": DK + "ARG V=0.15 W\nENV T=2.1.0 X=${V}.0\nRUN pip install torch==$T torchvision==${X:-1}\n"},
    "variables with patterns": {"Dockerfile": DK + "ARG V=v0.15.0-x\nENV A=${V#v}\nENV B=${A%-*}\nRUN pip install torch==2.1.0 torchvision==${B}\n"},
    "onbuild": {"Dockerfile": DK.replace("22.04\n", "22.04 AS b\n") + "ONBUILD RUN " + BAD + "\nFROM b\n"},
    "copied heredoc": {"Dockerfile": DK + "COPY <<EOF /r.txt\ntorch==2.1.0\ntorchvision==0.15.0\nEOF\nRUN pip install -r /r.txt\n"},
    "crlf and bom": {"Dockerfile": ("\ufeff" + DK + "RUN pip install \\\n torch==2.1.0 \\\n torchvision==0.15.0\n").replace("\n", "\r\n")},
    "names": {"docker/train.dockerfile": DK + "RUN " + BAD + "\n"},
    "names 2": {"Dockerfile.train": DK + "RUN " + BAD + "\n"},
    "names 3": {"Containerfile": DK + "RUN " + BAD + "\n"},
    "shell instruction": {"Dockerfile": DK + 'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN ' + BAD + " | tee /log\n"}}, CONFLICT)
over("a13-dockerfile-from", {"Dockerfile": "FROM nvidia/cuda:latest\n"}, {
    "arg": {"Dockerfile": "ARG R=nvidia/cuda\nARG T=test\nFROM ${R}:la$T\n"},
    "arg with a default in place": {"Dockerfile": "ARG R=nvidia/cuda\nFROM ${R}:la${T:-test}\n"},
    "alternative": {"Dockerfile": "ARG R=cuda\nFROM nvidia/${R}:${R:+latest} AS b\nFROM b\n"},
    "platform, lower case": {"Dockerfile": "from --platform=linux/amd64 docker.io/nvidia/cuda:latest as base\n"},
    "continued": {"Dockerfile": "FROM \\\n  # c\n  nvidia/cu\\\nda:latest\n"},
    "quoted value": {"Dockerfile": 'ARG T="te"s\\t\nFROM nvidia/cuda:la$T\n'},
    "quoted name": {"Dockerfile": 'ARG T=test\nFROM "nvidia/cuda:la$T"\n'},
    "copy --from": {"Dockerfile": "FROM ubuntu:22.04\nCOPY --from=nvidia/cuda:latest /usr/local/cuda /usr/local/cuda\n"},
    "mount from": {"Dockerfile": "FROM ubuntu:22.04\nRUN --mount=from=nvidia/cuda:latest,target=/c cp -r /c/usr/local/cuda /usr/local/\n"},
    }, {"base-image-tag-does-not-exist", "image-tag-does-not-exist"})

# requirements
RQ = "torch==2.1.0\ntorchvision==0.15.0\n"
over("a14-requirements", {"requirements.txt": RQ}, {
    "continuation": {"requirements.txt": "torch\\\n==2.1.0\ntorchvision \\\n  == \\\n  0.15.0\n"},
    "include": {"requirements.txt": "torch==2.1.0\n-r more/x.txt\n", "more/x.txt": "torchvision==0.15.0\n"},
    "include, long, no blank": {"requirements.txt": "torch==2.1.0\n--requirement=more/x.txt\n", "more/x.txt": "-ry.in\n", "more/y.in": "torchvision==0.15.0\n"},
    "constraint": {"requirements.txt": "-c c.txt\ntorchvision==0.15.0\ntorch\n", "c.txt": "torch==2.1.0\n"},
    "comment does not continue": {"requirements.txt": "torch==2.1.0\n# old \\\ntorchvision==0.15.0\n"},
    "form feed ends a comment": {"requirements.txt": "torch==2.1.0\n# old\x0ctorchvision==0.15.0\n"},
    "U+2028 ends a comment": {"requirements.txt": "torch==2.1.0\n# old\u2028torchvision==0.15.0\n"},
    "U+0085 ends a comment": {"requirements.txt": "torch==2.1.0\n# old\x85torchvision==0.15.0\n"},
    "file separator ends a comment": {"requirements.txt": "torch==2.1.0\n# old\x1ctorchvision==0.15.0\n"},
    "utf-16": {"requirements.txt": b"\xff\xfe" + RQ.encode("utf-16-le")},
    "bom, crlf": {"requirements.txt": b"\xef\xbb\xbf" + RQ.replace("\n", "\r\n").encode()},
    "cr": {"requirements.txt": RQ.replace("\n", "\r")},
    "parentheses and case": {"requirements.txt": "Torch (==2.1.0)\nTorchVision[scipy]   (== 0.15.0) ; python_version>='3' and os_name=='posix'\n"},
    "arbitrary equality": {"requirements.txt": "torch === 2.1.0\ntorchvision===0.15.0\n"},
    "ranges": {"requirements.txt": "torch>2.0.9,<=2.1.0\ntorchvision==0.15.0\n"},
    "hashes": {"requirements.txt": "torch==2.1.0 --hash=sha256:" + "0" * 64 + "\ntorchvision==0.15.0 \\\n --hash=sha256:" + "1" * 64 + "\n"},
    "marker alternatives": {"requirements.txt": "torch==2.1.0 ; sys_platform=='linux' or sys_platform=='win32'\ntorchvision==0.15.0; sys_platform != 'darwin' # x\n"},
    "latin-1 coding line": {"requirements.txt": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + RQ.encode()}}, CONFLICT)

# Compose
CO = """services:
  s:
    image: nvidia/cuda:12.4.1-base-ubuntu22.04
    deploy: {resources: {reservations: {devices: [{driver: rocm, count: 1, capabilities: [gpu]}]}}}
"""
DEV = "deploy: {resources: {reservations: {devices: [{driver: rocm, count: 1, capabilities: [gpu]}]}}}"
SOK = "services:\n  s:\n    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n"
over("a15-compose", {"compose.yaml": CO}, {
    "extends file": {"compose.yaml": "services:\n  s:\n    extends: {file: base/c.yml, service: b}\n", "base/c.yml": CO.replace("  s:", "  b:")},
    "extends short, chain": {"compose.yaml": "services:\n  a: {image: 'nvidia/cuda:12.4.1-base-ubuntu22.04', %s}\n  b: {extends: a}\n  s:\n    extends: b\n" % DEV},
    "include": {"compose.yaml": "include: [sub/c.yaml]\nservices: {o: {image: 'busybox:1.36'}}\n", "sub/c.yaml": CO},
    "include long, two files": {"compose.yaml": "include:\n  - path: [sub/c.yaml, sub/d.yaml]\n    project_directory: sub\n", "sub/c.yaml": SOK, "sub/d.yaml": "services:\n  s:\n    %s\n" % DEV},
    "override": {"docker-compose.yml": SOK, "docker-compose.override.yml": "services:\n  s:\n    %s\n" % DEV},
    "override tag": {"compose.yaml": SOK + "    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}\n",
                     "compose.override.yaml": "services:\n  s:\n    deploy: !override {resources: {reservations: {devices: [{driver: rocm, count: 1, capabilities: [gpu]}]}}}\n"},
    "COMPOSE_FILE": {".env": "COMPOSE_FILE=one.yaml:two.yaml\n", "one.yaml": SOK, "two.yaml": "services:\n  s:\n    %s\n" % DEV},
    "merge key of an extension": {"compose.yaml": "x-a: &a\n  %s\nx-b: &b {<<: *a}\n" % DEV + SOK + "    <<: [*b]\n"},
    "variable": {"compose.yaml": CO.replace("rocm", '"${D:-rocm}"')},
    "variable nested": {"compose.yaml": CO.replace("rocm", '"${D:-${E-ro${F:-cm}}}"')},
    "variable of .env": {"compose.yaml": CO.replace("rocm", "$D"), ".env": "export D='rocm' # x\n"},
    "variable of .env in terms of another": {"compose.yaml": CO.replace("rocm", '"${D:?no}"'), ".env": "A=ro\nD=\"${A}cm\"\n"},
    "variable replacement": {"compose.yaml": CO.replace("rocm", '"${D:+rocm}"'), ".env": "D=1\n"},
    "profile": {"compose.yaml": CO + "    profiles: [gpu]\n"},
    "json": {"compose.yaml": json.dumps({"services": {"s": {"image": "nvidia/cuda:12.4.1-base-ubuntu22.04", "deploy": {"resources": {"reservations": {
        "devices": [{"driver": "rocm", "count": 1, "capabilities": ["gpu"]}]}}}}}})},
    "gpus": {"compose.yaml": SOK + "    gpus:\n      - {driver: rocm, count: 1}\n"},
    }, "compose-device-driver-unknown")
FL = "services:\n  s:\n    image: vllm/vllm-openai:v0.8.4\n    command: %s\n"
over("a16-compose-command", {"compose.yaml": FL % '["--model", "Qwen/Qwen2.5-0.5B", "--tensor-paralel-size", "1"]'}, {
    "string with quotes": {"compose.yaml": FL % "--model Qwen/Qwen2.5-0.5B '--tensor-para'\"lel-size\" 1"},
    "folded": {"compose.yaml": FL % ">\n      --model Qwen/Qwen2.5-0.5B\n      --tensor-\\\n      paralel-size 1".replace("-\\\n      ", "-")},
    "variable": {"compose.yaml": FL % "--model Qwen/Qwen2.5-0.5B ${X}", ".env": "X=--tensor-paralel-size=1\n"},
    "dollar": {"compose.yaml": FL % "['--model','Qwen/Qwen2.5-0.5B', '--tensor-${A:-para}lel-size=1']"},
    "entrypoint": {"compose.yaml": FL % '["Qwen/Qwen2.5-0.5B", "--tensor-paralel-size", "1"]' + "    entrypoint: vllm serve\n"},
    "shell": {"compose.yaml": FL % '["-c", "M=$$(echo x); exec vllm serve Qwen/Qwen2.5-0.5B --tensor-paralel-size 1"]' + "    entrypoint: [bash]\n"},
    "inline dockerfile": {"compose.yaml": "services:\n  s:\n    build:\n      dockerfile_inline: |\n        FROM vllm/vllm-openai:v0.8.4\n        CMD [\"--model\", \"Qwen/Qwen2.5-0.5B\", \"--tensor-paralel-size\", \"1\"]\n"}}, FLAG)

# Helm
CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"


def chart(tpl, values="", **more):
    files = {"c/Chart.yaml": CHART, "c/values.yaml": values, "c/templates/p.yaml": tpl}
    files.update({"c/" + k.replace("__", "/").replace("--", "."): v for k, v in more.items()})
    return files


HC = chart(IMGPOD)
HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers:\n"
over("a17-helm", HC, {
    "values": chart(pod(GOOD, '"{{ .Values.r }}:{{ .Values.t | default "latest" }}"'), "r: vllm/vllm-openai\nt: ''\n"),
    "tpl": chart(pod(GOOD, '{{ tpl .Values.i . }}'), "i: '{{ printf \"%s/%s\" .Values.o \"vllm-openai:latest\" }}'\no: vllm\n"),
    "tpl of toYaml": chart(HEAD + "{{ tpl (toYaml .Values.cs) $ | indent 2 }}\n", "t: latest\ncs:\n- name: c\n  image: 'vllm/vllm-openai:{{ .Values.t }}'\n  resources: " + GOOD + "\n"),
    "include, dict": dict(chart(pod(GOOD, '{{ include "img" (dict "r" "vllm/vllm-openai" "ctx" $) }}')),
                          **{"c/templates/_h.tpl": '{{- define "img" -}}{{- $t := .ctx.Values.t | default "latest" -}}{{ .r }}:{{ $t }}{{- end -}}'}),
    "range with else": chart(HEAD + "{{- range $i, $c := .Values.none }}\n  - name: x\n{{- else }}\n  - name: c\n    image: vllm/vllm-openai:latest\n    resources: " + GOOD + "\n{{- end }}\n", "none: []\n"),
    "with else with": chart(HEAD + "{{- with .Values.a }}\n  - name: x\n{{- else with .Values.b }}\n  - name: c\n    image: {{ . }}\n    resources: " + GOOD + "\n{{- end }}\n", "b: vllm/vllm-openai:latest\n"),
    "break": chart(HEAD + "{{- range .Values.l }}{{ if eq .nm \"x\" }}{{ continue }}{{ end }}\n  - name: {{ .nm }}\n    image: {{ .i }}\n    resources: " + GOOD + "\n{{- break }}{{- end }}\n", "l: [{nm: x, i: 'vllm/vllm-openai:v0.8.4'}, {nm: c, i: 'vllm/vllm-openai:latest'}, {nm: d, i: 'vllm/vllm-openai:v0.8.4'}]\n"),
    "text after template in .txt": {"c/Chart.yaml": CHART, "c/templates/p.txt": IMGPOD.replace("latest", "{{ print `la` `test` }}")},
    "template without an ending": {"c/Chart.yaml": CHART, "c/templates/deep/er/pod": IMGPOD.replace("latest", "{{ print `la` `test` }}")},
    "file of the chart": dict(chart("{{ .Files.Get \"files/p.yaml\" | replace \"TAG\" \"latest\" }}"), **{"c/files/p.yaml": IMGPOD.replace("latest", "TAG")}),
    "files glob": dict(chart("{{ range $p, $_ := .Files.Glob \"files/**.yaml\" }}\n---\n{{ $.Files.Get $p | replace \"TAG\" \"latest\" }}\n{{ end }}"), **{"c/files/a/p.yaml": IMGPOD.replace("latest", "TAG")}),
    "base path": dict(chart("{{ include (print $.Template.BasePath \"/_p.tpl\") . }}"), **{"c/templates/_p.tpl": IMGPOD.replace("latest", "{{ \"la\" }}test")}),
    "merge": chart(HEAD + "  - {{ mustMergeOverwrite (deepCopy .Values.a) (fromYaml .Values.b) | toJson }}\n", "a: {name: c, image: 'vllm/vllm-openai:v0.8.4', resources: %s}\nb: 'image: vllm/vllm-openai:latest'\n" % GOOD),
    "subchart, global": dict(chart("", "global: {t: latest}\n"), **{"c/charts/s/Chart.yaml": CHART.replace("name: c", "name: s"), "c/charts/s/templates/p.yaml": IMGPOD.replace("latest", "{{ .Values.global.t }}")}),
    "subchart, alias, condition": {"c/Chart.yaml": CHART + "dependencies: [{name: s, version: 0.1.0, alias: z, condition: z.on, repository: ''}]\n", "c/values.yaml": "z: {on: true, t: latest}\n",
                                   "c/charts/s/Chart.yaml": CHART.replace("name: c", "name: s"), "c/charts/s/values.yaml": "t: v0.8.4\n", "c/charts/s/templates/p.yaml": IMGPOD.replace("latest", "{{ .Values.t }}")},
    "import-values": {"c/Chart.yaml": CHART + "dependencies: [{name: s, version: 0.1.0, repository: '', import-values: [{child: d.x, parent: imp}]}]\n", "c/templates/p.yaml": IMGPOD.replace("latest", "{{ .Values.imp.t }}"),
                      "c/charts/s/Chart.yaml": CHART.replace("name: c", "name: s"), "c/charts/s/values.yaml": "d: {x: {t: latest}}\n"},
    "crlf": chart(IMGPOD.replace("latest", "{{ .Values.t }}").replace("\n", "\r\n"), "t: latest\r\n"),
    "utf-8 bom": {"c/Chart.yaml": CHART, "c/values.yaml": b"\xef\xbb\xbft: latest\n", "c/templates/p.yaml": b"\xef\xbb\xbf" + IMGPOD.replace("latest", "{{ .Values.t }}").encode()},
    }, IMG)
FUN = {
    "b64dec": '{{ "bGF0ZXN0" | b64dec }}', "escapes": '{{ "\\x6c\\u0061\\164est" }}', "char": "{{ printf \"%c%s\" 'l' \"atest\" }}",
    "rune number": "{{ printf \"%c\" 108 }}atest", "substr": '{{ substr 1 7 "xlatestx" }}',
    "regex": '{{ regexReplaceAll "^(la)-(t.*)$" "la-test" "${1}${2}" }}', "regexFind": '{{ regexFind "l[a-t]+" "0latest0" }}',
    "split": '{{ (split ":" "a:latest")._1 }}', "splitn": '{{ (splitn ":" 2 "a:latest")._1 }}', "index": '{{ index (splitList ":" "a:latest") 1 }}',
    "ternary": '{{ ternary "latest" "x" (and true (not false)) }}', "dig": '{{ dig "a" "b" "latest" (dict "a" dict) }}', "pluck": '{{ pluck "a" (dict) (dict "a" "latest") | first }}',
    "coalesce": '{{ coalesce "" nil 0 "latest" }}', "get": '{{ get (set (dict) "a" "latest") "a" }}', "fromJson": '{{ (fromJson "{\\"a\\":\\"latest\\"}").a }}',
    "fromYamlArray": '{{ index (fromYamlArray "- x\\n- latest") 1 }}', "trim": '{{ trimAll "$" "$latest$" | trimPrefix "x" }}', "lower": '{{ "LATEST" | lower | nospace }}',
    "swapcase": '{{ "LATEST" | swapcase }}', "snakecase": '{{ snakecase "Latest" }}', "abbrev": '{{ trunc -6 "xxlatest" }}', "cat": '{{ cat "la" "test" | nospace }}',
    "join": '{{ join "" (list "la" "te" "st") }}', "reverse": '{{ reverse (list "test" "la") | join "" }}', "sortAlpha": '{{ last (sortAlpha (list "latest" "a")) }}',
    "uniq": '{{ join "" (uniq (list "la" "la" "test")) }}', "without": '{{ without (list "x" "latest") "x" | first }}', "until": '{{ range until 1 }}latest{{ end }}',
    "range int": '{{ range $i := untilStep 0 4 2 }}{{ index (list "la" "" "test") $i }}{{ end }}', "block": '{{ block "b" . }}latest{{ end }}',
    "template": '{{ define "q" }}{{ . }}test{{ end }}{{ template "q" "la" }}', "tpl": '{{ tpl "{{ . }}" "latest" }}', "tpl define": '{{ tpl "{{ define \\"t1\\" }}latest{{ end }}{{ include \\"t1\\" . }}" . }}',
    "var in loop": '{{ $t := "x" }}{{ range list 1 }}{{ $t = "latest" }}{{ end }}{{ $t }}', "with var": '{{ with $x := "latest" }}{{ $x }}{{ end }}',
    "pipe args": '{{ "st" | printf "%s%s" "late" }}', "parentheses": '{{ (dict "a" (dict "b" "latest")).a.b }}', "comment": '{{- /* x */ -}} {{ "latest" }}',
    "urlParse": '{{ (urlParse "http://latest/x").host }}', "base": '{{ base "a/latest" }}', "ext": '{{ ext "a.latest" | trimPrefix "." }}', "semver": '{{ if semverCompare ">=1.0.0-0" "1.2.3-rc1" }}latest{{ end }}',
    "kube": '{{ if semverCompare ">=1.20-0" .Capabilities.KubeVersion.Version }}latest{{ else }}v1{{ end }}', "add": '{{ if eq (add 1 2 3) 6 }}latest{{ end }}', "float": '{{ if gt 1.5 1.0 }}latest{{ end }}',
    "int64": '{{ if eq (int64 "7") 7 }}latest{{ end }}', "atoi": '{{ if lt (atoi "3") 5 }}latest{{ end }}', "kindIs": '{{ if kindIs "map" (dict) }}latest{{ end }}', "typeIs": '{{ if typeIs "string" "a" }}latest{{ end }}',
    "hasKey": '{{ if hasKey (omit (dict "a" 1 "b" 2) "a") "b" }}latest{{ end }}', "has": '{{ if has "a" (list "a") }}latest{{ end }}', "or": '{{ or "" "latest" }}', "and": '{{ and "a" "latest" }}',
    "eq many": '{{ if eq "a" "b" "a" }}latest{{ end }}', "empty": '{{ if empty (list) }}latest{{ end }}', "chart": '{{ .Chart.Description }}', "toToml": '{{ (dict "latest" 1) | keys | first }}',
    "values index": '{{ index .Values "d-e" "f" }}', "values length": '{{ if len .Values.l }}latest{{ end }}', "html": '{{ html "latest" }}{{ js "" }}', "repeat": '{{ repeat 1 "latest" }}',
    "regexSplit": '{{ index (regexSplit "-" "x-latest" -1) 1 }}', "quote": '{{ squote "latest" | trimAll "\'" }}', "mustRegex": '{{ mustRegexReplaceAllLiteral "x" "xlatest" "" }}', "chunk": '{{ index (chunk 1 (list "latest")) 0 | first }}',
    "concat": '{{ concat (list "x") (list "latest") | last }}', "tuple": '{{ index (tuple "latest") 0 }}', "compact": '{{ first (compact (list "" "latest")) }}', "initial": '{{ first (rest (initial (list "a" "latest" "b"))) }}',
    "hex": '{{ if eq 0x10 16 }}latest{{ end }}', "octal": '{{ if eq 0o10 8 }}latest{{ end }}', "toDecimal": '{{ if eq (toDecimal "010") 8 }}latest{{ end }}', "any": '{{ if any 0 1 }}latest{{ end }}', "all": '{{ if all 1 1 }}latest{{ end }}',
    "bitwise": '{{ if eq (max 1 3 2) (floor 3.7 | int) }}latest{{ end }}', "seq": '{{ if eq (seq 3) "1 2 3" }}latest{{ end }}', "date": '{{ if date "2006" (toDate "2006-01-02" "2020-01-02") | eq "2020" }}latest{{ end }}',
}
over("a18-helm-functions", HC, {k: {"c/Chart.yaml": CHART + "description: latest\n", "c/values.yaml": "l: [1]\nd-e: {f: latest}\n",
                                    "c/templates/p.yaml": pod(GOOD, '"vllm/vllm-openai:@"').replace("@", v) if '"' not in v and "\\" not in v else pod(GOOD, "vllm/vllm-openai:@").replace("@", v)}
                                for k, v in FUN.items()}, IMG, True)

# Kustomize
KOK = pod("{limits: {nvidia.com/gpu: 1}}")
KZ = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
P6 = "- op: add\n  path: /spec/containers/0/resources/requests\n  value: {nvidia.com/gpu: '2'}\n"
over("a19-kustomize", {"kustomization.yaml": KZ + "resources: [p.yaml]\n", "p.yaml": POD}, {
    "json6902 inline": {"kustomization.yml": "resources: [p.yaml]\npatches:\n- target: {kind: Pod}\n  patch: |-\n" + "".join("    " + l + "\n" for l in P6.splitlines()), "p.yaml": KOK},
    "json6902 pointer": {"Kustomization": "resources: [p.yaml]\npatches:\n- target: {kind: P.*, name: b.d}\n  path: x.json\n", "p.yaml": KOK.replace("limits: {", "requests: {nvidia.com/gpu: 1}, limits: {"),
                         "x.json": json.dumps([{"op": "test", "path": "/kind", "value": "Pod"}, {"op": "replace", "path": "/spec/containers/0/resources/requests/nvidia.com~1gpu", "value": "2"}])},
    "json6902 copy, move": {"kustomization.yaml": "resources: [p.yaml]\npatches:\n- target: {labelSelector: 'a in (b, c),d!=e'}\n  path: x.yaml\n",
                            "p.yaml": KOK.replace("name: bad", "name: bad, labels: {a: b}, annotations: {g: '2'}"),
                            "x.yaml": "- {op: add, path: /spec/containers/0/resources/requests, value: {}}\n- {op: copy, from: /metadata/annotations/g, path: /spec/containers/0/resources/requests/nvidia.com~1gpu}\n"},
    "merge patch": {"kustomization.yaml": "resources: [p.yaml]\npatches:\n- patch: |\n    {apiVersion: v1, kind: Pod, metadata: {name: bad}, spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 2}}}]}}\n", "p.yaml": KOK},
    "patchesStrategicMerge": {"kustomization.yaml": "resources: [p.yaml]\npatchesStrategicMerge: [x.yaml]\n", "p.yaml": KOK,
                              "x.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 2}}}]}\n"},
    "component": {"o/kustomization.yaml": "resources: [../b]\ncomponents: [../k]\n", "b/kustomization.yaml": "resources: [p.yaml]\n", "b/p.yaml": KOK,
                  "k/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: Pod}\n  patch: '%s'\n" % json.dumps([{"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"nvidia.com/gpu": "2"}}])},
    "replacement": {"kustomization.yaml": "resources: [p.yaml, c.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: src, fieldPath: data.g}\n  targets:\n  - select: {kind: Pod}\n    fieldPaths: ['spec.containers.[name=c].resources.requests.nvidia\\.com/gpu', 'spec.containers.*.resources.requests.[nvidia.com/gpu]']\n    options: {create: true}\n".replace(", 'spec.containers.*.resources.requests.[nvidia.com/gpu]'", ""),
                    "p.yaml": KOK.replace("limits: {", "requests: {nvidia.com/gpu: 1}, limits: {"), "c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: src}\ndata: {g: '2'}\n"},
    "replacement from a generator, file": {"kustomization.yaml": "resources: [p.yaml]\nconfigMapGenerator: [{name: src, literals: ['g=x-2']}]\nreplacements: [{path: r.yaml}]\n",
                    "r.yaml": "source: {kind: ConfigMap, name: src, fieldPath: data.g, options: {delimiter: '-', index: 1}}\ntargets:\n- select: {kind: Pod}\n  fieldPaths: [spec.containers.0.resources.requests.nvidia\\.com/gpu]\n",
                    "p.yaml": KOK.replace("limits: {", "requests: {nvidia.com/gpu: 1}, limits: {")},
    "patch transformer": {"kustomization.yaml": "resources: [p.yaml]\ntransformers: [t.yaml]\n", "p.yaml": KOK,
                          "t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\ntarget: {kind: Pod}\npatch: '%s'\n" % json.dumps([{"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"nvidia.com/gpu": "2"}}])},
    "patch transformer inline": {"kustomization.yaml": "resources: [p.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: t}\n  target: {kind: Pod}\n  patch: '%s'\n" % json.dumps([{"op": "add", "path": "/spec/containers/0/resources/requests", "value": {"nvidia.com/gpu": "2"}}]), "p.yaml": KOK},
    "anchors": {"kustomization.yaml": "resources: &r\n- p.yaml\npatches:\n- &p\n  target: {kind: Nothing}\n  patch: |-\n" + "".join("    " + l + "\n" for l in P6.splitlines()) + "- {<<: *p, target: {kind: Pod}}\n", "p.yaml": KOK},
    }, REQ)
over("a20-kustomize-images", {"kustomization.yaml": "resources: [p.yaml]\n", "p.yaml": IMGPOD}, {
    "newTag": {"kustomization.yaml": "resources: [p.yaml]\nimages: [{name: vllm/vllm-openai, newTag: latest}]\n", "p.yaml": pod(GOOD, "vllm/vllm-openai:v0.8.4")},
    "newName": {"kustomization.yaml": "resources: [p.yaml]\nimages: [{name: x, newName: vllm/vllm-openai, newTag: latest}]\n", "p.yaml": pod(GOOD, "x")},
    "transformer": {"kustomization.yaml": "resources: [p.yaml]\ntransformers: [t.yaml]\n", "t.yaml": "apiVersion: builtin\nkind: ImageTagTransformer\nmetadata: {name: t}\nimageTag: {name: x, newName: vllm/vllm-openai, newTag: latest}\nfieldSpecs: [{path: spec/containers/image}]\n", "p.yaml": pod(GOOD, "x:v1")},
    "vars": {"kustomization.yaml": "resources: [p.yaml, c.yaml]\nvars: [{name: T, objref: {kind: ConfigMap, name: src, apiVersion: v1}, fieldref: {fieldpath: data.t}}]\nconfigurations: [f.yaml]\n",
             "f.yaml": "varReference: [{path: spec/containers/image, kind: Pod}]\n", "c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: src}\ndata: {t: latest}\n", "p.yaml": pod(GOOD, '"vllm/vllm-openai:$(T)"')},
    }, IMG)

# Terraform
TF = """resource "kubernetes_pod" "x" {
  metadata { name = "bad" }
  spec {
    container {
      name = "c"
      image = "nvidia/cuda:12.4.1-base-ubuntu22.04"
      resources {
        requests = { "nvidia.com/gpu" = 2 }
        limits = { "nvidia.com/gpu" = 1 }
      }
    }
  }
}
"""
TM = 'resource "kubernetes_manifest" "x" {\n  manifest = %s\n}\n'


def tfreq(req, more="", key='"nvidia.com/gpu"'):
    return TF.replace('requests = { "nvidia.com/gpu" = 2 }', "requests = { %s = %s }" % (key, req)) + more


over("a21-terraform", {"main.tf": TF}, {
    "dynamic": {"main.tf": TF.replace("    container {", '    dynamic "container" {\n      for_each = toset(["c"])\n      iterator = it\n      content {').replace('name = "c"', "name = it.value").replace("      }\n    }\n  }\n}\n", "      }\n    }\n    }\n  }\n}\n")},
    "yamldecode heredoc": {"main.tf": TM % ("yamldecode(<<-EOT\n" + "".join("    " + l + "\n" for l in POD.splitlines()) + "  EOT\n  )")},
    "yamldecode file": {"main.tf": TM % 'yamldecode(file("${path.module}/p.yaml.in"))', "p.yaml.in": POD},
    "jsondecode": {"main.tf": TM % ("jsondecode(%s)" % json.dumps(json.dumps(J)))},
    "templatefile": {"main.tf": TM % 'yamldecode(templatefile("p.tftpl", { n = 2, l = [1] }))', "p.tftpl": POD.replace("gpu: 2", "gpu: %{ for x in l ~}\n${n}%{ endfor }")},
    "for_each yaml": {"main.tf": 'locals {\n  d = { for d in split("\\n---\\n", file("all.txt")) : yamldecode(d).metadata.name => yamldecode(d) }\n}\nresource "kubernetes_manifest" "x" {\n  for_each = local.d\n  manifest = each.value\n}\n', "all.txt": json.dumps(OK) + "\n---\n" + POD},
    "override file": {"main.tf": tfreq(1), "x_override.tf": TF},
    "override.tf variable": {"main.tf": tfreq("var.n", 'variable "n" { default = 1 }\n'), "override.tf": 'variable "n" {\n  default = 2\n}\n'},
    "auto.tfvars": {"main.tf": tfreq("var.n", 'variable "n" { default = 1 }\n'), "z.auto.tfvars": "n = 2\n"},
    "auto.tfvars.json": {"main.tf": tfreq("var.n", 'variable "n" { default = 1 }\n'), "z.auto.tfvars.json": '{"n": 2}'},
    "terraform.tfvars.json over tfvars": {"main.tf": tfreq("var.n", 'variable "n" { type = number }\n'), "terraform.tfvars": "n = 1\n", "terraform.tfvars.json": '{"n": 2}'},
    "tf.json": {"main.tf.json": json.dumps({"resource": {"kubernetes_manifest": {"x": {"manifest": J}}}})},
    "tf.json with an expression": {"main.tf.json": json.dumps({"variable": {"n": {"default": 2}}, "resource": {"kubernetes_manifest": {"x": {"manifest": json.loads(json.dumps(J).replace("2}", '"${var.n}"}', 1))}}}})},
    "module": {"main.tf": 'module "m" {\n  source = "./m"\n  for_each = { a = 2 }\n  n = each.value\n}\n', "m/main.tf": tfreq("var.n", 'variable "n" {}\n')},
    "module of modules": {"main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": 'module "k" {\n  source = "../k"\n  n = { v = [1, 2] }\n}\n', "k/main.tf": tfreq("var.n.v[1]", 'variable "n" {\n  type = object({ v = list(number), w = optional(string, "x") })\n}\n')},
    "key in parentheses": {"main.tf": tfreq(2, 'locals { k = "nvidia.com/gpu" }\n', "(local.k)")},
    "key escaped": {"main.tf": tfreq(2, "", '"\\u006evidia.com/gpu"')},
    "key colon": {"main.tf": TF.replace('"nvidia.com/gpu" = 2', '"nvidia.com/gpu" : "2"')},
    "comments": {"main.tf": TF.replace("requests =", "requests /* = {} */ = /* } */").replace("limits =", "/* \n # */ limits =").replace("= 1 }", "= 1 // }\n }")},
    "crlf, bom": {"main.tf": ("\ufeff" + TF).replace("\n", "\r\n")},
    "tofu": {"main.tofu": TF},
    "kubectl_manifest": {"main.tf": 'resource "kubectl_manifest" "x" {\n  yaml_body = yamlencode(merge(jsondecode(%s), { metadata = { name = "z" } }))\n}\n' % json.dumps(json.dumps(J))},
    "helm set": {"main.tf": 'resource "helm_release" "r" {\n  name = "r"\n  chart = "${path.module}/c"\n  values = [yamlencode({ n = 2 })]\n}\n', "c/Chart.yaml": CHART, "c/values.yaml": "n: 1\n", "c/templates/p.yaml": POD.replace("gpu: 2", "gpu: {{ .Values.n }}")},
    "helm set block": {"main.tf": 'resource "helm_release" "r" {\n  name = "r"\n  chart = "./c"\n  dynamic "set" {\n    for_each = { "a.n" = 2 }\n    content {\n      name = set.key\n      value = set.value\n    }\n  }\n}\n', "c/Chart.yaml": CHART, "c/values.yaml": "a: {n: 1}\n", "c/templates/p.yaml": POD.replace("gpu: 2", "gpu: {{ .Values.a.n }}")},
    }, REQ)
TFE = {
    "lookup": 'lookup({ a = 2 }, "a", 1)', "coalesce": 'coalesce(null, 2)', "try": "try({ a = 1 }.b, 2)", "element": "element([1, 2], 3)", "conditional": "true ? 2 : 1", "max": "max([1, 2]...)", "splat": "([{ a = 2 }][*].a)[0]",
    "old splat": "[{ a = 2 }].*.a[0]", "index": "{ a = 2 }[\"a\"]", "tonumber": 'tonumber("2")', "for if": '[for k, v in { a = 1, b = 2 } : v if k != "a"][0]', "group": '{ for x in [2] : "k" => x... }["k"][0]',
    "regex": 'regex("[0-9]+", "g2")', "replace": 'replace("a2", "/[a-z]/", "")', "format": 'format("%d", 2)', "split": 'split("-", "1-2")[1]', "ternary text": '"${true ? "2" : "1"}"', "directive": '"%{ if false }1%{ else }2%{ endif }"',
    "length": 'length("ab")', "arith": "7 % 5 * 1", "flatten": "flatten([[1], [2]])[1]", "one": "one([2])", "merge": "merge({ a = 1 }, { a = 2 }).a", "zipmap": 'zipmap(["a"], [2]).a', "b64": 'base64decode("Mg==")', "json": 'jsondecode("{\\"a\\":2}").a',
    "trim": 'trimspace(" 2 ")', "substr": 'substr("123", 1, 1)', "can": 'can(regex("a", "b")) ? 1 : 2', "yaml": 'yamldecode("a: 2").a', "range": "range(3)[2]", "sum": "sum([1, 1])", "parseint": 'parseint("10", 2)', "csv": 'csvdecode("a\\n2")[0].a',
    "contains": 'contains(["a"], "a") ? 2 : 1', "keys": 'keys({ "2" = 1 })[0]', "reverse": "reverse([1, 2])[0]", "slice": "slice([1, 2, 3], 1, 2)[0]", "strrev": 'strrev("2")', "setproduct": "setproduct([1], [2])[0][1]", "join": 'join("", ["", "2"])', "ceil": "ceil(1.2)",
    "pow": "pow(2, 1)", "abs": "abs(-2)", "alltrue": "alltrue([true]) ? 2 : 1", "compact": 'compact(["", "2"])[0]', "distinct": "length(distinct([1, 1, 2]))", "matchkeys": 'matchkeys([2], ["a"], ["a"])[0]', "transpose": 'keys(transpose({ a = ["2"] }))[0]',
    "startswith": 'startswith("ab", "a") ? 2 : 1', "textdecode": 'textdecodebase64("MgA=", "UTF-16LE")', "nonsensitive": "nonsensitive(sensitive(2))", "title": 'lower(upper("2"))', "heredoc": "trimspace(<<X\n2\nX\n)", "formatlist": 'formatlist("%s", ["2"])[0]', "log": "log(4, 2)", "signum": "signum(5) + 1",
}
over("a22-terraform-functions", {"main.tf": TF}, {k: {"main.tf": tfreq("local.n", "locals {\n  n = %s\n}\n" % v)} for k, v in TFE.items()}, REQ, True)

# shell, Slurm
SH = "#!/bin/bash\n"
CMD = "vllm serve Qwen/Qwen2.5-0.5B --tensor-paralel-size 1"
over("a23-shell", {"r.sh": SH + CMD + "\n"}, {
    "quotes in words": {"r.sh": SH + "v'l'\"l\"m se\\rve Qwen/Qwen2.5-0.5B --tensor-'paralel'-size 1\n"},
    "ansi quotes": {"r.sh": SH + "vllm serve Qwen/Qwen2.5-0.5B $'--tensor-par\\x61lel-size' 1\n"},
    "continuation in a word": {"r.sh": SH + "vllm serve Qwen/Qwen2.5-0.5B --tensor-par\\\nalel-size \\\n 1\n"},
    "array": {"r.sh": SH + "a=(vllm serve Qwen/Qwen2.5-0.5B # c\n)\na+=(--tensor-paralel-size=1)\nexec \"${a[@]}\"\n"},
    "variable": {"r.sh": SH + "O=\"--tensor-paralel-size 1\"\nM=Qwen/Qwen2.5-0.5B\nvllm serve $M ${O}\n"},
    "default": {"r.sh": SH + ": \"${O:=--tensor-paralel-size=1}\"\nvllm serve Qwen/Qwen2.5-0.5B ${O}\n"},
    "function": {"r.sh": SH + "s() {\n  local m=$1; shift\n  vllm serve \"$m\" \"$@\"\n}\ns Qwen/Qwen2.5-0.5B --tensor-paralel-size 1\n"},
    "function keyword": {"r.sh": SH + "function s { vllm serve \"${1}\" --tensor-paralel-size ${2}; }; s Qwen/Qwen2.5-0.5B 1\n"},
    "eval": {"r.sh": SH + "eval \"" + CMD + "\"\n"},
    "bash -c": {"r.sh": SH + "bash -lc '" + CMD + "'\n"},
    "heredoc": {"r.sh": SH + "bash <<'E O'\n" + CMD + "\nE O\n"},
    "here string": {"r.sh": SH + "bash <<< \"" + CMD + "\"\n"},
    "subshell": {"r.sh": SH + "( cd /x && { nohup " + CMD + " >log 2>&1 & } )\n"},
    "case": {"r.sh": SH + "case \"$1\" in\n  (a|b) " + CMD + " ;;\n  *) ;;\nesac\n"},
    "env, timeout": {"r.sh": SH + "A=1 env -u B C=2 nice -n 5 timeout --signal=KILL 9h " + CMD + "\n"},
    "set --": {"r.sh": SH + "set -- --tensor-paralel-size 1\nvllm serve Qwen/Qwen2.5-0.5B \"$@\"\n"},
    "if, while": {"r.sh": SH + "while ! " + CMD + "; do sleep 1; done\n"},
    "substitution": {"r.sh": SH + "x=$(" + CMD + ")\n"},
    "backquotes": {"r.sh": SH + "x=`" + CMD + "`\n"},
    "process substitution": {"r.sh": SH + "cat <(" + CMD + ")\n"},
    "trap": {"r.sh": SH + "trap '" + CMD + "' EXIT\n"},
    "sourced": {"r.sh": SH + ". ./lib.inc\nvllm serve Qwen/Qwen2.5-0.5B $O\n", "lib.inc": "O=--tensor-paralel-size=1\n"},
    "alias by variable": {"r.sh": SH + "V=vllm\n\"$V\" serve Qwen/Qwen2.5-0.5B --tensor-paralel-size 1\n"},
    "brace": {"r.sh": SH + "vllm serve Qwen/Qwen2.5-0.5B --tensor-{paralel,}-size 1\n".replace("{paralel,}", "paralel")},
    "crlf": {"run": "#!/usr/bin/env bash\n" + CMD + "\n"},
    "python -m": {"r.sh": SH + "python3 -u -m vllm.entrypoints.openai.api_server --model=Qwen/Qwen2.5-0.5B --tensor-paralel-size=1\n"},
    "docker run": {"r.sh": SH + "docker run --gpus=all -p8000:8000 vllm/vllm-openai:v0.8.4 --model Qwen/Qwen2.5-0.5B --tensor-paralel-size 1\n"},
    "for loop": {"r.sh": SH + "for f in --tensor-paralel-size=1; do vllm serve Qwen/Qwen2.5-0.5B $f; done\n"},
    "printf -v": {"r.sh": SH + "printf -v O '%s' --tensor-paralel-size=1\nvllm serve Qwen/Qwen2.5-0.5B $O\n"},
    "sh script in sh": {"r.sh": SH + "cat > /tmp/x.sh <<EOF\n" + CMD + "\nEOF\nbash /tmp/x.sh\n"}}, FLAG)
SL = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=8\n#SBATCH --mem-per-cpu=8G\n#SBATCH --mem=512G\nsrun python train.py\n"
over("a24-slurm", {"t.sbatch": SL}, {
    "one line": {"t.sbatch": "#!/bin/bash\n#SBATCH --nodes=1 --gpus-per-node=8 --mem-per-cpu 8G --mem 512G\nsrun python train.py\n"},
    "one line, equals": {"t.sbatch": "#!/bin/bash\n#SBATCH --nodes=1 --gpus-per-node=8 --mem-per-cpu=8G --mem=512G\nsrun python train.py\n"},
    "tabs and quotes": {"t.sbatch": SL.replace("--mem-per-cpu=8G", "\t--mem-per-cpu='8G'").replace("--mem=512G", "  --mem=\"512G\"  # all")},
    "comments and blanks between": {"t.sbatch": SL.replace("#SBATCH --mem=", "\n# note\n##SBATCH --exclusive\n   \n#SBATCH --mem=")},
    "other shell": {"t.sbatch": SL.replace("#!/bin/bash", "#!/usr/bin/env python3").replace("srun python train.py", "print(1)")},
    "in a heredoc": {"s.sh": "#!/bin/bash\nsbatch <<'EOT'\n" + SL + "EOT\n"},
    "on the command line": {"s.sh": "#!/bin/bash\nsbatch --nodes=1 --gpus-per-node=8 --mem-per-cpu=8G --mem=512G --wrap 'srun python train.py'\n"}}, "slurm-options-exclude-each-other")

# other holders of commands
CFG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
over("a25-holders", {"r.sh": SH + CMD + "\n"}, {
    "ConfigMap": {"c.yaml": CFG + "  run.sh: |\n    #!/bin/bash\n    " + CMD + "\n"},
    "ConfigMap, mounted": {"c.yaml": CFG + "  run.sh: |\n    #!/bin/bash\n    " + CMD + "\n---\n" + pod(GOOD, "vllm/vllm-openai:v0.8.4", "    command: [bash, /s/run.sh]\n    volumeMounts: [{name: s, mountPath: /s}]\n") + "  volumes: [{name: s, configMap: {name: a}}]\n"},
    "ConfigMap, quoted": {"c.yaml": CFG + "  run.sh: \"#!/bin/bash\\nvllm serve Qwen/Qwen2.5-0.5B \\\n    --tensor-paralel-size 1\\n\"\n"},
    "Pod args": {"c.yaml": pod(GOOD, "vllm/vllm-openai:v0.8.4", "    command: [sh, -c]\n    args:\n    - >-\n      exec vllm serve Qwen/Qwen2.5-0.5B\n\n      \n\n".replace("\n\n      \n\n", "\n") + "      --tensor-paralel-size 1\n")},
    "Pod args with a variable": {"c.yaml": pod(GOOD, "vllm/vllm-openai:v0.8.4", "    env: [{name: F, value: --tensor-paralel-size=1}]\n    args: [--model, Qwen/Qwen2.5-0.5B, $(F)]\n")},
    "Pod args, argument in one": {"c.yaml": pod(GOOD, "vllm/vllm-openai:v0.8.4", "    args: [--model=Qwen/Qwen2.5-0.5B, --tensor_paralel_size=1]\n")},
    "workflow": {".github/workflows/w.yaml": "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n    - name: x\n      run: >\n        vllm serve Qwen/Qwen2.5-0.5B\n        --tensor-paralel-size 1\n"},
    "GitLab": {".gitlab-ci.yml": ".a: &a\n  - " + CMD + "\njob:\n  script:\n  - echo\n  - *a\n"},
    "GitLab reference": {".gitlab-ci.yml": ".a:\n  script: [\"" + CMD + "\"]\njob:\n  script:\n  - !reference [.a, script]\n"},
    "systemd, plain": {"v.service": "[Service]\nExecStart=/usr/bin/vllm serve Qwen/Qwen2.5-0.5B --tensor-paralel-size 1\n"},
    "systemd, continued": {"v.service": "[Service]\nExecStart=/usr/bin/vllm serve Qwen/Qwen2.5-0.5B \\\n  --tensor-paralel-size 1\n"},
    "systemd": {"v.service": "[Unit]\nDescription=v\n[Service]\nExecStart=/usr/bin/vllm serve Qwen/Qwen2.5-0.5B \\\n# c\n; d\n  --tensor-paralel-size 1\n"},
    "Makefile": {"Makefile": "F := --tensor-paralel-size 1\nserve:\n\t@-vllm serve Qwen/Qwen2.5-0.5B \\\n\t  $(F)\n"},
    "Makefile define": {"Makefile": "define R\nvllm serve Qwen/Qwen2.5-0.5B --tensor-paralel-size 1\nendef\nserve: ; $(R)\n"},
    "Ansible": {"p.yml": "- hosts: all\n  vars: {f: tensor-paralel-size}\n  tasks:\n  - block:\n    - ansible.builtin.shell: |\n        vllm serve Qwen/Qwen2.5-0.5B --{{ f }} 1\n"},
    "cloud-init, .yaml": {"ud.yaml": "#cloud-config\nruncmd:\n- [vllm, serve, Qwen/Qwen2.5-0.5B, --tensor-paralel-size, '1']\n"},
    "cloud-init, text": {"ud.yaml": "#cloud-config\nruncmd:\n- " + CMD + "\n"},
    "cloud-init": {"user-data": "#cloud-config\nruncmd:\n- [vllm, serve, Qwen/Qwen2.5-0.5B, --tensor-paralel-size, '1']\n"},
    "cloud-init file": {"ud.yaml": "#cloud-config\nwrite_files:\n- path: /r.sh\n  encoding: b64\n  content: " + base64.b64encode((SH + CMD + "\n").encode()).decode() + "\n"},
    "Nomad, plain": {"j.nomad.hcl": 'job "a" {\n  group "g" {\n    task "t" {\n      driver = "docker"\n      config {\n        image = "vllm/vllm-openai:v0.8.4"\n        args = ["--model", "Qwen/Qwen2.5-0.5B", "--tensor-paralel-size", "1"]\n      }\n    }\n  }\n}\n'},
    "Nomad": {"j.nomad.hcl": 'job "a" {\n  group "g" {\n    task "t" {\n      driver = "docker"\n      config {\n        image = "vllm/vllm-openai:v0.8.4"\n        args = concat(["--model", "Qwen/Qwen2.5-0.5B"], ["--tensor-paralel-size", "1"])\n      }\n    }\n  }\n}\n'},
    "SkyPilot": {"s.yaml": "resources: {accelerators: A100:1}\nrun: |\n  " + CMD + "\n"},
    "CloudFormation": {"t.yaml": "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  I:\n    Type: AWS::EC2::Instance\n    Properties:\n      InstanceType: g5.xlarge\n      UserData: !Base64\n        Fn::Join: [\"\\n\", ['#!/bin/bash', '" + CMD + "']]\n"},
    "Terraform user data": {"m.tf": 'resource "aws_instance" "i" {\n  instance_type = "g5.xlarge"\n  user_data_base64 = base64encode(join("\\n", ["#!/bin/bash", "' + CMD + '"]))\n}\n'},
    }, FLAG)
PY = "[project]\nname = 's'\nversion = '1'\ndependencies = ['torch==2.1.0', 'torchvision==0.15.0']\n"
over("a26-python-projects", {"pyproject.toml": PY}, {
    "dotted keys": {"pyproject.toml": "project.name = 's'\nproject.version='1'\nproject.\"dependencies\" = [\n 'torch==2.1.0', # x\n \"\"\"torchvision\\\n ==0.15.0\"\"\",\n]\n"},
    "escapes": {"pyproject.toml": "[ 'project' ]\nname = 's'\nversion = '1'\n\"depend\\u0065ncies\" = [\"torch==2.1.0\", \"torchvis\\u0069on==0.15.0\"]\n"},
    "extra": {"pyproject.toml": "[project]\nname='s'\nversion='1'\ndependencies=['torch==2.1.0']\n[project.optional-dependencies]\ng=['torchvision==0.15.0']\n"},
    "dynamic": {"pyproject.toml": "[project]\nname='s'\nversion='1'\ndynamic=['dependencies']\n[tool.setuptools.dynamic]\ndependencies={file=['deps.txt']}\n", "deps.txt": RQ},
    "groups": {"pyproject.toml": "[dependency-groups]\na=['torch==2.1.0']\nb=[{include-group='a'},'torchvision==0.15.0']\n"},
    "setup.cfg": {"setup.cfg": "[metadata]\nname = s\n[options]\ninstall_requires =\n    torch==2.1.0\n    torchvision==0.15.0\n"},
    "conda pip": {"environment.yml": "name: a\ndependencies:\n- python=3.10\n- pip\n- pip:\n  - torch==2.1.0\n  - torchvision==0.15.0\n"},
    "conda pip -r": {"environment.yml": "name: a\ndependencies:\n- python=3.10\n- pip\n- pip:\n  - -r r.in\n", "r.in": RQ},
    "crlf": {"pyproject.toml": PY.replace("\n", "\r\n")}}, CONFLICT)

# ---------------------------------------------------------------- b) growth


def grow(id, make, n, isolated=True, args=()):
    def test():
        rs = []
        for k in (n, 2 * n):
            r = lint(make(k), args, isolated, tag=str(k))
            sane(r, f"n={k}: ")
            if r.rc == 2 and b"nothing" not in r.err and b"{" not in r.out[:1]:
                raise Fell(f"n={k}: exit code 2: {r.err[-200:]!r}")
            rs.append(r)
        a, b = rs
        info = f"CPU {a.cpu:.2f} -> {b.cpu:.2f} s, memory {a.mib:.0f} -> {b.mib:.0f} MB"
        bad = []
        if b.cpu > 0.6 and b.cpu / max(a.cpu, 0.01) > 2.8:
            bad.append(f"ratio {b.cpu / max(a.cpu, 0.01):.2f}")
        if b.cpu >= 10:
            bad.append("CPU >= 10 s")
        if b.mib >= 300:
            bad.append("memory >= 300 MB")
        if bad:
            raise Fell(", ".join(bad) + ": " + info)
        return info
    TESTS.append((id, test))


def f1(name, fn):
    return lambda n: {name: fn(n)}


grow("b01-yaml-nesting-flow", f1("p.yaml", lambda n: POD + "  x: " + "[" * n + "]" * n + "\n"), 50000)
grow("b02-yaml-nesting-maps", f1("p.yaml", lambda n: POD + "---\n" + "".join(" " * i + f"a{i}:\n" for i in range(n)) + " " * n + "nvidia.com/gpu: 1\n"), 700)
grow("b03-yaml-aliases", f1("p.yaml", lambda n: POD + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: &x {nvidia.com/gpu: 1, b: [1,2,3,4]}\ny:\n" + "- *x\n" * n), 60000)
grow("b04-yaml-billion-laughs", f1("p.yaml", lambda n: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nvidia}\na0: &a0 [nvidia.com/gpu]\n" + "".join(f"a{i}: &a{i} [" + ",".join([f"*a{i-1}"] * 9) + "]\n" for i in range(1, n))), 12)
grow("b05-yaml-merge-chain", f1("p.yaml", lambda n: POD + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: nvidia}\nm0: &m0 {k0: nvidia.com/gpu}\n" + "".join(f"m{i}: &m{i} {{<<: *m{i-1}, k{i}: 1}}\n" for i in range(1, n))), 3000)
grow("b06-yaml-documents", f1("p.yaml", lambda n: "---\n".join(pod(name=f"p{i}") for i in range(n))), 1000)
grow("b07-yaml-long-line", f1("p.yaml", lambda n: pod(extra="    args: [" + ", ".join(f"--flag-{i}=nvidia" for i in range(n)) + "]\n")), 25000)
grow("b08-yaml-containers", f1("p.yaml", lambda n: "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers:\n" + "".join(
    f"  - {{name: c{i}, image: 'vllm/vllm-openai:latest', resources: {{requests: {{nvidia.com/gpu: 2}}, limits: {{nvidia.com/gpu: 1}}}}}}\n" for i in range(n))), 3000)
grow("b09-yaml-services-and-pods", f1("p.yaml", lambda n: "".join(
    f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{i}}}\nspec:\n  selector: {{matchLabels: {{a: x}}}}\n  template:\n    metadata: {{labels: {{a: x}}}}\n    spec: {{containers: [{{name: c, image: 'vllm/vllm-openai:v0.8.4', ports: [{{containerPort: 8000}}], resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}\n---\n"
    f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{i}}}\nspec: {{selector: {{a: x}}, ports: [{{port: 80, targetPort: 8000}}]}}\n---\n"
    f"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: b{i}}}\nspec: {{minAvailable: 1, selector: {{matchLabels: {{a: x}}}}}}\n---\n" for i in range(n))), 400)
grow("b10-json-nesting", f1("p.json", lambda n: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"nvidia"},"spec":' + '{"a":' * n + "1" + "}" * n + "}"), 60000)
grow("b11-compose-services", f1("compose.yaml", lambda n: "services:\n" + "".join(
    f"  s{i}:\n    image: vllm/vllm-openai:v0.8.4\n    command: [--model, Qwen/Qwen2.5-0.5B]\n    depends_on: [s{max(i-1, 0)}]\n    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, count: 1, capabilities: [gpu]}}]}}}}}}\n" for i in range(n))), 1500)
grow("b12-compose-extends-chain", f1("compose.yaml", lambda n: "services:\n  s0: {image: 'vllm/vllm-openai:v0.8.4', gpus: all}\n" + "".join(f"  s{i}: {{extends: s{i-1}, environment: {{A{i}: b}}}}\n" for i in range(1, n))), 1000)
grow("b13-compose-include-chain", lambda n: dict({"compose.yaml": "include: [c0.yaml]\n"}, **{f"c{i}.yaml": (f"include: [c{i+1}.yaml]\n" if i < n - 1 else "") + f"services: {{s{i}: {{image: 'vllm/vllm-openai:v0.8.4', gpus: all}}}}\n" for i in range(n)}), 250)
grow("b14-compose-env-files", lambda n: dict({"compose.yaml": "services:\n  s:\n    image: vllm/vllm-openai:v0.8.4\n    gpus: all\n    env_file: [" + ", ".join(f"e{i}.env" for i in range(n)) + "]\n"}, **{f"e{i}.env": "".join(f"V{i}_{j}=${{V{max(i-1,0)}_{j}}}x\n" for j in range(10)) for i in range(n)}), 600)
grow("b15-compose-env-doubling", lambda n: {"compose.yaml": CO.replace("rocm", f"${{V{n-1}}}"), ".env": "V0=aaaaaaaaaa\n" + "".join(f"V{i}=${{V{i-1}}}${{V{i-1}}}\n" for i in range(1, n))}, 20)
grow("b16-compose-nested-defaults", lambda n: {"compose.yaml": CO.replace("rocm", "${A:-" * n + "x" + "}" * n)}, 20000)
grow("b17-dockerfile-stages", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04 AS s0\n" + "".join(f"FROM s{i-1} AS s{i}\nENV A{i}=${{A{i-1}}}x\nRUN pip install torch==2.1.0\n" for i in range(1, n))), 600)
grow("b18-dockerfile-copy-from", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04 AS s0\nRUN pip install torch==2.1.0\n" + "".join(f"FROM s{i//2} AS s{i}\nCOPY --from=s{i-1} /a /a\nCOPY --from=s{i//2} /b /b\n" for i in range(1, n))), 1000)
grow("b19-dockerfile-env-doubling", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nENV V0=aaaaaaaaaa\n" + "".join(f"ENV V{i}=$V{i-1}$V{i-1}\n" for i in range(1, n)) + f"RUN pip install torch==$V{n-1}\n"), 20)
grow("b20-dockerfile-one-run", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN true \\\n" + "".join(f" && pip install pkg{i}==1.0 \\\n" for i in range(n)) + " && true\n"), 10000)
grow("b21-dockerfile-heredocs", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n" + "".join(f"RUN <<E{i}\npip install torch==2.1.0\n" for i in range(n)) + "".join(f"E{i}\n" for i in reversed(range(n)))), 8000)
grow("b22-requirements-many", f1("requirements.txt", lambda n: "torch==2.1.0\n" + "".join(f"package-{i}[a,b]>=1.{i},<2 ; python_version >= '3.8'\n" for i in range(n))), 9000)
grow("b23-requirements-same", f1("requirements.txt", lambda n: "torch>=1.0\n" * n + "torchvision==0.15.0\n" * n), 10000)
grow("b24-requirements-include-chain", lambda n: dict({"requirements.txt": "torch==2.1.0\n-r r0.txt\n"}, **{f"r{i}.txt": f"-r r{i+1}.txt\npkg{i}==1\n" if i < n - 1 else "torchvision==0.15.0\n" for i in range(n)}), 400)
grow("b25-requirements-include-doubling", lambda n: dict({"requirements.txt": "torch==2.1.0\n-r r0.txt\n"}, **{f"r{i}.txt": f"-r r{i+1}.txt\n-r ./r{i+1}.txt\n" if i < n - 1 else "torchvision==0.15.0\n" for i in range(n)}), 14)
grow("b26-requirements-markers", f1("requirements.txt", lambda n: "torch==2.1.0 ; " + "(" * n + "os_name=='posix'" + ")" * n + "\ntorchvision==0.15.0 ; " + " or ".join(["(os_name=='nt' and python_version<'3')"] * n) + "\n"), 9000)
grow("b27-helm-values", lambda n: chart("{{ toYaml .Values | indent 2 }}\n" + pod(GOOD, '{{ .Values.k0 }}').replace("apiVersion", "---\napiVersion"), "".join(f"k{i}: vllm/vllm-openai:latest\n" for i in range(n))), 14000)
grow("b28-helm-range", lambda n: chart("{{ range $i := until %d }}\n---\n" % n + pod(name="p{{ $i }}") + "{{ end }}\n"), 500)
grow("b29-helm-nested-range", lambda n: chart(HEAD + "{{ range until %d }}{{ range until %d }}{{ range until %d }}{{ range until %d }}{{ end }}{{ end }}{{ end }}{{ end }}\n  - {name: c, image: vllm/vllm-openai:latest, resources: %s}\n" % (n, n, n, n, GOOD)), 60)
grow("b30-helm-doubling", lambda n: dict(chart(pod(GOOD, '{{ include "d%d" . }}' % (n - 1))), **{"c/templates/_h.tpl": '{{ define "d0" }}x{{ end }}' + "".join('{{ define "d%d" }}{{ include "d%d" . }}{{ include "d%d" . }}{{ end }}' % (i, i - 1, i - 1) for i in range(1, n))}), 18)
grow("b31-helm-if-nesting", lambda n: chart("{{ if true }}" * n + IMGPOD + "{{ end }}" * n), 10000)
grow("b32-helm-expression-nesting", lambda n: chart(pod(GOOD, "vllm/vllm-openai:{{ " + "(" * n + '"latest"' + ")" * n + " }}")), 20000)
grow("b33-helm-pipeline", lambda n: chart(pod(GOOD, 'vllm/vllm-openai:{{ "latest"' + " | trim" * n + " }}")), 20000)
grow("b34-helm-subcharts", lambda n: dict({"c/Chart.yaml": CHART, "c/values.yaml": "".join(f"s{i}: {{t: latest}}\n" for i in range(n))}, **{
    f"c/charts/s{i}/{k}": v for i in range(n) for k, v in (("Chart.yaml", CHART.replace("name: c", f"name: s{i}")), ("templates/p.yaml", pod(GOOD, "vllm/vllm-openai:{{ .Values.t }}", name=f"p{i}")))}), 150)
grow("b35-helm-switches", lambda n: chart("".join(f"{{{{ if .Values.s{i}.enabled }}}}\n---\n" + pod(name=f"p{i}") + "{{ end }}\n" for i in range(n)), "".join(f"s{i}: {{enabled: false}}\n" for i in range(n))), 250)
grow("b36-helm-values-files", lambda n: dict(chart(IMGPOD.replace("latest", "{{ .Values.t }}"), "t: v0.8.4\n"), **{f"c/values-{i}.yaml": f"t: v0.8.{i}\n" for i in range(n)}), 250)
grow("b37-kustomize-chain", lambda n: dict({"p.yaml": POD, "k0/kustomization.yaml": "resources: [p.yaml]\n", "k0/p.yaml": POD}, **{f"k{i}/kustomization.yaml": f"resources: [../k{i-1}]\nnamePrefix: a\n" for i in range(1, n)}), 60)
grow("b38-kustomize-patches", lambda n: {"p.yaml": "---\n".join(pod(name=f"p{i}") for i in range(n)), "kustomization.yaml": "resources: [p.yaml]\npatches:\n" + "".join(f"- target: {{kind: Pod, name: p{i}}}\n  patch: '[{{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{{\"a\":\"{i}\"}}}}]'\n" for i in range(n))}, 500)
grow("b39-terraform-variables", f1("main.tf", lambda n: TF + "".join(f'variable "v{i}" {{\n  default = "x"\n}}\nlocals {{\n  l{i} = "${{local.l{max(i-1,0)}}}${{var.v{i}}}"\n}}\n' if i else 'locals {\n  l0 = "nvidia"\n}\n' for i in range(n))), 3000)
grow("b40-terraform-doubling", f1("main.tf", lambda n: tfreq(f"length(local.l{n-1})", "".join(f"locals {{\n  l{i} = \"${{local.l{i-1}}}${{local.l{i-1}}}\"\n}}\n" if i else 'locals {\n  l0 = "aaaaaaaaaa"\n}\n' for i in range(n)))), 18)
grow("b41-terraform-list-doubling", f1("main.tf", lambda n: tfreq(f"length(local.l{n-1})", "".join(f"locals {{\n  l{i} = [local.l{i-1}, local.l{i-1}]\n}}\n" if i else 'locals {\n  l0 = ["nvidia"]\n}\n' for i in range(n)))), 18)
grow("b42-terraform-modules", lambda n: dict({"main.tf": "".join(f'module "m{i}" {{\n  source = "./m"\n  n = {i}\n}}\n' for i in range(n)), "m/main.tf": tfreq("var.n", 'variable "n" {}\n')}), 240)
grow("b43-terraform-module-tree", lambda n: {f"m{i}/main.tf" if i else "main.tf": "".join(f'module "{x}" {{\n  source = "{"../" if i else "./"}m{i+1}"\n}}\n' for x in ("a", "b")) if i < n - 1 else TF for i in range(n)}, 7)
grow("b44-terraform-expression", f1("main.tf", lambda n: tfreq("local.n", "locals {\n  n = " + " + ".join(["1"] * n) + "\n}\n")), 40000)
grow("b45-terraform-nesting", f1("main.tf", lambda n: tfreq("local.n", "locals {\n  n = " + "(" * n + "2" + ")" * n + "\n}\n")), 30000)
grow("b46-terraform-product", f1("main.tf", lambda n: tfreq("local.n", "locals {\n  n = length(setproduct(" + ", ".join(f"range({n})" for _ in range(4)) + "))\n}\n")), 40)
grow("b47-shell-variables", f1("r.sh", lambda n: SH + "V0=vllm\n" + "".join(f"V{i}=\"$V{i-1} --a{i}\"\n" for i in range(1, n)) + f"$V{n-1}\n"), 1500)
grow("b48-shell-doubling", f1("r.sh", lambda n: SH + "V0=aaaaaaaaaa\n" + "".join(f"V{i}=$V{i-1}$V{i-1}\n" for i in range(1, n)) + f"vllm serve $V{n-1}\n"), 20)
grow("b49-shell-functions", f1("r.sh", lambda n: SH + "f0() { vllm serve Qwen/Qwen2.5-0.5B \"$@\"; }\n" + "".join(f"f{i}() {{ f{i-1} \"$@\"; f{i-1} \"$@\"; }}\n" for i in range(1, n)) + f"f{n-1} --tensor-paralel-size 1\n"), 20)
grow("b50-shell-nesting", f1("r.sh", lambda n: SH + "(" * n + "vllm serve a" + ")" * n + "\n" + "$(" * n + "vllm serve a" + ")" * n + "\n"), 20000)
grow("b51-shell-ifs", f1("r.sh", lambda n: SH + "if true; then\n" * n + "vllm serve a\n" + "fi\n" * n), 15000)
grow("b52-shell-long-line", f1("r.sh", lambda n: SH + "vllm serve Qwen/Qwen2.5-0.5B " + " ".join(f"--tensor-paralel-size{i} 1" for i in range(n)) + "\n"), 1000)
grow("b53-workflow-matrix", f1(".github/workflows/w.yaml", lambda n: "on: push\njobs:\n  a:\n    runs-on: ${{ matrix.r0 }}\n    strategy:\n      matrix:\n" + "".join(f"        r{i}: [" + ", ".join(f"gpu{j}" for j in range(10)) + "]\n" for i in range(n)) +
                                      "    steps:\n    - run: vllm serve " + " ".join(f"${{{{ matrix.r{i} }}}}" for i in range(n)) + "\n"), 400)
grow("b54-workflow-jobs", f1(".github/workflows/w.yaml", lambda n: "on: push\njobs:\n" + "".join(f"  a{i}:\n    needs: [a{max(i-1,0)}]\n    runs-on: [self-hosted, gpu]\n    steps:\n    - run: |\n        pip install torch==2.1.0 torchvision==0.15.0\n" for i in range(n))), 1500)
grow("b55-config-patterns", lambda n: dict({".gpulint.yaml": "exclude:\n" + "".join(f"- '**/a{i}*/**/b*{i}?/*.{{yaml,yml}}'\n" for i in range(n)) + "ignores:\n" + "".join(f"- {{rule: image-not-pinned, path: '**/*a*{i}*/**', reason: x}}\n" for i in range(n)), "a/b/c/d/p.yaml": POD}, **{f"d/e{i}/p.yaml": IMGPOD for i in range(60)}), 450, False)
grow("b56-config-star-pattern", lambda n: {".gpulint.yaml": "exclude: ['" + "*a" * n + "*b']\nignores: [{rule: image-not-pinned, path: '" + "**/a*" * n + "/x', reason: y}]\n", "a" * 200 + "/" + "a" * 200 + "/p.yaml": POD + "---\n" + IMGPOD}, 2000, False)
grow("b57-gitignore", lambda n: dict({".gitignore": "".join(f"**/x{i}*/**/*y\n!x{i}\n" for i in range(n))}, **{f"d/e{i}/p.yaml": IMGPOD for i in range(60)}), 10000, False)
grow("b58-directories", lambda n: {"/".join(["d"] * n) + "/p.yaml": POD}, 400)
grow("b59-slurm-directives", f1("t.sbatch", lambda n: "#!/bin/bash\n" + "".join(f"#SBATCH --gres=gpu:{i}\n" for i in range(n)) + "srun python train.py\n"), 18000)
grow("b60-ansible", f1("p.yml", lambda n: "- hosts: all\n  vars:\n    v0: nvidia\n" + "".join(f"    v{i}: '{{{{ v{i-1} }}}}{{{{ v{i-1} }}}}'\n" for i in range(1, n)) + f"  tasks:\n  - shell: vllm serve {{{{ v{n-1} }}}}\n"), 20)
grow("b61-nomad-locals", f1("j.nomad.hcl", lambda n: "locals {\n  l0 = \"vllm\"\n" + "".join(f"  l{i} = \"${{local.l{i-1}}}${{local.l{i-1}}}\"\n" for i in range(1, n)) + f"}}\njob \"a\" {{\n  group \"g\" {{\n    task \"t\" {{\n      driver = \"docker\"\n      config {{\n        image = local.l{n-1}\n      }}\n    }}\n  }}\n}}\n"), 20)
grow("b62-bake-targets", f1("docker-bake.hcl", lambda n: "".join(f"target \"t{i}\" {{\n  inherits = [\"t{max(i-1,0)}\"{', ' + chr(34) + 't' + str(max(i-2,0)) + chr(34) if i > 1 else ''}]\n  args = {{ A{i} = \"nvidia\" }}\n}}\n" if i else 'target "t0" {\n  dockerfile = "Dockerfile"\n}\n' for i in range(n))), 30)
grow("b63-makefile", f1("Makefile", lambda n: "V0 = vllm\n" + "".join(f"V{i} = $(V{i-1}) $(V{i-1})\n" for i in range(1, n)) + f"a:\n\t$(V{n-1})\n"), 20)
grow("b64-pyproject-groups", f1("pyproject.toml", lambda n: "[dependency-groups]\ng0=['torch==2.1.0']\n" + "".join(f"g{i}=[{{include-group='g{i-1}'}},{{include-group='g{i-1}'}}]\n" for i in range(1, n))), 14)
grow("b65-gitlab-extends", f1(".gitlab-ci.yml", lambda n: ".j0: {image: 'nvidia/cuda:latest', script: [nvidia-smi]}\n" + "".join(f".j{i}: {{extends: [.j{i-1}, .j{max(i-2,0)}]}}\n" for i in range(1, n)) + f"z: {{extends: .j{n-1}}}\n"), 30)
grow("b66-toml-nesting", f1("pyproject.toml", lambda n: PY + "[tool.x]\na = " + "[" * n + "]" * n + "\n"), 60000)

DEP = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%d}\nspec:\n  selector: {matchLabels: {a: x%d}}\n  template:\n    metadata: {labels: {a: x%d, all: y}}\n    spec:\n      tolerations: [{key: k%d, operator: Exists}]\n      nodeSelector: {pool: p%d}\n      containers: [{name: c, image: 'vllm/vllm-openai:v0.8.4', envFrom: [{configMapRef: {name: m%d}}], resources: {limits: {nvidia.com/gpu: 1}}}]\n---\n"
grow("b67-yaml-deployments-and-pools", lambda n: {"p.yaml": "".join(DEP % ((i,) * 6) for i in range(n)), "m.tf": "".join(
    f'resource "google_container_node_pool" "p{i}" {{\n  name = "p{i}"\n  cluster = "c"\n  node_config {{\n    machine_type = "g2-standard-4"\n    labels = {{ pool = "p{i}" }}\n    guest_accelerator {{\n      type = "nvidia-l4"\n      count = 1\n    }}\n    taint {{\n      key = "k{i}"\n      value = "v"\n      effect = "NO_SCHEDULE"\n    }}\n  }}\n}}\n' for i in range(n))}, 250)
grow("b68-yaml-scalers", f1("p.yaml", lambda n: "".join(DEP % ((i,) * 6) + f"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: h{i}}}\nspec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: d{i}}}, minReplicas: 1, maxReplicas: 4, metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 80}}}}}}]}}\n---\n" for i in range(n))), 500)
grow("b69-yaml-network-policies", f1("p.yaml", lambda n: "".join(DEP % ((i,) * 6) + f"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: n{i}}}\nspec: {{podSelector: {{matchLabels: {{all: y}}}}, ingress: [{{from: [{{podSelector: {{matchLabels: {{all: y}}}}}}]}}]}}\n---\n" for i in range(n))), 400)
grow("b70-yaml-config-maps", f1("p.yaml", lambda n: "".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{i}}}\ndata: {{A{i}: vllm, B: '--model x', r.sh: 'vllm serve a --tensor-parallel-size 2'}}\n---\n" for i in range(n)) +
     pod(GOOD, "vllm/vllm-openai:v0.8.4", "    envFrom: [" + ", ".join(f"{{configMapRef: {{name: m{i}}}}}" for i in range(n)) + "]\n")), 1500)
grow("b71-yaml-env-of-env", f1("p.yaml", lambda n: pod(GOOD, "vllm/vllm-openai:v0.8.4", "    env:\n" + "".join(f"    - {{name: E{i}, value: '$(E{i-1})x'}}\n" for i in range(n)) + f"    args: [--model, $(E{n-1})]\n")), 8000)
grow("b72-yaml-env-doubling", f1("p.yaml", lambda n: pod(GOOD, "vllm/vllm-openai:v0.8.4", "    env:\n    - {name: E0, value: aaaaaaaaaa}\n" + "".join(f"    - {{name: E{i}, value: '$(E{i-1})$(E{i-1})'}}\n" for i in range(1, n)) + f"    args: [--model, $(E{n-1})]\n")), 20)
grow("b73-dockerfile-path", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n" + "".join(f"ENV PATH=/opt/a{i}:$PATH\n" for i in range(n)) + "RUN pip install torch==2.1.0\n"), 8000)
grow("b74-dockerfile-env-and-runs", f1("Dockerfile", lambda n: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n" + "".join(f"ENV A{i}=b{i}\nRUN pip install p{i}==1.0\n" for i in range(n))), 3000)
grow("b75-shell-append", f1("r.sh", lambda n: SH + "X=vllm\n" + "".join(f"X=\"$X --a{i}\"\n" for i in range(n)) + "$X\n"), 8000)
grow("b76-shell-array-append", f1("r.sh", lambda n: SH + "X=(vllm serve a)\n" + "".join(f"X+=(--a{i} 1)\n" for i in range(n)) + "\"${X[@]}\"\n"), 8000)
grow("b77-shell-commands", f1("r.sh", lambda n: SH + "".join(f"V{i}=x{i}\nvllm serve Qwen/Qwen2.5-0.5B --port $V{i}\n" for i in range(n))), 2500)
grow("b78-shell-heredocs", f1("r.sh", lambda n: SH + "".join(f"bash <<E{i}\n" for i in range(n)) + "vllm serve a\n" + "".join(f"E{i}\n" for i in reversed(range(n)))), 5000)
grow("b79-shell-nested-bash-c", f1("r.sh", lambda n: SH + "bash -c " * n + "'vllm serve a'\n" + "eval " * n + "vllm serve a\n" + "env A=1 " * n + "vllm serve a\n"), 2500)
grow("b80-makefile-append", f1("Makefile", lambda n: "V = vllm\n" + "".join(f"V := $(V) --a{i}\n" for i in range(n)) + "a:\n\t$(V)\n"), 8000)
grow("b81-dotenv-append", lambda n: {"compose.yaml": CO.replace("rocm", '"${A}"'), ".env": "A=x\n" + "".join(f"A=${{A}}y{i}\n" for i in range(n))}, 20000)
grow("b82-helm-append", lambda n: chart('{{ $x := "vllm" }}{{ range $i := until %d }}{{ $x = print $x " --a" $i }}{{ end }}\n' % n + pod(GOOD, '"vllm/vllm-openai:latest"', '    args: [{{ $x | quote }}]\n')), 8000)
grow("b83-helm-merge-in-loop", lambda n: chart('{{ $d := dict }}{{ range $i := until %d }}{{ $d = merge $d (dict (print "k" $i) $i) }}{{ end }}\n' % n + pod(GOOD, '"vllm/vllm-openai:latest"', '    args: [{{ len $d | quote }}]\n')), 4000)
grow("b84-helm-long-text", lambda n: chart('{{ $x := repeat %d "vllm " }}\n' % (n * 50) + pod(GOOD, '"vllm/vllm-openai:latest"', '    args: [{{ regexReplaceAll "(v+l*)*x" $x "" | upper | lower | quote }}]\n')), 8000)
grow("b85-helm-tpl-loop", lambda n: chart('{{ range $i := until %d }}{{ $_ := tpl "{{ .a }}" (dict "a" $i "Template" $.Template) }}{{ end }}\n' % n + IMGPOD), 8000)
grow("b86-kustomize-images", lambda n: {"p.yaml": "---\n".join(pod(GOOD, f"x{i}:v1", name=f"p{i}") for i in range(n)), "kustomization.yaml": "resources: [p.yaml]\nimages:\n" + "".join(f"- {{name: x{i}, newName: vllm/vllm-openai, newTag: latest}}\n" for i in range(n))}, 600)
grow("b87-kustomize-generators", lambda n: {"p.yaml": "---\n".join(pod(GOOD, "vllm/vllm-openai:v0.8.4", f"    envFrom: [{{configMapRef: {{name: m{i}}}}}]\n", f"p{i}") for i in range(n)), "kustomization.yaml": "resources: [p.yaml]\nconfigMapGenerator:\n" + "".join(f"- {{name: m{i}, literals: [a=b]}}\n" for i in range(n))}, 600)
grow("b88-kustomize-replacements", lambda n: {"p.yaml": "---\n".join(pod(GOOD, "vllm/vllm-openai:v0.8.4", name=f"p{i}") for i in range(n)), "kustomization.yaml": "resources: [p.yaml]\nreplacements:\n" + "".join(f"- source: {{kind: Pod, name: p{i}, fieldPath: metadata.name}}\n  targets: [{{select: {{kind: Pod}}, fieldPaths: [spec.containers.0.name]}}]\n" for i in range(n))}, 250)
grow("b89-kustomize-operations", lambda n: {"p.yaml": POD, "kustomization.yaml": "resources: [p.yaml]\npatches:\n- target: {kind: Pod}\n  path: x.json\n", "x.json": json.dumps([{"op": "add", "path": "/spec/containers/0/args", "value": []}] + [{"op": "add", "path": "/spec/containers/0/args/0", "value": f"--a{i}"} for i in range(n)])}, 6000)
grow("b90-kustomize-doubling", lambda n: dict({"k0/kustomization.yaml": "resources: [p.yaml]\n", "k0/p.yaml": IMGPOD}, **{f"k{i}/kustomization.yaml": f"resources: [a, b]\n" for i in range(1, n)}, **{f"k{i}/{x}/kustomization.yaml": f"resources: [../../k{i-1}]\nnamePrefix: {x}\n" for i in range(1, n) for x in "ab"}), 7)
grow("b91-terraform-locals-of-all", f1("main.tf", lambda n: "".join(f'locals {{\n  l{i} = concat({"local.l%d" % (i-1) if i else "[]"}, ["nvidia-{i}"])\n}}\n' for i in range(n)) + tfreq(f"length(local.l{n-1})")), 3000)
grow("b92-terraform-resources", f1("main.tf", lambda n: "".join(f'resource "aws_instance" "i{i}" {{\n  instance_type = "g5.xlarge"\n  ami = var.a{i}\n  user_data = "#!/bin/bash\\npip install torch==2.1.0"\n}}\nvariable "a{i}" {{\n  default = "ami-{i}"\n}}\n' for i in range(n))), 1200)
grow("b93-terraform-count", f1("main.tf", lambda n: TF.replace('"x" {', '"x" {\n  for_each = toset([for a in range(%d) : tostring(a)])' % n)), 5000)
grow("b94-terraform-for-nesting", f1("main.tf", lambda n: tfreq("local.n", "locals {\n  n = length(flatten(" + "".join(f"[for a{i} in range({n}) : " for i in range(4)) + "1" + "]" * 4 + "))\n}\n")), 40)
grow("b95-gitlab-includes", lambda n: dict({".gitlab-ci.yml": "include: [{local: /c0.yml}]\n"}, **{f"c{i}.yml": (f"include: [{{local: /c{i+1}.yml}}]\n" if i < n - 1 else "") + f"j{i}: {{image: 'nvidia/cuda:latest', script: [nvidia-smi]}}\n" for i in range(n)}), 400)
grow("b96-requirements-with-constraints", lambda n: {"requirements.txt": "".join(f"-c c{i}.txt\n" for i in range(n)) + "torchvision\n" * n, **{f"c{i}.txt": f"torch==2.1.0\nvllm==0.8.4\n" for i in range(n)}}, 500)
grow("b97-yaml-merge-lists", f1("p.yaml", lambda n: POD + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: nvidia}\n" + "".join(f"m{i}: &m{i} {{k{i}: nvidia.com/gpu}}\n" for i in range(n)) + "z:\n  <<: [" + ", ".join(f"*m{i}" for i in range(n)) + "]\n"), 12000)
grow("b98-yaml-many-keys", f1("p.yaml", lambda n: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + "".join(f"  k{i}: nvidia.com/gpu\n" for i in range(n))), 18000)
grow("b99-yaml-same-findings", f1("p.yaml", lambda n: "---\n".join(POD for i in range(n))), 1500)

# ---------------------------------------------------------------- c) output

FORMATS = "human concise grouped markdown github gitlab json jsonl sarif rdjson junit checkstyle csv".split()
OWN = re.compile(r"::(error|warning|notice)( (file|line|endLine|col|endColumn|title)=[^:\n]*(,(file|line|endLine|col|endColumn|title)=[^:,\n]*)*)?::")
INVISIBLE = set(map(chr, list(range(0x202a, 0x202f)) + list(range(0x2066, 0x206a)) + [0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0x061c]))


def check_output(fmt, r, what="", invisible=True):
    bad = []
    for stream, data in (("stdout", r.out), ("stderr", r.err)):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as e:
            bad.append(f"{stream} is no UTF-8: {e}")
            text = data.decode("utf-8", "replace")
        for i, line in enumerate(re.split(r"\r\n|\r|\n", text)):
            # the runner of GitHub trims a line before it looks for `::`; `##[` and `##vso[` count anywhere
            t = line.strip().lstrip("\ufeff\u200b")
            if t.startswith("::") and not (fmt == "github" and line == t and OWN.match(line)):
                bad.append(f"{stream}:{i+1} begins with ::  {line[:90]!r}")
            for w in ("##[", "##vso[", "##teamcity["):
                if w in line:
                    bad.append(f"{stream}:{i+1} holds {w}  {line[max(0, line.index(w)-30):][:80]!r}")
        raw = sorted({c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or (invisible and c in INVISIBLE)} - ({"\r"} if fmt == "csv" else set()))
        if raw:
            p = text.index(raw[0])
            bad.append(f"{stream}: raw {raw!r} at {text[max(0, p-40):p+20]!r}")
        if fmt == "csv" and re.search(r"\r(?!\n)", text):
            bad.append("raw CR in csv")
    try:
        if fmt in ("json", "gitlab", "sarif", "rdjson"):
            json.loads(r.out)
        elif fmt == "jsonl":
            [json.loads(l) for l in r.out.decode().split("\n") if l]
        elif fmt in ("junit", "checkstyle"):
            ET.fromstring(r.out)
    except Exception as e:
        bad.append(f"not well-formed: {e}")
    return [f"{fmt}{what}: {b}" for b in bad]


def out(id, make, least=1, args=()):
    """`make()` gives {label: files}; at least one finding must come, or nothing is tested."""
    def test():
        bad = []
        for label, files in make().items():
            n = len(report(lint(files, tag="json"))["diagnostics"])
            if n < least:
                bad.append(f"CONTROL {label}: only {n} findings")
            for fmt in FORMATS:
                r = lint(files, ["--format", fmt, "--show-unknown", "--show-unread"] + list(args) if fmt in ("human", "concise", "grouped") else ["--format", fmt] + list(args), tag=fmt)
                sane(r, fmt + ": ")
                bad += check_output(fmt, r, f" ({label})" if label else "")
        if bad:
            raise Fell(f"{len(bad)} places: " + " | ".join(bad[:6]))
    TESTS.append((id, test))


EVIL = ["::error::pwn", "##[group]pwn", "##vso[task.setvariable]x", "\x1b[31mred", "\x07", "\x9b31m", "\x7f", "a\r::error::pwn", "\u202eabc", "\u2028::error::pwn", "\u0085::error::pwn", "\u200b", "%0A::error::pwn", "]]>", "<b>&"]
OUTNAMES = ["::error::pwn.yaml", "a\n::error::pwn.yaml", "a\r::error::pwn.yaml", " ::error::pwn.yaml", "##[group]pwn.yaml", "\x1b[31m.yaml", "\x9b31m.yaml", "\u202efdp.yaml", "\u2028::error::x.yaml", "%0A::error::x.yaml", ":: :.yaml", "a,b=c:d.yaml", "##vso[x]y.yaml", "\x7f\x08\x0b.yaml", "\ufeff.yaml", "-x.yaml", "=cmd|' '.yaml"]
out("c01-file-names", lambda: {"": {n: POD for n in OUTNAMES}})
out("c02-directory-names", lambda: {"": {**{n.replace(".yaml", "") + "/" + n: IMGPOD for n in OUTNAMES}, **{b"\xff\n::error::/\xfe.yaml": POD, "\n::error::d/Dockerfile": "FROM nvidia/cuda:latest\n", "\n::warning::r/requirements.txt": RQ}}})
out("c03-values", lambda: {"": {"p.yaml": "---\n".join(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s}\nspec:\n  containers:\n  - name: %s\n    image: %s\n    args: [--model, %s, %s]\n    resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}\n    env: [{name: HF_TOKEN, value: %s}]\n"
    % tuple(json.dumps(x) for x in (e, e, e, "vllm/vllm-openai:" + e, e, "--" + e + "=1", "hf_" + e)) for e in EVIL)}})
out("c04-wrapped-values", lambda: {sep or "blank": {"p.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  containers:\n  - name: c\n    image: vllm/vllm-openai:v0.8.4\n    args: [--model, Qwen/Qwen2.5-0.5B, %s]\n    resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}\n"
    % (json.dumps(v), json.dumps("--" + v)), "r.sh": SH + "vllm serve Qwen/Qwen2.5-0.5B '--" + v.replace("\n", " ") + "'\n", "Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install 'torch==2.1.0' 'torchvision==0.15.0 ; " + v.replace("\n", " ") + "'\n",
    "compose.yaml": CO.replace("rocm", json.dumps(v))}
    for sep in (" ", "\t", "\u3000", "\u00a0", "\n", "-") for v in [sep.join(["::error::pwn"] * 30)]})
out("c05-errors-of-syntax", lambda: {"": {
    "a.yaml": "apiVersion: v1\nkind: Pod\nnvidia.com/gpu: 1\n\x1b[31m::error::x: [\n::error::pwn: *nope\n", "b.yaml": "kind: Pod\nx: nvidia.com/gpu\n\"::error::pwn\n::error::b\": {\n", "c.json": '{"kind": "Pod", "nvidia.com/gpu": "::error::\n::error::pwn\x1b" x}',
    "m.tf": 'resource "kubernetes_pod" "nvidia" {\n  x = "::error::pwn\n::error::\x1b"\n', "Dockerfile": "FROM nvidia/cuda:latest\n::error::PWN x\n\x1b[31mRUN nvidia\n", "requirements.txt": "torch==\x1b[31m::error::\n::error::pwn==1\n", "compose.yaml": "services:\n  s:\n    image: nvidia/cuda:latest\n    \"::error::\\n::error::pwn\": 1\n    command: \"'::error::\n\n      ::error::pwn\"\n",
    "c/Chart.yaml": CHART, "c/templates/p.yaml": IMGPOD + "{{ fail \"x\\n::error::pwn\\n##[group]\\x1b[31m\" }}\n", "d/Chart.yaml": CHART.replace("name: c", "name: d"), "d/templates/q.yaml": IMGPOD + "{{ nope \"\n::error::pwn\" }}\n",
    "k/kustomization.yaml": "resources: [\"a\\n::error::pwn.yaml\", p.yaml]\npatches: [{path: \"\\e[31m::error::\"}]\n", "k/p.yaml": POD, "r.sh": SH + "vllm serve 'x\n::error::pwn\n##[group]\x1b[31m\n", "w/pyproject.toml": "[project]\nname = \"\x1b[31m::error::\ndependencies = ['torch==2.1.0']\n"}})
out("c06-error-by-value-kinds", lambda: {"": {"p.yaml": "---\n".join("apiVersion: v1\nkind: Pod\nmetadata: {name: a%d}\nspec:\n  containers:\n  - name: c\n    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    %s: x\n    resources: {requests: {nvidia.com/gpu: %s}, limits: {nvidia.com/gpu: 1, %s: 1}}\n" % (i, json.dumps(e), json.dumps(e), json.dumps("nvidia.com/" + e)) for i, e in enumerate(EVIL)),
    "Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n" + "".join("RUN pip install 'torch==%s'\nENV A='%s'\n" % (e.replace("\r", ""), e.replace("\r", "")) for e in EVIL), "requirements.txt": "".join("torch==%s\n" % e for e in EVIL),
    "m.tf": "".join(TF.replace('"x"', f'"x{i}"').replace('"bad"', json.dumps(e).replace("%0", "%%0")).replace("= 2", "= " + json.dumps(e)) for i, e in enumerate(EVIL) if "\\u00" not in e)}})


def usage():
    bad = []
    for files, args in (({}, ["\n::error::pwn"]), ({}, ["--select", "x\n::error::pwn"]), ({}, ["--config", "\x1b[31m\n::error::pwn"]), ({}, ["--\n::error::pwn"]), ({"p.yaml": POD}, ["--output", "no\n::error::pwn/x"]),
                        ({"p.yaml": POD, "g.yaml": "fail_on: warning\n\"x\\n::error::pwn\\e[31m\": 1\n"}, ["--config", "g.yaml"]), ({"p.yaml": POD, "g.yaml": "rules: {\"x\\n::error::pwn ##[group]\": off}\n"}, ["--config", "g.yaml"]),
                        ({"p.yaml": POD, "g.yaml": "packs: [\"x\\n::error::pwn ##[group]\"]\n"}, ["--config", "g.yaml"]), ({"p.yaml": POD, "g.yaml": "exclude: [\"x\\n::error::[pwn ##[group]\\e\"]\n"}, ["--config", "g.yaml"]),
                        ({"p.yaml": POD, "g.yaml": "rules: {image-not-pinned: \"\\n::error::pwn\"}\n"}, ["--config", "g.yaml"]),
                        ({"p.yaml": POD, "g.yaml": "fail_on: [\n::error::pwn\n\x1b[31m"}, ["--config", "g.yaml"]),
                        ({"p.yaml": POD, "r/x.yaml": "id: \"\\n::error::pwn\"\npack: \"##[group]\\e\"\n"}, ["--rules", "r"])):
        for fmt in ("human", "github", "json", "concise"):
            r = lint(files, ["--format", fmt] + args, isolated=False)
            sane(r, "usage: ")
            if fmt in ("json",) and not r.out:
                r2 = Result(r.rc, r.sig, b"{}", r.err, 0, 0)
            else:
                r2 = r
            bad += check_output(fmt, r2, f" {args!r}")
    for fmt in FORMATS:      # a configuration of the repository
        f = {"p.yaml": POD, "q\n::error::/.gpulint.yaml": "rules: {image-not-pinned: off}\nexclude: [\"x\\n::error::pwn\\e[31m ##[group]\"]\nignores: [{rule: gpu-request-differs-from-limit, path: 'p*', reason: \"x\\n::error::pwn ##[group]\\e[31m\"}]\n",
             "q\n::error::/p.yaml": IMGPOD + "    # gpulint: ignore[\x1b[31m::error::] reason=\"##[group]\"\n", "z.yaml": POD + "# gpulint: ignore[::error::pwn] until=::error::\n"}
        r = lint(f, ["--format", fmt], isolated=False)
        sane(r, fmt + ": ")
        bad += check_output(fmt, r, " (configuration of the repository)")
    if bad:
        raise Fell(f"{len(bad)} places: " + " | ".join(bad[:6]))


TESTS.append(("c07-usage-and-configuration", usage))


def main():
    global GPULINT
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    GPULINT = os.path.abspath(sys.argv[1])
    chosen = [t for t in TESTS if len(sys.argv) == 2 or any(t[0].startswith(p) for p in sys.argv[2:])]
    held = 0
    for id, test in chosen:
        RUNS.clear()
        CURRENT[0] = id
        try:
            why = test()
            verdict, why = "held", "  " + why if why else ""
            held += 1
        except Fell as e:
            verdict, why = "FELL", "  " + str(e)
        cpu, mib = sum(c for c, _ in RUNS), max([m for _, m in RUNS], default=0)
        print(f"{verdict}  {id:34} {cpu:7.2f} s CPU {mib:6.0f} MB{why}", flush=True)
    print(f"{held} of {len(chosen)} held")
    return 0 if held == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
