"""Names of arguments that bindings of another kind (Pulumi's) have, which are of releases that have no others.

They are no schema: lists have names in the plural there, and what is a block is not told. So they tell what may be new, and no more.
"""

import re
import subprocess
import tarfile
from collections import Counter


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake(name):
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)


class Inputs:
    """The arguments of one release of a package."""

    def __init__(self, package, release, cache):
        file = f"{cache}/{package.strip('@').replace('/', '-')}-{release}.tgz"
        subprocess.run(["npm", "pack", "-s", f"{package}@{release}"], cwd=cache, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(file) as packed:
            members = [member for member in packed if member.name.endswith(".d.ts")]
            self.files = {member.name.removeprefix("package/"): packed.extractfile(member).read().decode() for member in members}
        spaces = re.findall(r"^export declare namespace (\w+) \{\n(.*?)^\}", self.files["types/input.d.ts"], re.S | re.M)
        self.inner = dict(spaces)

    def names(self, resource, known):
        """The arguments of a resource, anywhere in it, beside those that are known: `known` says how often each stands there."""
        rest = resource.split("_", 1)[1]
        service, _, own = rest.partition("_")
        places = [(service, camel(own)), ("ec2", camel(rest))]
        space, name = next(place for place in places if f"{place[0]}/{place[1]}.d.ts" in self.files)
        kind = name[0].upper() + name[1:]
        args = re.search(rf"^export interface {kind}Args \{{\n(.*?)^\}}", self.files[f"{space}/{name}.d.ts"], re.S | re.M).group(1)
        inner = re.findall(rf"^    interface {kind}\w+ \{{\n(.*?)^    \}}", self.inner.get(space, ""), re.S | re.M)
        found = Counter(snake(one) for body in [args, *inner] for one in re.findall(r"^\s+(\w+)\??: ", body, re.M))
        new = {one for one in found if not any(known[form] for form in {one, *singular(one)}) or found[one] > known[one] > 0}
        return {each for one in new for each in {one, *singular(one)}}


def singular(name):
    """What a name in the plural may be made of."""
    endings = [("ies", "y"), ("es", ""), ("s", "")]
    return {name.removesuffix(ending) + instead for ending, instead in endings if name.endswith(ending)}
