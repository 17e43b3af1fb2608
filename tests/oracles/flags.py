#!/usr/bin/env python3
"""Writes rules/catalog/program_flags.csv: the flags that releases of a program know.

    tests/oracles/flags.py [--gone] PROGRAM…

The parser of each published release is built from the release's own source (published/lazy.py) and asked what it takes.
A flag that cannot be told whole (its choices depend on what was not read) ends the run. `--gone` prints the flags that a
release dropped, with their last help text, instead of writing. FLAGS_CACHE is where files of packages are kept, FLAGS_MIRRORS
where bare git repositories lie as OWNER+NAME/repo.
"""

import pathlib
import sys

from published import compiled, environment, launchers, programs, rows, slurm  # pylint: disable=unused-import
from published.options import EMPTY

TABLE = pathlib.Path(__file__).parents[2] / "rules/catalog/program_flags.csv"


def main():
    asked = [word for word in sys.argv[1:] if not word.startswith("-")]
    gone = "--gone" in sys.argv
    sys.argv = sys.argv[:1]
    for name in asked or programs.PROGRAMS:
        read, source, manner, renamed, sparse = programs.PROGRAMS[name]
        found = []
        for version, options in read():
            found.append((version, options))
            print(f"{name} {version}: {len(options)} {EMPTY}", file=sys.stderr)
            EMPTY.clear()
        if gone:
            for (_, before), (version, after) in zip(found, found[1:]):
                for flag in sorted(set(before) - set(after)):
                    print(f"{version} -{flag} [{before[flag]['replaced_by']}] {before[flag]['help'][:300]!r}")
            continue
        print(name, rows.write(TABLE, rows.of_program(name, found, source, manner, renamed, sparse)), "rows")


main()
