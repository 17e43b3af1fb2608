#!/usr/bin/env python3
"""Holds what schemas/documents/triton.json refuses against protobuf's own reader of text, with the messages of a release.

    tests/oracles/documents_pbtxt.py WHEEL CLONE...

WHEEL is that of tritonclient in the newest release. Of each config.pbtxt in the newest commit of a bare clone and, for those that
the reader takes, of texts that differ from it in one place, both have to say the same, but that the
loader refuses a negative max_batch_size later, and that a truth value in quotes is not told from one without. Templates are left out.
"""

import collections
import os
import random
import re
import subprocess
import sys

from google.protobuf import descriptor_pool, message_factory, text_format

import documents_triton
from documents_judge import Judge

TOKEN = re.compile(r"""\s+|\#[^\n]*|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|([A-Za-z_][\w./-]*)|([-+]?[.\d][\w.]*(?:(?<=[eE])[-+]\d+)?)|([{}\[\]:,;<>-])""")


def tokens(text):
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(text[at : at + 20])
        at = match.end()
        if match.lastindex:
            yield match.group(match.lastindex)


class Text:
    """A text as a value: what is written several times is a list, and so is `[a, b]`; what is written once is a value."""

    def __init__(self, text):
        self.tokens, self.at = list(tokens(text)), 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def message(self, end=None):
        out = {}
        while self.peek() != end:
            name = self.next()
            if self.peek() == ":":
                self.next()
            lists = self.peek() == "["
            values = self.list() if lists else [self.value()]
            while self.peek() in (",", ";"):
                self.next()
            before = out.get(name, [])
            values = (before if isinstance(before, list) else [before]) + values
            out[name] = values if lists or len(values) > 1 else values[0]
        if end:
            self.next()
        return out

    def list(self):
        self.next()
        values = []
        while self.peek() != "]":
            values.append(self.value())
            if self.peek() == ",":
                self.next()
        self.next()
        return values

    def value(self):
        token = self.next()
        if token in "{<":
            return self.message({"{": "}", "<": ">"}[token])
        if token == "-":
            token += self.next()
        if token[0] in "\"'":
            text = token[1:-1]
            while (self.peek() or "x")[0] in "\"'":
                text += self.next()[1:-1]
            return text
        if token in ("true", "false"):
            return token == "true"
        for number in (lambda: int(token, 0), lambda: int(token, 8), lambda: float(token)):
            try:
                return number()
            except ValueError:
                continue
        return token


def files(clone):
    listed = subprocess.run(["git", "--git-dir", clone, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True, check=True).stdout
    for path in listed.split("\n"):
        if re.search(r"config\w*\.pbtxt(\.\w+)?$|/config/[^/]*\.pbtxt$", path):
            yield path, subprocess.run(["git", "--git-dir", clone, "show", f"HEAD:{path}"], capture_output=True, check=True).stdout.decode("utf-8", "replace")


def changed(text, chance):
    """The text with one place changed: a name, a word, a number, a truth value, a text or a list."""
    ways = [
        (r"\b[a-z_]+(?=\s*[:{\[])", lambda m: m.group() + chance.choice(["s", "_x", ""]) if chance.random() < 0.7 else m.group()[:-1]),
        (r"\b(TYPE|KIND|FORMAT|CONTROL|PRIORITY)_\w+", lambda m: m.group() + "X"),
        (r"(?<=[:\[,] )-?\d+\b", lambda m: chance.choice(["1.5", '"1"', "abc", "99999999999999999999", "-1", "0x10", "{ }", "true"])),
        (r"\b(true|false)\b", lambda m: chance.choice(["yes", "2", "1", "True", "on", '"true"', "f"])),
        (r'(?<=[:\[,] )"[^"]*"', lambda m: chance.choice(["7", "{ }", "1.5", '"x"'])),
        (r"\{", lambda m: "{ unknown: 1 "),
        (r"\]", lambda m: ", { a: 1 } ]"),
        (r"\A", lambda m: chance.choice(["dynamic_batching { } sequence_batching { }\n", "version_policy { all { } latest { } }\n", 'name: "twice"\n', "ensemble_scheduling { } dynamic_batching { }\n"])),
    ]
    way, put = chance.choice(ways)
    places = list(re.finditer(way, text))
    if not places:
        return text
    match = chance.choice(places)
    return text[: match.start()] + put(match) + text[match.end() :]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wheel, *clones = sys.argv[1:]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(documents_triton.descriptor(wheel))
    config = message_factory.GetMessageClass(pool.FindMessageTypeByName("inference.ModelConfig"))
    judge = Judge(os.path.join(os.path.dirname(__file__), "..", "..", "schemas", "documents", "triton.json"), "triton")
    counts, chance = collections.Counter(), random.Random(7)

    def held(path, text):
        """Whether the reader takes it; counted is what both say, but for what is no text of this form at all."""
        try:
            found = judge.refused(Text(text).message())
        except (ValueError, IndexError, KeyError):
            found = None
        try:
            text_format.Parse(text, config())
            taken = True
        except text_format.ParseError as error:
            taken, why = False, str(error)
        if found is None:
            counts["not read"] += 1
            return taken
        counts[f"{'taken' if taken else 'refused'}, {'refused' if found else 'taken'} here"] += 1
        if taken and found or not taken and not found:
            print(path, found if taken else why)
        return taken

    for clone in clones:
        for path, text in files(clone):
            if re.search(r"\$\{|\{\{", text):
                counts["templates"] += 1
            elif held(path, text):
                for _ in range(3):
                    held(f"{path} changed", changed(text, chance))
    print(dict(counts))


if __name__ == "__main__":
    main()
