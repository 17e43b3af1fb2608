//! The programs of a command line: which one runs behind those that only run another (`srun`, `uv run`, `apptainer exec
//! IMAGE`, `python -m`). Knows how command lines are built; which programs wrap others are rows of the catalog.

use crate::catalog;
use crate::parse::shell::{self, Command, Script, Word};
use crate::paths;
use crate::source::Traced;
use std::collections::BTreeMap;

/// Of a command that runs more programs through each other than this, those in the middle are passed over: nobody writes
/// one, and whoever asks about each of them looks at all that follows.
const MOST: usize = 16;

/// Places of the programs of a command, the outermost first: each runs the next one. A module or script of Python stands
/// beside its interpreter.
pub fn programs(words: &[Word]) -> Vec<usize> {
    let mut out = vec![];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        // What may bring options, or what runs the rest, is neither.
        let open = word.is_open() && words.get(at + 1).is_some_and(|next| !next.text().starts_with('-'));
        if word.text() == "--" || word.assignment().is_some() || open {
            at += 1;
            continue;
        }
        if out.len() == MOST {
            out.pop();
        }
        out.push(at);
        let program = base_name(word.text());
        let of_python = || word.expands && words.get(at + 1).is_some_and(|next| next.text() == "-m");
        if is_python(program) || of_python() {
            out.extend(python(words, at + 1));
            break;
        }
        // What a launcher starts stands behind options that it shares with nobody.
        if catalog::launcher_of_program(program, words.get(at + 1).map(Word::text)).is_some() {
            out.extend(launched(words, at + 1));
            break;
        }
        match catalog::wrappers(program).find_map(|wrapper| behind(&wrapper, words, at + 1)) {
            Some(next) => at = next,
            None => break,
        }
    }
    out
}

/// The script that a command hands to a shell, behind what runs the shell, or to a program that asks a shell itself.
pub fn inner(command: &Command) -> Option<Script> {
    let words = &command.words;
    let programs = programs(words);
    if let Some(eval) = programs.iter().find(|at| words[**at].text() == "eval") {
        let words = &words[eval + 1..];
        let whole = words.first()?.span().to(words.last()?.span());
        let texts = words.iter().flat_map(|word| [Traced::opaque(" ", whole), word.traced().clone()]);
        return Some(shell::parse(&Traced::concat(texts, whole)));
    }
    if let Some(shell) = programs.iter().find(|at| shell::is_shell(words[**at].text())) {
        return Command { words: words[*shell..].to_vec(), ..command.clone() }.inner();
    }
    // Where there is none for a program, there is none up to the end of its options for others of its name.
    let mut none_before: BTreeMap<&str, usize> = BTreeMap::new();
    let mut scripts = programs.into_iter().filter_map(|at| {
        let name = base_name(words[at].text());
        if none_before.get(name).is_some_and(|end| at < *end) {
            return None;
        }
        let end = words.iter().skip(at).position(|word| word.text() == "--").map_or(words.len(), |dashes| at + dashes);
        none_before.insert(name, end);
        script(&words[..end], at)
    });
    scripts.next().map(|script| shell::parse(&script))
}

/// The file of a shell script that a command runs, by a shell or by itself, as seen from where the command starts.
pub fn file(words: &[Word]) -> Option<Traced> {
    let at = *programs(words).last()?;
    let word = match shell::is_shell(words[at].text()) {
        true => {
            let is_option = |word: &&Word| word.text().starts_with('-');
            let options = words[at + 1..].iter().take_while(is_option);
            if options.clone().any(|word| word.text().contains(['c', 's'])) {
                return None;
            }
            words.get(at + 1 + options.count())?
        }
        false => Some(&words[at]).filter(|word| word.text().contains('/') && word.text().ends_with(".sh"))?,
    };
    const HERE: [&str; 6] = ["$PWD/", "${PWD}/", "$(pwd)/", "$SLURM_SUBMIT_DIR/", "${SLURM_SUBMIT_DIR}/", "./"];
    let text = word.text();
    let rest = HERE.iter().find_map(|here| text.strip_prefix(here)).unwrap_or(text);
    let plain = !rest.is_empty() && !rest.starts_with(['/', '~', '-']) && !rest.contains(['$', '`', '{', '<']);
    plain.then(|| word.traced().slice(text.len() - rest.len()..text.len()))
}

/// The script that stands behind an option of a wrapper, of words without `--`: `su user -c SCRIPT`.
fn script(words: &[Word], at: usize) -> Option<Traced> {
    let wrapper = catalog::wrappers(base_name(words[at].text())).next()?;
    let options = words.iter().enumerate().skip(at + 1).filter(|(_, word)| word.text().starts_with('-'));
    let mut scripts = options.filter_map(|(at, word)| {
        let option = word.text().trim_start_matches('-');
        let (name, inline) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let end = word.text().len();
        wrapper.takes_script(name).then(|| match inline {
            Some(value) => Some(word.traced().slice(end - value.len()..end)),
            None => words.get(at + 1).map(|word| word.traced().clone()),
        })?
    });
    scripts.next()
}

/// The image that a command starts, when a program that runs images takes one: its place, and the wrapper's.
pub fn image(words: &[Word]) -> Option<usize> {
    programs(words).into_iter().find_map(|at| {
        let wrappers = catalog::wrappers(base_name(words[at].text()));
        let mut images = wrappers.filter(catalog::Wrapper::runs_image).filter_map(|w| behind(&w, words, at + 1));
        images.next().map(|next| next - 1)
    })
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

/// Where the command of a wrapper starts; `None` for what is told to do something else.
fn behind(wrapper: &catalog::Wrapper, words: &[Word], mut at: usize) -> Option<usize> {
    let mut verbs = wrapper.subcommands().peekable();
    let mut operands = wrapper.operands();
    while let Some(word) = words.get(at) {
        let text = word.text();
        let option = text.trim_start_matches('-');
        at += 1;
        if text == "--" && operands == 0 {
            return verbs.peek().is_none().then_some(at);
        } else if text.starts_with('-') {
            if wrapper.takes_script(option.split('=').next().unwrap_or(option)) {
                return None;
            }
            at += usize::from(!option.contains('=') && wrapper.takes_value(option));
        } else if operands == 0 && word.is_open() && words.len() > at {
            // It may bring options.
        } else if verbs.peek().is_some() {
            verbs.next_if_eq(&text)?;
        } else if wrapper.behind_dashes() {
        } else if operands == 0 {
            return Some(at - 1);
        } else if operands == 1 {
            // What follows the last operand is the command, whatever it looks like.
            return Some(at);
        } else {
            operands -= 1;
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

/// The server behind the options of a launcher, or the launcher that it starts on each node.
fn launched(words: &[Word], from: usize) -> Option<usize> {
    let verb = |at: usize| words.get(at + 1).map(Word::text);
    let name = |at: usize| base_name(words[at].text());
    let launcher = |at: &usize| catalog::launcher_of_program(name(*at), verb(*at)).is_some();
    let server = |at: &usize| catalog::server_of_program(name(*at), verb(*at)).is_some();
    (from..words.len()).find(server).or_else(|| {
        // What stands behind a program is its own.
        let first = (from..words.len()).find(|at| is_python(name(*at)) || launcher(at))?;
        if is_python(name(first)) { python(words, first + 1).filter(launcher) } else { Some(first) }
    })
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
            "uvx --from vllm --python 3.12 ",
            "uv tool run --with x ",
            "uv --directory app run ",
            "pipx run --spec vllm ",
            "hatch -e serve run ",
            "enroot start --rw --mount /a:/b -- image.sqsh ",
            "ch-run --bind /a:/b image -- ",
            "shifter --image=docker:x ",
            "setpriv --reuid 1000 --init-groups ",
            "runuser -u app -- ",
            "chroot --userspec=a:b /mnt ",
            "flock -w 5 /tmp/lock ",
            "strace -f -o out ",
            "prlimit --nofile=1024 ",
            "docker exec -it -e A=b name ",
            "docker --context gpu run --rm --gpus all -v /a:/b image ",
            "podman container run --device nvidia.com/gpu=all image ",
            "doppler run --project p -- ",
            "op run --env-file .env -- ",
            "chamber exec one two -- ",
            "aws-vault exec profile -- ",
            "infisical run --env=dev -- ",
            "kubectl exec -it pod -c main -- ",
            "dotenv -f .env run ",
            "ddtrace-run ",
            "opentelemetry-instrument --traces_exporter console ",
            "with-contenv s6-setuidgid app ",
            "su-exec app tini -s -- ",
            "ionice -c 2 -n 7 nice -n 5 taskset -c 0-3 stdbuf -oL ",
            "xvfb-run -a -s '-screen 0' ",
            "rocprofv3 --hip-trace -- ",
            "ncu --set full -o out ",
            "$SUDO $WRAP srun ${MORE} -l \"${OPTIONS[@]}\" ",
            "ray job submit --address=x --working-dir . -- ",
        ] {
            let programs = of(&format!("{wrapped}vllm serve org/model"));
            assert_eq!(programs.last().map(String::as_str), Some("vllm"), "{wrapped}");
        }
        assert_eq!(
            of("srun python3 -u -m vllm.entrypoints.openai.api_server"),
            ["srun", "python3", "vllm.entrypoints.openai.api_server"]
        );
        assert_eq!(of("mpirun -np 8 --bind-to none trtllm-serve m"), ["mpirun", "trtllm-serve"]);
        assert_eq!(of("\"$PYTHON\" -m torch.distributed.run t.py"), ["$PYTHON", "torch.distributed.run"]);
        assert_eq!(of("$TOOL --model m"), ["$TOOL"]);
        assert_eq!(of("mpiexec -n 4 --ppn 1 torchrun --nnodes 4 t.py"), ["mpiexec", "torchrun"]);
        assert_eq!(of("mpirun -x A=b python -m torch.distributed.run t.py"), ["mpirun", "torch.distributed.run"]);
        assert_eq!(of("mpirun python t.py --strategy deepspeed"), ["mpirun"]);
        assert_eq!(of("uv pip install vllm"), ["uv"]);
        assert_eq!(of("uv tool install vllm"), ["uv"]);
        assert_eq!(of("docker build -t vllm ."), ["docker"]);
        assert_eq!(of("python -c 'import vllm' vllm serve"), ["python"]);
    }

    #[test]
    fn a_script_for_a_shell_stands_behind_an_option() {
        let first = |text: &str| {
            let script = shell::parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
            inner(&script.commands[0]).map(|inner| inner.commands[0].words[0].text().to_owned())
        };
        for text in [
            "su - app -c 'vllm serve m'",
            "runuser app --command='vllm serve m'",
            "flock /tmp/lock -c 'vllm serve m'",
            "env -S 'vllm serve m'",
            "doppler run --command 'vllm serve m'",
            "srun bash -lc 'vllm serve m'",
            "eval \"vllm serve m\" --port 1",
        ] {
            assert_eq!(first(text).as_deref(), Some("vllm"), "{text}");
        }
        assert_eq!(first("vllm serve -c m"), None);
    }

    #[test]
    fn the_image_that_a_command_starts() {
        let of = |text: &str| {
            let script = shell::parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
            let words = &script.commands[0].words;
            image(words).map(|at| words[at].text().to_owned())
        };
        assert_eq!(of("docker run --gpus all vllm/vllm-openai --model m").as_deref(), Some("vllm/vllm-openai"));
        assert_eq!(
            of("srun apptainer run --nv docker://vllm/vllm-openai").as_deref(),
            Some("docker://vllm/vllm-openai")
        );
        assert_eq!(of("docker exec vllm nvidia-smi"), None);
    }
}
