//! Containers that systemd runs by podman (`.container`): read as the `podman run` that is made of them. Knows which option each
//! setting is; runs nothing.
//! <https://docs.podman.io/en/latest/markdown/podman-systemd.unit.5.html>

use super::units::{assignments, settings};
use super::{TextFile, commands};
use crate::facts::Facts;
use crate::parse::shell;
use crate::source::{SourceId, Span, Traced};

/// Settings and the options of `podman run` that they are.
const OPTIONS: [(&str, &str); 18] = [
    ("AddCapability", "--cap-add"),
    ("AddDevice", "--device"),
    ("ContainerName", "--name"),
    ("DropCapability", "--cap-drop"),
    ("Entrypoint", "--entrypoint"),
    ("EnvironmentFile", "--env-file"),
    ("GroupAdd", "--group-add"),
    ("Memory", "--memory"),
    ("Mount", "--mount"),
    ("Network", "--network"),
    ("PodmanArgs", ""),
    ("PublishPort", "--publish"),
    ("ShmSize", "--shm-size"),
    ("Tmpfs", "--tmpfs"),
    ("Ulimit", "--ulimit"),
    ("User", "--user"),
    ("Volume", "--volume"),
    ("WorkingDir", "--workdir"),
];

/// Reads a container. One whose image another unit makes states none.
pub fn read(id: SourceId, text: &str, facts: &mut Facts) -> TextFile {
    let (settings, comments) = settings(text, "[Container]");
    let whole = Traced::verbatim(text, Span::new(id, 0..text.len()), 0);
    let file = TextFile { comments: comments.into_iter().map(|at| whole.span(at)).collect(), ..TextFile::default() };
    let stated = |wanted: &str| settings.iter().rfind(|(key, _)| *key == wanted).map(|(_, value)| value.clone());
    let is_unit = |name: &str| name.ends_with(".image") || name.ends_with(".build");
    let Some(image) = stated("Image").filter(|at| !is_unit(text[at.clone()].trim_end())) else { return file };
    let mut command = vec![Traced::opaque("podman run", whole.span(image.clone()))];
    let mut add = |option: &str, value: Traced, end: &str| {
        let place = value.whole();
        command.extend([Traced::opaque(format!(" {option}"), place), value, Traced::opaque(end, place)]);
    };
    for (key, value) in &settings {
        if *key == "Environment" {
            for (name, value) in assignments(text, value).filter(|(_, value)| !text[value.clone()].contains('\'')) {
                add(&format!("--env '{name}="), whole.slice(value), "'");
            }
        } else if let Some((_, option)) = OPTIONS.iter().find(|(known, _)| known == key) {
            add(&format!("{option} "), whole.slice(value.clone()), "");
        }
    }
    add("", whole.slice(image), "");
    stated("Exec").into_iter().for_each(|exec| add("", whole.slice(exec), ""));
    let whole = Span::new(id, 0..text.len());
    commands::read(&shell::parse(&Traced::concat(command, whole)), facts);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_what_podman_runs() {
        let text = "[Unit]\nDescription=x\n\n[Container]\nContainerName=llm\nImage=docker.io/vllm/vllm-openai:v0.8.5\n\
                    AddDevice=nvidia.com/gpu=all\nEnvironment=HF_HOME=/models \"EXTRA=a b\"\nPublishPort=8000:8000\n\
                    Exec=--model org/model \\\n  --tensor-parallel-size 8\n\n[Service]\nRestart=always\n";
        let mut facts = Facts::default();
        read(SourceId(0), text, &mut facts);
        let [workload] = &facts.workloads[..] else { panic!("{:?}", facts.workloads) };
        assert_eq!(workload.name.get().map(String::as_str), Some("llm"));
        let container = &workload.pods[0].containers[0];
        assert_eq!(container.env["EXTRA"].value.get().map(String::as_str), Some("a b"));
        assert_eq!(&text[container.env["HF_HOME"].value.span.range()], "/models");
        let launch = container.launch.as_ref().expect("a launch");
        assert_eq!(&text[launch.flags["tensor-parallel-size"].span.range()], "8");
        assert_eq!(container.gpu_vendor.get().map(ToString::to_string).as_deref(), Some("nvidia"));
    }

    #[test]
    fn an_image_of_another_unit_is_not_read() {
        let mut facts = Facts::default();
        read(SourceId(0), "[Container]\nImage=llm.build\n[Service]\nImage=x\n", &mut facts);
        assert_eq!(facts.workloads.len(), 0);
    }
}
