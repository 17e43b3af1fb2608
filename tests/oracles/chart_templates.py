"""Which values the templates of a chart read: an interpreter whose values are the places in `.Values` that they may come
from.

What cannot be told is taken whole, so that anything may stand below it: a value that is printed with `toYaml`, handed to an
unknown function or template, or looked up by a key that only a run knows.
"""

import re

from go_templates import Unreadable, parse

NOTHING = frozenset()
ROOT = frozenset([("root",)])
# Functions whose result may be any of their arguments, with their keys.
HANDS_ON = set(
    "default coalesce ternary or and deepCopy mustDeepCopy required merge mustMerge mergeOverwrite mustMergeOverwrite omit"
    " compact mustCompact uniq mustUniq without mustWithout reverse mustReverse rest mustRest initial mustInitial slice"
    " mustSlice sortAlpha".split()
)
# Functions of text and numbers: what they take is no mapping.
SCALAR = set(
    "quote squote toString int int64 float64 atoi toDecimal eq ne lt le gt ge not empty len kindIs kindOf typeOf typeIs"
    " typeIsLike isNil fail has mustHas trim trimAll trimSuffix trimPrefix upper lower title untitle repeat substr nospace"
    " trunc abbrev abbrevboth initials contains hasPrefix hasSuffix replace regexMatch mustRegexMatch regexReplaceAll"
    " regexReplaceAllLiteral regexFind regexFindAll regexSplit mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexFind"
    " mustRegexFindAll mustRegexSplit snakecase camelcase kebabcase swapcase add add1 sub div mod mul max min floor ceil"
    " round addf subf mulf divf biggest semver semverCompare b64enc b64dec b32enc b32dec sha1sum sha256sum sha512sum"
    " adler32sum htpasswd derivePassword genCA genSelfSignedCert genSignedCert genPrivateKey genCAWithKey"
    " genSelfSignedCertWithKey genSignedCertWithKey buildCustomCert encryptAES decryptAES now date dateInZone ago toDate"
    " mustToDate unixEpoch dateModify mustDateModify duration durationRound htmlDate randAlphaNum randAlpha randNumeric"
    " randAscii randBytes randInt uuidv4 lookup indent nindent print println printf html js urlquery urlParse urlJoin base"
    " dir clean ext isAbs osBase osDir osExt osClean osIsAbs splitList split splitn seq until untilStep wrap wrapWith cat"
    " plural getHostByName env expandenv join bcrypt fromYaml fromJson fromYamlArray fromJsonArray fromToml mustFromJson"
    " shuffle".split()
)
# Functions whose text is what they were given, more or less.
AS_TEXT = set("toString indent nindent trim quote print b64enc".split())
TEXT_FIRST = {"upper", "lower", "title", "untitle", "trim", "nospace", "b64enc", "b64dec", "sha256sum"}
TEXT_LAST = set("trimSuffix trimPrefix trunc contains hasPrefix hasSuffix replace regexMatch splitList split".split())
# Functions that ask of a value and hand nothing on.
ASKS = set("eq ne lt le gt ge not empty len kindIs kindOf typeOf typeIs typeIsLike isNil has mustHas fail".split())
ENCODED = set(
    "toYaml toJson toPrettyJson toRawJson mustToJson mustToPrettyJson mustToRawJson toToml toYamlPretty mustToYaml".split()
)
DIGESTS = [[("name", name)] for name in ("sha256sum", "sha1sum", "sha512sum", "adler32sum")]
DEEPEST = 10


class Chart:
    """What the templates of a release read.

    `defined` are its templates by name, `files` what stands beside them by path, `texts` templates in its own values by
    their places, `sealed` whether no other chart may define a template.
    """

    def __init__(self, bodies, defined, files, texts, sealed=True):
        self.bodies, self.defined, self.files, self.texts, self.sealed = bodies, defined, files, texts, sealed
        self.quiet = 0
        self.read, self.whole = set(), set()
        self.maps, self.strings, self.switches, self.kinds = set(), set(), set(), set()
        self.dicts, self.alias, self.rooted, self.parsed = {}, {}, {}, {}
        self.fails = []
        self.all = None
        self.size = None
        for _ in range(6):
            self.done, self.depth = set(), 0
            for name, body in bodies:
                self.name = name
                self.run(body, ROOT, [{"$": ROOT}])
            size = (len(self.read), len(self.whole), self.weight())
            if size == self.size:
                break
            self.size = size

    def weight(self):
        return sum(len(v) for d in self.dicts.values() for v in d.values()) + sum(map(len, self.alias.values())) + sum(
            map(len, self.rooted.values())
        )

    # -- places

    def closed(self, value):
        """A value with all that was put into it elsewhere."""
        more = [other for atom in value if atom in self.alias for other in self.alias[atom]]
        return value | frozenset(more) if more else value

    def field(self, value, key, by_name=True):
        out = set()
        for atom in self.closed(value):
            if atom[0] == "v":
                path = atom[1] + (key,)
                if len(path) > DEEPEST:
                    self.take(frozenset([atom]))
                    continue
                self.read.add(path)
                if by_name:
                    self.maps.add(atom[1])
                out.add(("v", path))
            elif atom[0] == "root":
                if key == "Values":
                    out.add(("v", ()))
                elif key == "Files":
                    out.add(("files",))
                elif key == "Template":
                    out.add(("base",))
                out |= self.rooted.get(key, NOTHING)
            elif atom[0] == "d":
                out |= self.dicts.get(atom[1], {}).get(key, NOTHING)
                out |= self.dicts.get(atom[1], {}).get(None, NOTHING)
            elif atom[0] in ("files", "base"):
                out.add(atom)
        return self.closed(frozenset(out))

    def elements(self, value):
        out = set()
        for atom in self.closed(value):
            if atom[0] == "v":
                path = atom[1] + ("*",)
                if len(path) > DEEPEST or not atom[1]:
                    self.take(frozenset([atom]))
                    continue
                self.read.add(path)
                out.add(("v", path))
            elif atom[0] == "d":
                for below in self.dicts.get(atom[1], {}).values():
                    out |= below
            elif atom[0] == "files":
                out.add(atom)
        return self.closed(frozenset(out))

    def take(self, value):
        """Anything may stand below these places."""
        if self.quiet:
            return
        todo, seen = list(value), set()
        while todo:
            atom = todo.pop()
            if atom in seen:
                continue
            seen.add(atom)
            todo += self.alias.get(atom, ())
            if atom[0] == "v":
                if atom[1] == () and self.all is None:
                    self.all = f"{self.name}: {self.at}"
                self.whole.add(atom[1])
            elif atom[0] == "root":
                self.take(frozenset([("v", ())]))
            elif atom[0] == "d":
                for below in self.dicts.get(atom[1], {}).values():
                    todo += below

    def put(self, container, key, value):
        for atom in container:
            if atom[0] == "d":
                held = self.dicts.setdefault(atom[1], {})
                held[key] = held.get(key, NOTHING) | value
            elif atom[0] == "v":
                if key is None:
                    self.take(value)
                    continue
                path = ("v", atom[1] + (key,))
                self.read.add(path[1])
                for held in (path, ("v", atom[1] + ("*",))):
                    self.alias[held] = self.alias.get(held, NOTHING) | (value - {held})
            elif atom[0] == "root":
                if key is None:
                    self.take(value)
                else:
                    self.rooted[key] = self.rooted.get(key, NOTHING) | value

    # -- templates

    def run(self, body, dot, scopes):
        for node in body:
            kind = node[0]
            if kind == "text":
                continue
            self.at = node
            if kind == "print":
                value = self.pipe(node[1], dot, scopes)
                if not node[1][1]:
                    self.prints(value)
            elif kind == "template":
                self.include(frozenset([("s", node[1])]), self.pipe(node[2], dot, scopes) if node[2][3] != [[]] else NOTHING)
            elif kind == "if":
                inner = scopes + [{}]
                value = self.pipe(node[1], dot, inner)
                self.condition(node, value)
                self.run(node[2], dot, inner)
                self.run(node[3], dot, scopes + [{}])
            elif kind == "with":
                inner = scopes + [{}]
                value = self.pipe(node[1], dot, inner)
                self.run(node[2], value, inner)
                self.run(node[3], dot, scopes + [{}])
            elif kind == "range":
                self.range(node, dot, scopes)

    def range(self, node, dot, scopes):
        _, names, sign, commands = node[1]
        value = self.pipe(("pipe", [], None, commands), dot, scopes)
        below = self.elements(value)
        inner = scopes + [{}]
        keys = frozenset([("key",)])
        for atom in value:
            if atom[0] == "d":
                keys |= frozenset(("s", key) for key in self.dicts.get(atom[1], {}) if isinstance(key, str))
        for name, held in zip(names, [below] if len(names) == 1 else [keys, below]):
            inner[-1][name] = held
        for _ in range(2):
            self.run(node[2], below, inner)
        self.run(node[3], dot, scopes + [{}])

    def prints(self, value):
        for atom in value:
            if atom[0] in ("v", "d"):
                self.take(frozenset([atom]))

    def condition(self, node, value):
        commands = node[1][3]
        if len(commands) == 1 and len(commands[0]) == 1:
            places = [atom[1] for atom in value if atom[0] == "v"]
            self.switches.update(places)
        said = [n for n in node[2] if n[0] == "print" and n[1][3] and n[1][3][0][:1] == [("name", "fail")]]
        if said and len(node[2]) - len([n for n in node[2] if n[0] == "text"]) == 1:
            words = " ".join(part[1] for operand in said[0][1][3][0] for part in strings(operand))
            self.fails.append((node[1], frozenset(a[1] for a in value if a[0] == "v"), words))

    def include(self, names, dot):
        if ("base",) in names:
            # A file of the chart, for its digest; all of them are run anyway.
            return
        for name in [atom[1] for atom in names if atom[0] == "s"] or [None]:
            body = self.defined.get(name)
            if body is None:
                # One of a library, or by a name that only a run knows. Without any library Helm would fail.
                if name is None or not self.sealed:
                    self.take(dot)
                continue
            key = (name, dot)
            if key in self.done:
                continue
            if self.depth > 60:
                self.take(dot)
                continue
            self.done.add(key)
            self.depth += 1
            quiet, self.quiet = self.quiet, 0
            self.run(body, dot, [{"$": dot}])
            self.depth, self.quiet = self.depth - 1, quiet

    def template(self, value, dot):
        """Runs texts that are templates themselves."""
        for atom in value:
            if atom[0] == "s" and "{{" in atom[1]:
                self.text(atom[1], dot)
            elif atom[0] == "v":
                for path, text in self.texts.items():
                    if len(path) >= len(atom[1]) and all(a == b or a == "*" for a, b in zip(atom[1], path)):
                        self.text(text, dot)
            elif atom[0] == "files":
                for text in self.files.values():
                    self.text(text, dot)

    def text(self, text, dot):
        key = (text, dot)
        if key in self.done or self.depth > 60:
            return
        self.done.add(key)
        if text not in self.parsed:
            try:
                self.parsed[text] = parse(text)
            except Unreadable:
                self.parsed[text] = ([], {})
        body, defined = self.parsed[text]
        self.defined.update({k: v for k, v in defined.items() if k not in self.defined})
        self.depth += 1
        self.run(body, dot, [{"$": dot}])
        self.depth -= 1

    # -- expressions

    def pipe(self, pipe, dot, scopes):
        _, names, sign, commands = pipe
        value = NOTHING
        # A digest of all values takes none of them.
        digest = any(command[:1] in DIGESTS for command in commands[1:])
        self.quiet += digest
        for at, command in enumerate(commands):
            value = self.command(command, dot, scopes, None if at == 0 else value)
            if command and command[0][0] == "name" and command[0][1] in ENCODED:
                self.take(value)
                value = NOTHING
        self.quiet -= digest
        for name in names:
            if sign == ":=":
                scopes[-1][name] = value
            else:
                for scope in reversed(scopes):
                    if name in scope:
                        scope[name] = scope[name] | value
                        break
        return value

    def operand(self, node, dot, scopes):
        kind = node[0]
        if kind == "dot":
            return self.closed(dot)
        if kind == "field":
            return self.field(self.operand(node[1], dot, scopes), node[2])
        if kind == "variable":
            for scope in reversed(scopes):
                if node[1] in scope:
                    return self.closed(scope[node[1]])
            return NOTHING
        if kind == "string":
            return frozenset([("s", node[1])])
        if kind == "number":
            return NOTHING
        if kind == "pipe":
            return self.pipe(node, dot, scopes)
        return self.call(node[1], [], dot, id(node))

    def command(self, command, dot, scopes, piped):
        if not command:
            return NOTHING
        head, rest = command[0], [self.operand(node, dot, scopes) for node in command[1:]]
        if piped is not None:
            rest.append(piped)
        if head[0] == "name":
            return self.call(head[1], rest, dot, id(command))
        value = self.operand(head, dot, scopes)
        if rest:
            # A method, as of .Files or of .Capabilities.APIVersions.
            if head[0] == "field" and ("files",) in self.operand(head[1], dot, scopes):
                return frozenset([("files",)])
            return NOTHING
        return value

    def call(self, name, values, dot, site):
        joined = frozenset().union(*values) if values else NOTHING
        if name in ("true", "false", "nil"):
            return NOTHING
        if name in ("include", "tpl"):
            if name == "include":
                self.include(values[0], values[1] if len(values) > 1 else NOTHING)
                return NOTHING
            self.take(values[0] - {("v", ())})
            self.template(values[0], values[1] if len(values) > 1 else NOTHING)
            return NOTHING
        if name in ("dict", "list", "tuple"):
            held = ("d", site)
            self.dicts.setdefault(site, {})
            if name == "dict":
                for key, value in zip(values[::2], values[1::2]):
                    for word in [atom[1] for atom in key if atom[0] == "s"] or [None]:
                        self.put({held}, word, value)
            else:
                for at, value in enumerate(values):
                    self.put({held}, at, value)
            return frozenset([held])
        if name in ("append", "mustAppend", "prepend", "mustPrepend", "concat", "chunk"):
            held = ("d", site)
            self.dicts.setdefault(site, {})
            for at, value in enumerate(values):
                whole = name in ("concat", "chunk") or at == 0
                self.put({held}, None, self.elements(value) if whole else value)
            return frozenset([held])
        if name in ("first", "mustFirst", "last", "mustLast"):
            return self.elements(joined)
        if name in ("index", "get", "dig", "hasKey", "unset"):
            return self.look_up(name, values)
        if name == "set" and len(values) == 3:
            for word in [atom[1] for atom in values[1] if atom[0] == "s"] or [None]:
                self.put(values[0], word, values[2])
            return values[0]
        if name == "pluck":
            out = frozenset([("d", site)])
            for word in [atom[1] for atom in values[0] if atom[0] == "s"] or [None]:
                for value in values[1:]:
                    if word is None:
                        self.take(value)
                    else:
                        self.put(out, None, self.field(value, word, False))
            return out
        if name == "pick":
            out = frozenset([("d", site)])
            self.dicts.setdefault(site, {})
            for key in values[1:]:
                for word in [atom[1] for atom in key if atom[0] == "s"] or [None]:
                    if word is None:
                        self.take(values[0])
                        return values[0]
                    self.put(out, word, self.field(values[0], word, False))
            return out
        if name == "values":
            self.put({("d", site)}, None, self.elements(joined))
            return frozenset([("d", site)])
        if name in HANDS_ON:
            if name.lower().endswith(("merge", "mergeoverwrite")) and values:
                for atom in values[0]:
                    if atom[0] in ("v", "d", "root"):
                        rest = frozenset().union(*values[1:]) - {atom}
                        self.alias[atom] = self.alias.get(atom, NOTHING) | rest
            if name in ("default", "required", "ternary", "omit", "without") and values:
                kept = {"default": values, "required": values[1:], "ternary": values[:2]}.get(name, values[:1])
                joined = frozenset().union(*kept)
            return self.closed(joined)
        if name in ("kindIs", "kindOf", "typeOf", "typeIs", "typeIsLike"):
            self.kinds.update(atom[1] for atom in joined if atom[0] == "v")
            return NOTHING
        if name in SCALAR:
            said = values[:1] if name in TEXT_FIRST else values[-1:] if name in TEXT_LAST else []
            for value in said:
                self.strings.update(atom[1] for atom in value if atom[0] == "v")
            if name not in ASKS:
                self.prints(joined)
            if ("base",) in joined:
                return frozenset([("base",)])
            if name == "printf":
                return self.printf(values)
            return frozenset(atom for atom in joined if atom[0] in ("s", "files")) if name in AS_TEXT else NOTHING
        if name in ENCODED:
            return joined
        # A function that is not known.
        self.take(joined)
        return NOTHING

    def printf(self, values):
        """Texts that are put together of known words: names of keys and of templates."""
        made = [""]
        format_, rest = values[0], list(values[1:])
        words = [atom[1] for atom in format_ if atom[0] == "s"]
        if len(words) != 1:
            return NOTHING
        for part in re.split(r"(%[sv])", words[0]):
            if part in ("%s", "%v"):
                value = rest.pop(0) if rest else NOTHING
                known = [atom[1] for atom in value if atom[0] == "s"]
                if not known or len(known) != len(value) or len(known) * len(made) > 64:
                    return frozenset([("s", words[0])]) if "{{" in words[0] else NOTHING
                made = [text + word for text in made for word in known]
            else:
                made = [text + part for text in made]
        return frozenset(("s", text) for text in made)

    def look_up(self, name, values):
        if not values:
            return NOTHING
        if name == "dig":
            value, keys, other = values[-1], values[:-2], values[-2] if len(values) > 1 else NOTHING
        else:
            value, keys, other = values[0], values[1:], NOTHING
        for key in keys:
            words = [atom[1] for atom in key if atom[0] == "s"]
            if words and len(words) == len(key):
                value = frozenset().union(*(self.field(value, word, False) for word in words))
            elif name in ("index", "dig", "get") and not words:
                # A number, or a key that only a run knows: any of them.
                if any(atom[0] == "v" and atom[1] == () for atom in value):
                    self.take(frozenset([("v", ())]))
                value = self.elements(value)
            else:
                self.take(value)
                value = NOTHING
        return value | other if name != "hasKey" else NOTHING


def strings(node):
    """All strings of an expression."""
    if not isinstance(node, (tuple, list)):
        return
    if len(node) == 2 and node[0] == "string":
        yield node
        return
    for part in node:
        yield from strings(part)
