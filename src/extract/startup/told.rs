//! What start scripts tell of their machine: the driver that they install, and whether it becomes a node of a cluster.

use super::Parts;
use super::kubelet::Kubelet;
use crate::catalog;
use crate::extract::{commands, slurm, wrappers};
use crate::facts::NodePool;
use crate::known::{Fact, Known, Why};
use crate::parse::shell::{self, Command, Word};
use crate::parse::{mask, placeholder};
use crate::source::{Span, Traced};
use crate::version::Version;

/// What a script tells.
#[derive(Default)]
pub struct Told {
    driver: Option<Fact<Version>>,
    joins: bool,
    kubelet: Option<Kubelet>,
}

impl Told {
    /// What the parts of a text tell.
    pub(super) fn by(parts: &Parts, text: &str) -> Told {
        let packages = parts.packages.iter().filter_map(package).next_back();
        let installed = parts.scripts.iter().filter_map(driver).next_back();
        let kubelet = Kubelet::of(&parts.scripts, &parts.nodes);
        Told { driver: installed.or(packages), joins: lines_of(text).any(joins), kubelet }
    }

    /// Says it of the machines that run the script.
    pub(super) fn apply(&self, pool: &mut NodePool) {
        if let Some(driver) = &self.driver {
            pool.driver = driver.clone();
        }
        if self.joins && pool.in_cluster.is_unknown() {
            pool.in_cluster = Fact::value(true, pool.span);
        }
        if let Some(kubelet) = &self.kubelet {
            kubelet.apply(pool);
        }
    }
}

/// What a machine runs or reads, line by line, without comments.
pub fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let code = |line: &str| line.find(" #").unwrap_or(line.len());
    text.lines().map(str::trim).filter(|line| !line.starts_with('#')).map(move |line| &line[..code(line)])
}

/// Words that undo what they are about, and programs that only speak of it.
const UNDO: [&str; 10] =
    ["--uninstall", "autoremove", "disable", "echo", "mask", "printf", "purge", "remove", "rm", "stop"];

/// Whether some command of a line makes its machine a node of a cluster.
fn joins(line: &str) -> bool {
    let agent = |command: &str| catalog::cluster_agents().any(|agent| command.contains(agent));
    let undone = |word: &str| UNDO.contains(&word) || word.ends_with("uninstall.sh");
    line.split([';', '&', '|']).any(|command| agent(command) && !command.split_whitespace().any(undone))
}

/// What files of the driver begin with, and packages of it.
const FILES: [&str; 4] = ["NVIDIA-Linux-x86_64-", "NVIDIA-Linux-aarch64-", "cuda-repo-", "nvidia-driver-local-repo-"];
const PACKAGES: [&str; 4] = ["cuda-drivers", "nvidia-driver", "nvidia-headless", "nvidia-open"];

/// How the installer of the CUDA toolkit ends, which brings the driver that its name tells.
const TOOLKIT: &str = "_linux.run";

/// Commands that do something else with an installer than to run it.
const HANDLE: [&str; 9] = ["wget", "curl", "aria2c", "chmod", "rm", "cp", "mv", "ls", "echo"];

fn speaks(script: &str) -> bool {
    script.contains(TOOLKIT) || FILES.iter().chain(&PACKAGES).any(|word| script.contains(word))
}

/// The driver that a script installs: NVIDIA's runfile, local repository package, or a distribution's package. The last
/// one wins; one that only some branch installs may.
pub fn driver(script: &Traced) -> Option<Fact<Version>> {
    if !speaks(script.text()) {
        return None;
    }
    let mut last: Option<Fact<Version>> = None;
    commands_of(script, slurm::DEEPEST, &mut |command| {
        let installs = command.words.iter().any(|word| word.text() == "install");
        let of_word = |word: &Word| file(word.traced()).or_else(|| package(word.traced()).filter(|_| installs));
        let found = command.words.iter().filter_map(of_word).chain(of_toolkit(command));
        for found in found.filter(|_| !undoes(command)) {
            let other = last.as_ref().is_some_and(|before| before.known != found.known);
            last = Some(match other && !command.arms.branches().is_empty() {
                true => Fact::unknown(Why::Ambiguous("several drivers may be installed".into()), found.span),
                false => found,
            });
        }
    });
    last
}

/// The driver that an installer of the CUDA toolkit brings (cuda_11.6.2_510.47.03_linux.run), unless it is told to leave it out.
fn of_toolkit(command: &Command) -> Option<Fact<Version>> {
    let has = |flag: &str| command.words.iter().any(|word| word.text() == flag);
    if HANDLE.iter().any(|program| has(program)) || (has("--toolkit") && !has("--driver")) {
        return None;
    }
    let runs = command.words.iter().find(|word| word.text().ends_with(TOOLKIT))?;
    let name = runs.text().rsplit('/').next()?;
    let version = name.strip_prefix("cuda_")?.split('_').find_map(release)?;
    Some(Fact::value(version, runs.traced().whole()))
}

fn undoes(command: &Command) -> bool {
    command.words.iter().any(|word| UNDO.contains(&word.text()))
}

/// The commands of a script and of those that it writes out.
pub(super) fn commands_of(script: &Traced, depth: usize, each: &mut dyn FnMut(&Command)) {
    let masked = mask::mask(script.text());
    let place = Span::new(script.whole().source, 0..masked.len());
    let script = shell::parse(&Traced::verbatim(masked, place, 0).retraced(script)).resolved(&|_| None);
    for text in commands::scripts(&script).filter(|_| depth > 0) {
        commands_of(text, depth - 1, each);
    }
    script.unfolded(&wrappers::inner).commands.iter().for_each(each);
}

/// The driver in the name of a file: the last dotted number of three digits and more
/// (cuda-repo-ubuntu2004-11-6-local_11.6.2-510.47.03-1).
fn file(word: &Traced) -> Option<Fact<Version>> {
    let text = word.text();
    let marker = FILES.iter().find(|marker| text.contains(**marker))?;
    let at = text.find(marker)?;
    let name = text[at..].split_whitespace().next()?;
    let mut start = at;
    for part in name.split(['-', '_']) {
        let body = part.trim_end_matches(".run");
        if let Some(version) = release(body) {
            return Some(Fact::value(version, word.span(start..start + body.len())));
        }
        start += part.len() + 1;
    }
    let runfile = marker.starts_with("NVIDIA-Linux") && name.len() > marker.len();
    runfile.then(|| Fact::unknown(placeholder(name).unwrap_or(Why::Malformed(name.into())), word.whole()))
}

/// The driver of a package: its release where that is pinned.
fn package(word: &Traced) -> Option<Fact<Version>> {
    let text = word.text();
    PACKAGES.iter().find(|name| text.starts_with(**name))?;
    let pinned = text.split(['=', ':', '-']).find_map(release);
    let open = || Known::Unknown(Why::NotStated(format!("the release of {text}").into()));
    Some(Fact { known: pinned.map_or_else(open, Known::Value), span: word.whole(), unread: false })
}

fn release(text: &str) -> Option<Version> {
    Version::parse(text).filter(|version| version.major() >= 300 && version.release().len() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(script: &str) -> Told {
        let text = Traced::verbatim(script, Span::new(crate::source::SourceId(0), 0..script.len()), 0);
        Told::by(&super::super::parts(&text), script)
    }

    /// The driver; `?` for one that is not known.
    fn driver(script: &str) -> String {
        let found = told(script).driver;
        found.map_or_else(String::new, |fact| fact.get().map_or("?".to_owned(), Version::to_string))
    }

    #[test]
    fn the_last_driver_that_is_installed_counts() {
        let old = "sh NVIDIA-Linux-x86_64-450.80.02.run --silent\n";
        let new = "sh NVIDIA-Linux-x86_64-580.95.05.run --silent\n";
        for (script, wanted) in [
            ("wget https://x/cuda-repo-ubuntu2004-11-6-local_11.6.2-510.47.03-1_amd64.deb", "510.47.03"),
            (new, "580.95.05"),
            (&format!("# old: {old}{new}"), "580.95.05"),
            (&format!("{old}{new}"), "580.95.05"),
            (&format!("{new}sh NVIDIA-Linux-x86_64-450.80.02.run --uninstall\n"), "580.95.05"),
            (&format!("if lspci | grep -q A100; then\n{old}else\n{new}fi\n"), "?"),
            (&format!("if ! nvidia-smi; then\n{new}fi\n"), "580.95.05"),
            ("V=580.95.05\nsh NVIDIA-Linux-x86_64-$V.run", "580.95.05"),
            (
                "wget https://x/cuda_11.6.2_510.47.03_linux.run\nsh cuda_11.6.2_510.47.03_linux.run --silent",
                "510.47.03",
            ),
            ("sh cuda_11.6.2_510.47.03_linux.run --silent --toolkit", ""),
            ("sh cuda_11.6.2_510.47.03_linux.run --silent --toolkit --driver", "510.47.03"),
            ("wget https://x/cuda_11.6.2_510.47.03_linux.run", ""),
            ("sh NVIDIA-Linux-x86_64-${V}.run", "?"),
            ("cat > a.sh <<'E'\n#!/bin/sh\nsh NVIDIA-Linux-x86_64-580.95.05.run\nE\nbash a.sh", "580.95.05"),
            ("apt-get install -y nvidia-driver-570", "?"),
            ("apt-get install -y nvidia-driver-570=570.86.15-0ubuntu1", "570.86.15"),
            ("apt-get remove -y nvidia-driver-570", ""),
            ("apt-get install -y curl", ""),
        ] {
            assert_eq!(driver(&format!("#!/bin/bash\n{script}")), wanted, "{script}");
        }
        let list = "#cloud-config\nruncmd:\n- V=580.95.05\n- [sh, NVIDIA-Linux-x86_64-580.95.05.run]\n- sh NVIDIA-Linux-x86_64-$V.run\n";
        assert_eq!(driver(list), "580.95.05");
        assert_eq!(driver("#cloud-config\npackages: [nvidia-driver-570]\n"), "?");
    }

    #[test]
    fn a_machine_is_a_node_where_its_script_runs_an_agent() {
        for (line, joins) in [
            ("kubeadm join 10.0.0.1:6443", true),
            ("curl -sfL https://get.k3s.io | sh - || echo no", true),
            ("# k3s was removed", false),
            ("docker run x # not kubelet", false),
            ("systemctl disable --now kubelet || true", false),
            ("/usr/local/bin/k3s-uninstall.sh", false),
            ("echo kubelet", false),
        ] {
            assert_eq!(told(&format!("#!/bin/sh\n{line}\n")).joins, joins, "{line}");
        }
    }
}
