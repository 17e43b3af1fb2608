//! Whether a text sets Docker up to know the runtime of the NVIDIA Container Toolkit. Knows the commands, the package and the
//! keys of the daemon that do so, in whatever stands around them: a page, a script, a play.

use crate::facts::DockerRuntime;

/// What a page or a script tells of the runtime: <https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html>
pub fn of_text(text: &str) -> Option<DockerRuntime> {
    const OTHERS: [&str; 4] = ["containerd", "crio", "cri-o", "podman"];
    if !text.contains("nvidia") {
        return None;
    }
    let configures = |line: &&str| line.contains("nvidia-ctk") && line.contains("configure");
    let commands = text.lines().filter(configures).filter(|line| !OTHERS.iter().any(|other| line.contains(other)));
    let of_command = commands.map(|line| match line.contains("set-as-default") {
        true => DockerRuntime::Default,
        false => DockerRuntime::Registered,
    });
    // The package writes the file of the daemon; whoever writes that file names the program.
    let of_package = text.contains("nvidia-docker2").then_some(DockerRuntime::Registered);
    let of_daemon = (text.contains("nvidia-container-runtime")
        && ["runtimes\"", "runtimes'", "runtimes:", "add-runtime"].iter().any(|sign| text.contains(sign)))
    .then_some(DockerRuntime::Registered);
    let default = ["default-runtime", "default_runtime"].iter().any(|key| {
        text.split(key).skip(1).any(|rest| {
            let value = rest.trim_start_matches(|c: char| " \t\"'\\:=".contains(c));
            value.starts_with("nvidia") && !text.contains("containerd")
        })
    });
    of_command.chain(of_package).chain(of_daemon).chain(default.then_some(DockerRuntime::Default)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_packages_and_files_of_the_daemon() {
        for (text, is) in [
            ("sudo nvidia-ctk runtime configure --runtime=docker\n", Some(DockerRuntime::Registered)),
            ("nvidia-ctk runtime configure --runtime=docker --set-as-default", Some(DockerRuntime::Default)),
            ("apt-get install -y nvidia-docker2", Some(DockerRuntime::Registered)),
            (
                r#"{"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}"#,
                Some(DockerRuntime::Default),
            ),
            ("dockerd --add-runtime=nvidia=/usr/bin/nvidia-container-runtime", Some(DockerRuntime::Registered)),
            ("nvidia-ctk runtime configure --runtime=containerd", None),
            ("install the NVIDIA Container Toolkit, nvidia-smi must work", None),
            ("docker run --runtime=nvidia --gpus all ubuntu nvidia-smi", None),
        ] {
            assert_eq!(of_text(text), is, "{text}");
        }
    }
}
