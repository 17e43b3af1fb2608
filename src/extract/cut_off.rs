//! Options that a shell runs as commands: the command before them ended too early, at a comment or a line without a
//! backslash, or at a backslash with a blank behind it. Knows how options begin, and which commands are launches.

use super::written::Document;
use super::{embedded, launch, wrappers};
use crate::facts::Facts;
use crate::parse::Problem;
use crate::parse::shell::{Command, Word};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of the objects that say so.
const KIND: &str = "CutOffOption";

/// Most that is read of one file.
const MOST: usize = 100;

/// Programs whose options describe what runs in a container.
const CONTAINERS: [&str; 3] = ["docker", "nerdctl", "podman"];

/// Each option that is run behind a launch, as an object: the option, and the program that it was meant for.
pub fn read(commands: &[Command], facts: &mut Facts) {
    // Few commands begin like an option: what stands before the others is not looked at.
    let found =
        commands.windows(2).filter_map(|two| option(&two[1]).and_then(|option| Some((program(&two[0])?, option))));
    // What follows the first is cut off with it, and stands behind no launch.
    for (number, (program, option)) in found.enumerate() {
        if number == MOST {
            let message = format!("the options that are run as commands from here on: more than {MOST} in one file");
            return facts.cut.push(Problem { span: option.span(), message });
        }
        let mut document = Document::new(option.span());
        let (program, option) = (document.text(program), document.text(option));
        document.put("program", program);
        document.put("option", option);
        let tree = document.finish();
        let objects = tree.roots().map(|root| Arc::new(embedded::object(&tree, root, KIND, "")));
        facts.objects.extend(objects);
    }
}

/// The word of a command that is an option.
fn option(command: &Command) -> Option<&Word> {
    let is_option = |word: &&Word| {
        let name = word.text().trim_start_matches('-');
        name.len() < word.text().len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    command.words.first().filter(is_option).filter(|_| command.assignments.is_empty())
}

/// The program that a command launches, in a container or not.
fn program(command: &Command) -> Option<&Word> {
    option(command).is_none().then_some(())?;
    let programs = || wrappers::programs(&command.words).into_iter().map(|at| &command.words[at]);
    let contained = programs().find(|word| CONTAINERS.contains(&wrappers::base_name(word.text())));
    contained.or_else(|| {
        let launch = launch::of_process(command, &BTreeMap::new())?;
        programs().find(|word| word.span() == launch.span).or_else(|| programs().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::shell;
    use crate::source::{SourceId, Span, Traced};

    fn found(script: &str) -> Vec<String> {
        let script = shell::parse(&Traced::verbatim(script, Span::new(SourceId(0), 0..script.len()), 0));
        let mut facts = Facts::default();
        read(&script.commands, &mut facts);
        let text = |object: &crate::facts::Object, key: &str| {
            let body = object.body.as_ref().expect("a body");
            body.view().get(key).node().and_then(|node| node.text().map(str::to_owned)).unwrap_or_default()
        };
        facts.objects.iter().map(|object| format!("{} {}", text(object, "program"), text(object, "option"))).collect()
    }

    #[test]
    fn an_option_behind_a_launch_is_told_once() {
        let told = ["vllm --tp"];
        assert_eq!(found("vllm serve m \\\n  # both cards\n  --tp 2 \\\n  --port 80"), told);
        assert_eq!(found("vllm serve m \\ \n  --tp 2\n  --port 80"), told);
        assert_eq!(found("vllm serve m\n  --tp 2 \\\n  --port 80"), told);
        assert_eq!(found("docker run --gpus all \\\n # a port\n -p 80:80 \\\n image"), ["docker -p"]);
    }

    #[test]
    fn options_that_belong_to_a_command_are_none() {
        assert_eq!(found("vllm serve m \\\n  --tp 2 \\\n  --port 80\n"), [""; 0]);
        assert_eq!(found("ls\n--tp 2"), [""; 0], "nothing is known of what is listed");
        assert_eq!(found("args=(\n  --tp 2\n  --port 80\n)\nvllm serve m \"${args[@]}\""), [""; 0]);
        assert_eq!(found("case $1 in\n a) vllm serve m;;\n --help) usage;;\nesac"), [""; 0]);
        assert_eq!(found("cat <<E\nvllm serve m\n--tp 2\nE"), [""; 0]);
    }
}
