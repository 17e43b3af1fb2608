"""A reader of Go templates, as far as charts write them."""

import re

TOKEN = re.compile(
    r"""\s+|(?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<char>'(?:\\.|[^'\\])*')|(?P<number>[-+]?\.?\d[\w.+-]*)"""
    r"""|(?P<field>\.[A-Za-z_]\w*)|(?P<variable>\$\w*)|(?P<name>[A-Za-z_]\w*)|(?P<sign>:=|=|\||\(|\)|,|\.)""",
    re.S,
)
COMMENT = re.compile(r"\{\{(?:-\s+)?/\*.*?\*/(?:\s+-)?\}\}", re.S)
LITERAL = re.compile(r"""\{\{-?\s*(?:`[^`]*`|"[^"\\\n]*")\s*-?\}\}""")
ACTION = re.compile(r"""(?:"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.|[^'\\\n])*'|[^"`'}]|\}(?!\}))*?\s?-?\}\}""", re.S)


class Unreadable(Exception):
    """A text that is no template."""


def actions(text):
    """The actions of a template with the text that stands before each."""
    text, at = LITERAL.sub("", text), 0
    while True:
        opened = text.find("{{", at)
        if opened < 0:
            return
        before = text[at:opened]
        comment = COMMENT.match(text, opened)
        if comment:
            at = comment.end()
            continue
        start = opened + (3 if text.startswith("{{- ", opened) or text.startswith("{{-\n", opened) else 2)
        found = ACTION.match(text, start)
        if not found:
            raise Unreadable(text[opened : opened + 60])
        at = found.end()
        yield before, re.sub(r"\s-$", "", text[start : found.end() - 2])


def tokens(code):
    out, at = [], 0
    while at < len(code):
        found = TOKEN.match(code, at)
        if not found:
            raise Unreadable(code)
        if found.lastgroup:
            out.append((found.lastgroup, found.group(), at == 0 or code[at - 1].isspace() or code[at - 1] in "(|,="))
        at = found.end()
    return out


class Words:
    """The words of an action."""

    def __init__(self, code):
        self.words, self.at = tokens(code), 0

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else (None, None, True)

    def take(self):
        word = self.peek()
        self.at += 1
        return word

    def pipeline(self):
        """(names, operator, commands); a command is a list of operands."""
        names, sign, start = [], None, self.at
        if self.peek()[0] == "variable":
            while self.peek()[0] == "variable":
                names.append(self.take()[1])
                if self.peek()[1] != ",":
                    break
                self.take()
            if self.peek()[1] in (":=", "="):
                sign = self.take()[1]
            else:
                names, self.at = [], start
        commands = [[]]
        while self.peek()[0] is not None and self.peek()[1] != ")":
            if self.peek()[1] == "|":
                self.take()
                commands.append([])
            else:
                commands[-1].append(self.operand())
        return ("pipe", names, sign, commands)

    def operand(self):
        kind, word, _ = self.take()
        if word == "(":
            node = self.pipeline()
            if self.take()[1] != ")":
                raise Unreadable("no closing parenthesis")
        elif kind == "field":
            node = ("field", ("dot",), word[1:])
        elif kind == "string":
            node = ("string", word[1:-1] if word[0] == "`" else re.sub(r"\\(.)", r"\1", word[1:-1]))
        elif kind in ("variable", "name"):
            node = (kind, word)
        elif word == ".":
            node = ("dot",)
        elif kind in ("number", "char"):
            node = ("number", word)
        else:
            raise Unreadable(f"unexpected {word}")
        while self.peek()[0] == "field" and not self.peek()[2]:
            node = ("field", node, self.take()[1][1:])
        return node


def parse(text):
    """The nodes of a template and the templates that it defines."""
    defined, stack = {}, [("root", None, [], None)]

    def add(node):
        stack[-1][2].append(node)

    for before, code in actions(text):
        if before.strip():
            add(("text", before))
        code = code.strip()
        word = re.match(r"[a-z]+\b", code)
        word = word.group() if word else ""
        rest = code[len(word) :].strip()
        if word in ("if", "with", "range"):
            stack.append((word, Words(rest).pipeline(), [], None))
        elif word in ("define", "block"):
            words = Words(rest)
            stack.append((word, (words.operand()[1], words.pipeline()), [], None))
        elif word == "else":
            kind, head, body, _ = stack.pop()
            stack.append((kind, head, [], body))
            if rest:
                inner = re.match(r"(if|with)\b", rest)
                if not inner:
                    raise Unreadable(code)
                stack.append((inner.group() + "+", Words(rest[inner.end() :]).pipeline(), [], None))
        elif word == "end":
            while True:
                kind, head, body, first = stack.pop()
                if kind == "root":
                    raise Unreadable("an end too many")
                then, other = (body, []) if first is None else (first, body)
                if kind in ("define", "block"):
                    defined[head[0]] = then
                    if kind == "block":
                        add(("template", head[0], head[1]))
                else:
                    add((kind.rstrip("+"), head, then, other))
                if not kind.endswith("+"):
                    break
        elif word == "template":
            words = Words(rest)
            add(("template", words.operand()[1], words.pipeline()))
        elif word not in ("break", "continue") and code:
            add(("print", Words(code).pipeline()))
    if len(stack) != 1:
        raise Unreadable(f"{stack[-1][0]} has no end")
    return stack[0][2], defined
