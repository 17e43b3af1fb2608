//! The programs of a command line: which one runs behind those that only run another (`srun`, `uv run`, `apptainer exec
//! IMAGE`, `python -m`). Knows how command lines are built; which programs wrap others are rows of the catalog.

use crate::catalog;
use crate::parse::shell::{self, Command, Script, Word};
use crate::paths;

/// Places of the programs of a command, the outermost first: each runs the next one. A module or script of Python stands
/// beside its interpreter.
pub fn programs(words: &[Word]) -> Vec<usize> {
    let mut out = vec![];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.text() == "--" || word.assignment().is_some() {
            at += 1;
            continue;
        }
        out.push(at);
        let program = base_name(word.text());
        if is_python(program) {
            out.extend(python(words, at + 1));
            break;
        }
        match wrapper(program, words, at + 1) {
            Some(next) => at = next,
            None => {
                // What a launcher starts stands behind options that it shares with nobody.
                let launches = catalog::launcher_of_program(program, words.get(at + 1).map(Word::text)).is_some();
                out.extend(launches.then(|| launched(words, at + 1)).flatten());
                break;
            }
        }
    }
    out
}

/// The script that a command hands to a shell, behind what runs the shell.
pub fn inner(command: &Command) -> Option<Script> {
    let shell = programs(&command.words).into_iter().find(|at| shell::is_shell(command.words[*at].text()))?;
    Command { words: command.words[shell..].to_vec(), ..command.clone() }.inner()
}

/// The file name of a program.
pub fn base_name(program: &str) -> &str {
    paths::name(program)
}

/// Whether a program is an interpreter of Python.
pub fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python").unwrap_or("no");
    version.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Where the command of a wrapper starts; `None` for what is no wrapper, or is told to do something else.
fn wrapper(program: &str, words: &[Word], mut at: usize) -> Option<usize> {
    let wrapper = catalog::wrapper(program)?;
    let mut open = wrapper.subcommands().next().is_some();
    let mut operands = wrapper.operands();
    while let Some(word) = words.get(at) {
        let text = word.text();
        if text == "--" {
            return Some(at + 1);
        }
        let option = text.trim_start_matches('-');
        if text.starts_with('-') && !option.is_empty() {
            at += 1 + usize::from(!option.contains('=') && wrapper.takes_value(option));
        } else if open {
            open = false;
            at += 1;
            wrapper.subcommands().find(|known| *known == text)?;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            return Some(at);
        }
    }
    None
}

/// The module or script that an interpreter runs.
fn python(words: &[Word], mut at: usize) -> Option<usize> {
    loop {
        let text = words.get(at)?.text();
        match text {
            "-m" => return words.get(at + 1).map(|_| at + 1),
            "-c" | "-" => return None,
            "-X" | "-W" => at += 2,
            _ if text.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
}

/// The server behind the options of a launcher.
fn launched(words: &[Word], from: usize) -> Option<usize> {
    let server = |at: &usize| {
        let program = base_name(words[*at].text());
        catalog::server_of_program(program, words.get(at + 1).map(Word::text)).is_some()
    };
    (from..words.len()).find(server)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span, Traced};

    /// The programs of a command line, by name.
    fn of(text: &str) -> Vec<String> {
        let script = shell::parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
        let words = &script.commands[0].words;
        programs(words).into_iter().map(|at| words[at].text().to_owned()).collect()
    }

    #[test]
    fn what_runs_another_command_is_looked_through() {
        for wrapped in [
            "",
            "exec ",
            "env -u C A=b ",
            "nohup ",
            "timeout -k 5 10 ",
            "numactl --cpunodebind=0 -m 0 ",
            "nsys profile -o out --trace=cuda ",
            "tini -- ",
            "dumb-init -- ",
            "srun -N 2 --ntasks-per-node=1 ",
            "apptainer exec --nv --bind /a:/b image.sif ",
            "singularity run --nv -B /a image.sif ",
            "uv run --with x -- ",
            "conda run -n env --no-capture-output ",
            "poetry run ",
            "pipenv run ",
            "srun apptainer exec --nv image.sif uv run ",
            "/opt/site/siteexec ",
            "/opt/nvidia/nvidia_entrypoint.sh ",
        ] {
            let programs = of(&format!("{wrapped}vllm serve org/model"));
            assert_eq!(programs.last().map(String::as_str), Some("vllm"), "{wrapped}");
        }
        assert_eq!(
            of("srun python3 -u -m vllm.entrypoints.openai.api_server"),
            ["srun", "python3", "vllm.entrypoints.openai.api_server"]
        );
        assert_eq!(of("mpirun -np 8 --bind-to none trtllm-serve m"), ["mpirun", "trtllm-serve"]);
        assert_eq!(of("uv pip install vllm"), ["uv"]);
        assert_eq!(of("python -c 'import vllm' vllm serve"), ["python"]);
    }
}
