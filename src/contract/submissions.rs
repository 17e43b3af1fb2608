//! Options of programs that submit jobs, as getopt reads them, against those that releases know. Plugins of a site may add more.

use super::{Breach, Judged};
use crate::catalog::{FlagProgram, ProgramFlag, flags_of};
use crate::facts::{BreachClass as Class, Submission};
use crate::source::Span;
use crate::suggest;

/// A plugin that many sites have.
const PLUGIN: &str = "pyxis";
/// What may be filled in before a line is read.
const FILLED: [char; 6] = ['$', '`', '{', '<', '%', '@'];
/// The same, of more than one word.
const TEMPLATES: [&str; 4] = ["{{", "{%", "<%", "$("];

/// What an option is found to be.
enum Found {
    /// The same in every release: what it takes, and the option that replaces it where it is removed.
    Known(ProgramFlag),
    /// The beginning of several options.
    Ambiguous(Vec<&'static str>),
    /// No option of any release.
    Missing,
    /// It depends on the release.
    Open,
}

/// Holds one line of options against all releases that were read: no script says which it is submitted to.
pub fn judge(submission: &Submission) -> Option<Judged> {
    let programs: Vec<FlagProgram> = [submission.program, PLUGIN].into_iter().filter_map(flags_of).collect();
    let own = programs.first()?;
    let mut breaches = Vec::new();
    let mut words = submission.words.iter().map(|word| (word.text(), word.whole()));
    let filled = submission.words.iter().any(|word| TEMPLATES.iter().any(|sign| word.text().contains(sign)));
    // An option before that takes its value behind a sign alone.
    let mut before = None;
    while let Some((text, place)) = words.next() {
        let told = |class, field: &str, says| told(class, place, field, says);
        let Some(written) = text.strip_prefix('-').filter(|rest| !rest.is_empty() && *rest != "-") else {
            let literal = submission.directive && !filled && !text.contains(FILLED);
            let says = format!("{text} is no option, and no option takes it");
            let meant = before.map(|name: &str| format!("{name}={text}"));
            breaches.extend(literal.then(|| Breach { meant, ..told(Class::FlagMisused, text, says) }));
            break;
        };
        let name = text.split('=').next().unwrap_or(text);
        // Blanks beside a sign are told by a rule of their own.
        let open = if written.starts_with('-') { name.contains(FILLED) } else { written.starts_with(FILLED) };
        if open || text.ends_with('=') {
            break;
        }
        let has_value = name.len() < text.len();
        if !written.starts_with('-')
            && let Some(says) = one_dash(&programs, name, text)
        {
            breaches.push(Breach { meant: Some(format!("-{text}")), ..told(Class::FlagMisused, name, says) });
            break;
        }
        let takes = if written.starts_with('-') {
            match find(&programs, name) {
                Found::Known(flag) if flag.is_removed() => {
                    let says = format!("no release has {name} any more");
                    let meant = flag.replaced_by.map(|new| format!("--{new}"));
                    breaches.push(Breach { meant, ..told(Class::FlagNotOfRelease, name, says) });
                    break;
                }
                Found::Known(flag) => flag.takes,
                Found::Ambiguous(all) => {
                    let says = format!("{name} may be each of {}", all.join(", "));
                    breaches.push(told(Class::FlagUnknown, name, says));
                    break;
                }
                Found::Missing => {
                    let meant = meant(&programs, name);
                    let says = format!("there is no option {name}");
                    let slip = meant.map(|meant| Breach { meant: Some(meant), ..told(Class::FlagUnknown, name, says) });
                    breaches.extend(slip);
                    break;
                }
                Found::Open => break,
            }
        } else {
            match cluster(own, written) {
                Ok(takes) => takes,
                Err(Some(short)) => {
                    breaches.push(told(Class::FlagUnknown, &short, format!("there is no option {short}")));
                    break;
                }
                Err(None) => break,
            }
        };
        if takes == "none" && has_value {
            let says = format!("{name} takes no value");
            breaches.push(Breach { meant: Some(name.to_owned()), ..told(Class::FlagMisused, name, says) });
        } else if takes == "one" && !(has_value && written.starts_with('-')) {
            let next = words.next();
            if next.is_some_and(|(next, _)| next.starts_with('=')) {
                break;
            }
            let alone = next.is_none() && submission.directive && submission.ends;
            let meant = Some(format!("{name}{}VALUE", if name.starts_with("--") { "=" } else { " " }));
            let says = format!("{name} takes a value");
            breaches.extend(alone.then(|| Breach { meant, ..told(Class::FlagMisused, name, says) }));
        }
        before = Some(name).filter(|name| takes == "optional" && !has_value && name.starts_with("--"));
    }
    let contract = format!("{}, releases {}", own.name, own.versions());
    (!breaches.is_empty()).then_some(Judged { contract, breaches })
}

fn told(class: Class, place: Span, field: &str, says: String) -> Breach {
    Breach { class, place, field: field.to_owned(), says, meant: None, other: None, instead: None, unknown: None }
}

/// What a long option is, with its dashes: one of that very name, else the only one that begins so.
fn find(programs: &[FlagProgram], name: &str) -> Found {
    let exact: Vec<ProgramFlag> = programs.iter().flat_map(|program| program.spelled(name)).collect();
    let begun = || programs.iter().flat_map(|program| program.begun(name)).collect();
    let flags: Vec<ProgramFlag> = if exact.is_empty() { begun() } else { exact };
    let Some(first) = flags.first() else { return Found::Missing };
    let mut always: Vec<&str> = flags.iter().filter(|flag| flag.versions.is_empty()).map(|flag| flag.name).collect();
    always.dedup();
    if always.len() > 1 {
        return Found::Ambiguous(always);
    }
    let same = flags.iter().all(|flag| flag.name == first.name && flag.takes == first.takes);
    if same { Found::Known(*first) } else { Found::Open }
}

/// The option that a name is a slip of: a plugin of the site may have one that is less like it.
fn meant(programs: &[FlagProgram], name: &str) -> Option<String> {
    let known = programs.iter().flat_map(|program| program.names());
    let (slips, near) = suggest::closest(&name[2..].replace('_', "-"), known)?;
    (name.len() > 5 && slips <= 1 + name.len() / 12).then(|| format!("--{near}"))
}

/// What the last of the letters behind a dash takes from the next word: `none` where it has its value already. An error is a letter
/// that no release knows, or none where it depends.
fn cluster(program: &FlagProgram, letters: &str) -> Result<&'static str, Option<String>> {
    for (at, letter) in letters.char_indices() {
        let short = format!("-{letter}");
        let mut flags = program.spelled(&short);
        let Some(first) = flags.next() else { return Err(Some(short.clone())) };
        if flags.any(|flag| flag.takes != first.takes) {
            return Err(None);
        }
        match first.takes {
            "none" => {}
            "one" if at + letter.len_utf8() == letters.len() => return Ok("one"),
            _ => return Ok("optional"),
        }
    }
    Ok("optional")
}

/// What a long option behind one dash is read as.
fn one_dash(programs: &[FlagProgram], name: &str, text: &str) -> Option<String> {
    let long = name.len() > 3 && programs.iter().any(|program| program.spelled(&format!("-{name}")).next().is_some());
    let short = text.get(..2).filter(|_| long)?;
    let takes = programs.iter().flat_map(|program| program.spelled(short)).map(|flag| flag.takes).next()?;
    (takes == "one").then(|| format!("{text} is {short} with the value {}", &text[2..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Traced};

    /// What is said of the options of a line.
    fn said(program: &'static str, line: &str, directive: bool) -> Vec<String> {
        let text = Traced::verbatim(line, Span::new(SourceId(0), 0..line.len()), 0);
        let mut at = 0;
        let words = line.split(' ').map(|word| {
            let start = at;
            at += word.len() + 1;
            text.slice(start..start + word.len())
        });
        let submission = Submission { program, words: words.collect(), directive, ends: true };
        judge(&submission).into_iter().flat_map(|judged| judged.breaches).map(|breach| breach.says).collect()
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        for line in [
            "--nodes=2 -N2 -N 2 --gres gpu:8 --exclusive --exclusive=user --no-requeue -vv --ntasks-per-n 4 -J x",
            "--container-image=a#b --container-mounts /a:/b --tmp-of-the-site=3",
            "--time={{ time }} {{ more }}",
            "--mem $MEM --cpus-per-task=$CPUS",
            "--export-file=x --power=y",
            "--time = 4 --gres= gpu:8",
            "--gres= gpu:8",
        ] {
            assert_eq!(said("sbatch", line, true), [""; 0], "{line}");
        }
        for (line, says) in [
            ("--ntask-per-node=8", "there is no option --ntask-per-node"),
            ("--ntasks_per_node=8", "there is no option --ntasks_per_node"),
            ("--workdir=/x", "no release has --workdir any more"),
            ("-partition=gpu", "-partition=gpu is -p with the value artition=gpu"),
            ("--wait -X 3", "there is no option -X"),
            ("--no-requeue=1", "--no-requeue takes no value"),
            ("--exclusive user", "user is no option, and no option takes it"),
            ("--partition", "--partition takes a value"),
            ("-t", "-t takes a value"),
            ("-N$NODES -o%j.out --ntask-per-node=8", "there is no option --ntask-per-node"),
        ] {
            assert_eq!(said("sbatch", line, true), [says], "{line}");
        }
        let ambiguous = said("sbatch", "--node=2", true);
        assert_eq!(ambiguous, ["--node may be each of nodefile, nodelist, nodes"]);
        assert_eq!(said("srun", "--ntasks=2 python train.py --ntask-per-node", false), [""; 0], "the program's own");
    }
}
