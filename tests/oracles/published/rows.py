"""Rows of the table from the options of every release."""

import csv

from .options import Unknown

COLUMNS = "program flag aliases takes choices versions replaced_by needs excludes evidence source".split()


def joined(values):
    return " ".join(values)


def key(option):
    """What makes two releases' options the same row."""
    replaced = option.get("replaced_by", "")
    needs, excludes = joined(sorted(option.get("needs", ()))), joined(sorted(option.get("excludes", ())))
    return joined(sorted(option["aliases"])), option["takes"], joined(option["choices"]), replaced, needs, excludes


def stretch(releases, first, last, sparse):
    if sparse:
        # Nothing is known of the releases between those that were read: they are given the flag.
        parts = [f">{releases[first - 1]}" if first else "", f"<{releases[last + 1]}" if last < len(releases) - 1 else ""]
        return joined(part for part in parts if part)
    if 0 < first == last < len(releases) - 1:
        return f"=={releases[first]}"
    parts = [f">={releases[first]}" if first else "", f"<={releases[last]}" if last < len(releases) - 1 else ""]
    return joined(part for part in parts if part)


def one_name(read):
    """Gives an option the same name in every release: the one that the newest release with it has."""
    named = {}
    done = []
    for version, options in reversed(read):
        here = {}
        for flag, option in options.items():
            spelled = ["--" + flag if len(flag) > 1 else "-" + flag, *option["aliases"]]
            newer = next((named[text] for text in spelled if named.get(text) in spelled), None)
            if newer and newer != spelled[0] and newer.lstrip("-") not in options:
                option = {**option, "aliases": [text for text in spelled if text != newer]}
                flag = newer.lstrip("-")
            for text in spelled:
                named.setdefault(text, newer or spelled[0])
            here[flag] = option
        done.append((version, here))
    return done[::-1]


def of_program(program, read, source, manner, renamed, sparse=False):
    """Rows of one program. `read` is a list of (version, options), oldest first."""
    releases = [version for version, _ in read]
    if not releases:
        raise Unknown(f"{program}: no release was read")
    yield [program, "", "", manner, "", f">={releases[0]} <={releases[-1]}", "", "", "", "derived", source]
    read = one_name(read)
    for flag in sorted({flag for _, options in read for flag in options}):
        runs = []
        for at, (_, options) in enumerate(read):
            if flag not in options:
                continue
            here = key(options[flag])
            if runs and runs[-1][1] == at - 1 and runs[-1][2] == here:
                runs[-1][1] = at
            else:
                runs.append([at, at, here])
        for first, last, (aliases, takes, choices, replaced, needs, excludes) in runs:
            if not replaced and last < len(releases) - 1 and flag not in read[last + 1][1]:
                # What took its place is named only where the next release has it.
                after = read[last + 1][1]
                replaced = joined(name for name in renamed.get(flag, "").split() if name in after)
            yield [program, flag, aliases, takes, choices, stretch(releases, first, last, sparse), replaced, needs, excludes, "derived", source]


def write(path, rows):
    """Puts the rows of some programs into the table, in place of those that it has of them."""
    rows = list(rows)
    programs = {row[0] for row in rows}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[0] not in programs]
    except FileNotFoundError:
        kept = []
    whole = sorted(kept + rows, key=lambda row: (row[0], row[1], row[5]))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(whole)
    return len(rows)
