//! Dockerfiles, requirement files, and what Slurm is asked for.

use super::{Question, Rewrite, each, ends};

pub(super) const ALL: &[Rewrite] = &[
    Rewrite {
        name: "dockerfile-arguments",
        about: "tags of bases are the defaults of arguments",
        question: Question::References,
        unless: &[],
        apply: |files| each(files, is_dockerfile, by_arguments),
    },
    Rewrite {
        name: "dockerfile-continued",
        about: "steps of a RUN stand on lines of their own",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(files, is_dockerfile, |text| {
                Some(text.replace(" && ", " \\\n    && ").replace("pip install ", "pip install \\\n    "))
                    .filter(|_| !text.contains("<<"))
            })
        },
    },
    Rewrite {
        name: "dockerfile-lower-case",
        about: "instructions of a Dockerfile are in lower case",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(files, is_dockerfile, |text| {
                lines(text, |line| {
                    let (word, rest) = line.split_once(' ')?;
                    let known =
                        ["FROM", "RUN", "ENV", "ARG", "COPY", "ADD", "CMD", "ENTRYPOINT", "WORKDIR", "EXPOSE", "USER"];
                    known.contains(&word).then(|| format!("{} {rest}", word.to_lowercase()))
                })
            })
        },
    },
    Rewrite {
        name: "dockerfile-environment",
        about: "variables of a Dockerfile are set without a sign",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(files, is_dockerfile, |text| {
                lines(text, |line| {
                    let (name, value) = line.strip_prefix("ENV ")?.split_once('=')?;
                    (!name.contains(' ') && !value.contains(['=', '\\', '"', ' ']))
                        .then(|| format!("ENV {name} {value}"))
                })
            })
        },
    },
    Rewrite {
        name: "dockerfile-shell-form",
        about: "what a Dockerfile starts is a line of a shell",
        question: Question::Spellings,
        unless: &["exec_form", "signal", "shell"],
        apply: |files| {
            each(files, is_dockerfile, |text| match (text.contains("\nENTRYPOINT "), text.contains("\nCMD ")) {
                // Of a shell's line the arguments would not reach it.
                (true, true) => None,
                _ => lines(text, shell_form),
            })
        },
    },
    Rewrite {
        name: "requirements-included",
        about: "requirements stand in a file that another includes",
        question: Question::References,
        unless: &[],
        apply: |files| {
            let (path, _) = files.iter().find(|(path, text)| is_requirements(path) && !text.contains("-r "))?;
            let mentioned = files.iter().any(|(other, text)| !is_requirements(other) && text.contains("requirements"));
            let base = path.strip_suffix(".txt").map(|stem| format!("{stem}-base.txt")).filter(|_| !mentioned)?;
            let mut out = files.clone();
            let name = base.rsplit('/').next()?.to_owned();
            out.iter_mut().filter(|(one, _)| one == path).for_each(|(one, _)| one.clone_from(&base));
            out.push((path.clone(), format!("-r {name}\n")));
            Some(out)
        },
    },
    Rewrite {
        name: "requirements-marked",
        about: "requirements have a marker that always holds, and a comment",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(files, is_requirements, |text| {
                lines(text, |line| {
                    let plain =
                        line.starts_with(|c: char| c.is_ascii_alphabetic()) && !line.contains([';', '#', '@', '\\']);
                    plain.then(|| {
                        format!("{} ; python_version >= \"3.6\"  # kept by the platform team", line.trim_end())
                    })
                })
            })
        },
    },
    Rewrite {
        name: "requirements-capitals",
        about: "names of packages are spelled with capitals and underscores",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(files, is_requirements, |text| {
                lines(text, |line| {
                    let end =
                        line.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(line.len());
                    let (name, rest) = line.split_at(end);
                    let mut letters = name.chars();
                    let first = letters.next().filter(char::is_ascii_lowercase)?;
                    Some(format!("{}{}{rest}", first.to_ascii_uppercase(), letters.as_str().replace('-', "_")))
                })
            })
        },
    },
    Rewrite {
        name: "slurm-apart",
        about: "an option of Slurm and its value are two words",
        question: Question::Spellings,
        unless: &[],
        apply: |files| {
            each(
                files,
                |_| true,
                |text| {
                    lines(text, |line| {
                        let option = line.strip_prefix("#SBATCH --")?;
                        let (name, value) = option.split_once('=').filter(|_| !option.contains(' '))?;
                        Some(format!("#SBATCH --{name} {value}"))
                    })
                },
            )
        },
    },
];

fn is_dockerfile(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("Dockerfile") || name.ends_with(".dockerfile"))
}

fn is_requirements(path: &str) -> bool {
    path.contains("requirements") && ends(path, &[".txt"])
}

/// Changes lines; `None` where none is.
fn lines(text: &str, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut changed = false;
    let mut continued = false;
    let lines = text.lines().map(|line| {
        let within = std::mem::replace(&mut continued, line.ends_with('\\'));
        let new = Some(line).filter(|_| !within).and_then(&change);
        changed |= new.is_some();
        new.unwrap_or_else(|| line.to_owned()) + "\n"
    });
    let text: String = lines.collect();
    changed.then_some(text)
}

fn by_arguments(text: &str) -> Option<String> {
    let mut arguments = String::new();
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        let base = line.strip_prefix("FROM ").and_then(|rest| rest.split_whitespace().next());
        match base.filter(|base| !base.contains(['$', '@'])).and_then(|base| base.rsplit_once(':')) {
            Some((name, tag)) if !tag.contains('/') => {
                arguments += &format!("ARG TAG_{i}={tag}\n");
                out += &format!("{}\n", line.replacen(&format!("{name}:{tag}"), &format!("{name}:${{TAG_{i}}}"), 1));
            }
            _ => out += &format!("{line}\n"),
        }
    }
    // A directive of the parser stays the first line.
    let directive = out.find('\n').filter(|_| out.starts_with("# syntax") || out.starts_with("# escape"));
    out.insert_str(directive.map_or(0, |end| end + 1), &arguments);
    (!arguments.is_empty()).then_some(out)
}

fn shell_form(line: &str) -> Option<String> {
    let (word, list) = line.split_once(' ').filter(|(word, _)| ["CMD", "ENTRYPOINT"].contains(word))?;
    let words: Vec<String> = serde_json::from_str(list).ok()?;
    let plain = |word: &String| !word.is_empty() && !word.contains([' ', '"', '\'', '$', '&', '|', ';', '(']);
    words.iter().all(plain).then(|| format!("{word} {}", words.join(" ")))
}
