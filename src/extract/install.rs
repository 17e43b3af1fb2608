//! Install commands: what pip, uv, conda and the package managers of distributions are told to install. Knows
//! their command lines; knows neither Dockerfiles nor what a version brings.

use super::wrappers;
use crate::catalog;
use crate::facts::{Package, PackageFile, PackageFileKind, PackageManager, PythonHome};
use crate::known::{Fact, Why};
use crate::parse::requirements::{self, Line, Requirement};
use crate::parse::shell::{self, Command, Script, Word};
use crate::parse::{placeholder, wheel};
use crate::paths;
use crate::source::{Span, Traced};
use crate::version::Version;

/// What one command installs.
#[derive(Debug, Default)]
pub struct Install {
    /// Packages named on the command line.
    pub packages: Vec<Package>,
    /// Requirement files, as written.
    pub files: Vec<Fact<String>>,
    /// Constraint files, as written.
    pub constraints: Vec<Fact<String>>,
    /// Extras and groups of the project in the working directory.
    pub groups: Vec<Fact<String>>,
    /// Its options, as packages state them.
    pub options: Option<Fact<String>>,
}

/// Options of pip and uv that take a value, beside those that are read.
const WITH_VALUE: &str = "--target -t --prefix --python -p --platform --python-version --implementation --abi \
    --trusted-host --cert --client-cert --proxy --cache-dir --timeout --retries --resume-retries --upgrade-strategy --root \
    --src --progress-bar --log --report --exists-action --keyring-provider --use-feature --torch-backend \
    --python-platform --python-preference --config-settings -C --global-option --build-option --install-option --no-binary \
    --only-binary --no-binary-package --no-build-package --no-build-isolation-package --index-strategy --link-mode \
    --resolution --prerelease --exclude-newer --build-constraint --build-constraints -b \
    --reinstall-package --refresh-package --upgrade-package -P --package --directory --project --script --wheel-dir -w \
    --dest -d";

/// What a command installs, behind what runs it; `None` when it installs nothing. `words` have their variables replaced.
pub fn of_command(words: &[Traced]) -> Option<Install> {
    let command = Command::of_arguments(words)?;
    wrappers::programs(&command.words).into_iter().find_map(|at| of_program(&words[at..]))
}

fn of_program(words: &[Traced]) -> Option<Install> {
    let (program, rest) = words.split_first()?;
    let program = program.text().rsplit('/').next().unwrap_or_default();
    let after = |subcommand: &str| rest.iter().position(|w| w.text() == subcommand).map(|at| &rest[at + 1..]);
    // `pip wheel` fetches or builds what is installed from there later.
    let pip = || after("install").or_else(|| after("wheel")).map(|rest| of_pip(rest, PackageManager::Pip));
    let starts = |given: &[&str]| given.iter().zip(rest).filter(|(a, b)| **a == b.text()).count() == given.len();
    match program {
        p if p.starts_with("pip") => pip(),
        p if p.starts_with("python") && starts(&["-m", "pip"]) => pip(),
        "uv" if starts(&["pip"]) => after("install").map(|rest| of_pip(rest, PackageManager::Uv)),
        "uv" if starts(&["add"]) => Some(of_pip(&rest[1..], PackageManager::Uv)),
        "uv" if starts(&["sync"]) => Some(of_project(&rest[1..])),
        "poetry" | "pdm" => after("install").map(of_project),
        "conda" | "mamba" | "micromamba" => after("install").or_else(|| after("create")).map(of_conda),
        "apt-get" | "apt" | "yum" | "dnf" | "microdnf" => {
            after("install").map(|rest| of_distribution(rest, PackageManager::Apt))
        }
        "dpkg" => after("-i").or_else(|| after("--install")).map(of_archives),
        "apk" => after("add").map(|rest| of_distribution(rest, PackageManager::Apk)),
        _ => None,
    }
}

/// The packages of a distribution that a command keeps at the version which is there.
pub fn held(command: &Traced) -> Vec<Fact<String>> {
    shell::parse(command).commands.iter().flat_map(held_by).collect()
}

fn held_by(command: &Command) -> Vec<Fact<String>> {
    let words: Vec<&str> = command.words.iter().map(Word::text).collect();
    if !words.iter().any(|word| ["hold", "versionlock"].contains(word)) {
        return vec![];
    }
    let programs = wrappers::programs(&command.words).into_iter();
    let names = programs.filter_map(|at| match (wrappers::base_name(words[at]), words.get(at + 1..)?) {
        ("apt-mark", ["hold", ..]) => Some(at + 2),
        ("dnf" | "yum", ["versionlock", "add", ..]) => Some(at + 3),
        _ => None,
    });
    let named = names.take(1).flat_map(|from| &command.words[from..]).filter(|word| !word.text().starts_with('-'));
    named.map(|word| fact(word.traced())).collect()
}

/// The program that a command starts: what `sudo` or `python -m` runs, without its directory; releases of Python and pip
/// go by the plain name.
pub fn program(words: &[Traced]) -> Option<String> {
    let words = after_prefix(words);
    let name = plain(words.first()?.text());
    match words {
        [_, flag, module, ..] if name == "python" && flag.text() == "-m" => Some(module.text().to_owned()),
        _ => Some(name.to_owned()),
    }
}

fn plain(program: &str) -> &str {
    let name = paths::name(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if matches!(bare, "python" | "pip") { bare } else { name }
}

/// What holds the Python that a command makes, if it makes one.
pub fn python_of(program: &str, words: &[Traced]) -> Option<PythonHome> {
    let has = |word: &str| words.iter().any(|w| w.text() == word);
    match program {
        "venv" | "virtualenv" => Some(PythonHome::Venv),
        "conda" | "mamba" | "micromamba" => Some(PythonHome::Conda),
        "pyenv" => Some(PythonHome::Pyenv),
        "uv" if has("venv") => Some(PythonHome::Venv),
        "uv" if has("python") || has("sync") || has("run") => Some(PythonHome::Uv),
        _ => words
            .iter()
            .any(|w| w.text().contains("conda") || w.text().contains("iniforge"))
            .then_some(PythonHome::Conda),
    }
}

fn after_prefix(words: &[Traced]) -> &[Traced] {
    let skip = words.iter().take_while(|w| matches!(w.text(), "sudo" | "env" | "exec") || w.text().contains('='));
    &words[skip.count()..]
}

fn of_pip(words: &[Traced], manager: PackageManager) -> Install {
    let mut install = Install::default();
    let (mut index, mut extra, mut options) = (None, Vec::new(), Vec::new());
    let mut named = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text();
        if !text.starts_with('-') {
            named.push(word);
            continue;
        }
        let (name, given) = match text.split_once('=') {
            Some((name, value)) => (name, Some(word.slice(text.len() - value.len()..text.len()))),
            None => (text, None),
        };
        let mut value = || given.clone().or_else(|| rest.next().cloned());
        match name {
            "-r" | "--requirement" | "--requirements" => install.files.extend(value().map(|v| fact(&v))),
            "-c" | "--constraint" | "--constraints" => install.constraints.extend(value().map(|v| fact(&v))),
            "--extra" | "--group" => install.groups.extend(value().map(|v| fact(&v))),
            "-e" | "--editable" => named.extend(rest.next()),
            "-i" | "--index-url" | "--default-index" => index = value(),
            "--extra-index-url" | "--index" | "-f" | "--find-links" => extra.extend(value()),
            "--override" | "--overrides" | "--use-deprecated" => {
                options.push(name);
                value();
            }
            _ if WITH_VALUE.split_whitespace().any(|option| option == name) => {
                value();
            }
            _ => options.push(text),
        }
    }
    let whole = words.first().zip(words.last()).map(|(first, last)| first.whole().to(last.whole()));
    install.options = whole.map(|whole| Fact::value(options.join(" "), whole));
    for word in named {
        let Some(requirement) = requirements::requirement(word) else {
            // `.[gpu]`: the project itself with its extras.
            let extras = word.text().split_once('[').and_then(|(path, extras)| Some((path, extras.strip_suffix(']')?)));
            if let Some((_, extras)) = extras.filter(|(path, _)| path.starts_with('.')) {
                let names = extras.split(',').map(|extra| Fact::value(requirements::normalized(extra), word.whole()));
                install.groups.extend(names);
            }
            continue;
        };
        let mut package = of_requirement(&requirement, manager);
        set_indexes(&mut package, index.as_ref(), &extra);
        package.options = install.options.clone().unwrap_or(package.options);
        install.packages.push(package);
    }
    install
}

/// What a project installs of itself: the extras and groups that are asked for.
fn of_project(words: &[Traced]) -> Install {
    let mut install = Install::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, given) = match word.text().split_once('=') {
            Some((name, value)) => (name, Some(word.slice(word.text().len() - value.len()..word.text().len()))),
            None => (word.text(), None),
        };
        if matches!(name, "--extra" | "--group" | "--only-group" | "--extras" | "-E" | "--with" | "--only" | "-G") {
            let value = given.or_else(|| rest.next().cloned());
            let names = value.iter().flat_map(|value| {
                let names = value.text().split([',', ' ']).filter(|name| !name.is_empty());
                names.map(|name| Fact::value(requirements::normalized(name), value.whole())).collect::<Vec<_>>()
            });
            install.groups.extend(names);
        }
    }
    install
}

/// What each command of a script installs, as a list of its own: other commands may stand in other branches.
pub fn of_script(script: &Script, path: &str) -> Vec<PackageFile> {
    [of_commands(&script.commands, path), of_commands(&script.substituted(), path)].concat()
}

/// What each of some commands installs, as a list of its own.
pub fn of_commands(commands: &[Command], path: &str) -> Vec<PackageFile> {
    let read = |command: &Command| {
        let words: Vec<Traced> = command.words.iter().map(|w| w.traced().clone()).collect();
        let held = held_by(command);
        let mut install = of_command(&words).or((!held.is_empty()).then(Install::default))?;
        let redirections: Vec<Traced> = command.redirections.iter().map(|r| r.traced().clone()).collect();
        unquoted(&mut install.packages, &redirections);
        fetched(&mut install.packages, commands);
        let mut file = PackageFile::blank(command.span);
        file.path = Fact::value(path.to_owned(), command.span);
        file.kind = Fact::value(PackageFileKind::Script, command.span);
        file.includes = install.files;
        file.constraints = install.constraints;
        file.packages = install.packages;
        file.held = held;
        (!file.packages.is_empty() || !file.held.is_empty()).then_some(file)
    };
    commands.iter().filter_map(read).collect()
}

/// Indexes that a requirement file within another file states.
const MOST_INDEXES: usize = 8;

/// The packages of a requirement file that stands in another text.
pub fn of_requirements(text: &Traced) -> Vec<Package> {
    let lines = requirements::parse(text.whole().source, text.text()).lines;
    let (mut index, mut extra, mut out) = (None, Vec::new(), Vec::new());
    for line in &lines {
        match line {
            Line::Requirement(found) => {
                let requirement = requirements::requirement(&text.slice(found.span.range()));
                out.extend(requirement.map(|found| of_requirement(&found, PackageManager::Pip)));
            }
            Line::Option { name, value: Some(value), .. } => match name.as_str() {
                "--index-url" => index = Some(text.slice(value.whole().range())),
                "--extra-index-url" | "--find-links" => extra.push(text.slice(value.whole().range())),
                _ => {}
            },
            _ => {}
        }
    }
    // Each package states all of them.
    extra.truncate(MOST_INDEXES);
    out.iter_mut().for_each(|package| set_indexes(package, index.as_ref(), &extra));
    out
}

/// Marks packages whose comparison has no quotes: to the shell it is a redirection, and the package has no version.
pub fn unquoted(packages: &mut [Package], redirections: &[Traced]) {
    for package in packages {
        let attached = |r: &&Traced| r.whole().start == package.span.end && r.whole().source == package.span.source;
        if let Some(redirection) = redirections.iter().find(attached) {
            package.unquoted = Fact::value(redirection.text().to_owned(), redirection.whole());
        }
    }
}

/// States the indexes that a package is looked for in.
pub fn set_indexes(package: &mut Package, index: Option<&Traced>, extra: &[Traced]) {
    if let Some(index) = index {
        package.index_url = fact(index);
    }
    if let Some(first) = extra.first() {
        let urls: Vec<&str> = extra.iter().map(Traced::text).collect();
        package.extra_indexes = match urls.iter().find_map(|u| placeholder(u)) {
            Some(why) => Fact::unknown(why, first.whole()),
            None => Fact::value(urls.join(" "), first.whole()),
        };
    }
}

/// A text as a fact; with a placeholder it is unknown.
pub fn fact(text: &Traced) -> Fact<String> {
    match placeholder(text.text()) {
        Some(why) => Fact::unknown(why, text.whole()),
        None => Fact::value(text.text().to_owned(), text.whole()),
    }
}

/// The package of a requirement.
pub fn of_requirement(requirement: &Requirement, manager: PackageManager) -> Package {
    let mut package = Package::blank(requirement.span);
    let name = requirements::normalized(requirement.name.text());
    package.name = Fact::value(name, requirement.name.whole());
    package.manager = Fact::value(manager, requirement.span);
    let mut extras = requirement.extras.clone();
    extras.sort();
    package.extras = Fact::from_option(Some(extras.join(",")).filter(|e| !e.is_empty()), requirement.span);
    if let Some(marker) = &requirement.marker {
        package.marker = fact(marker);
    }
    if let Some(options) = &requirement.options {
        package.line_options = fact(options);
    }
    if let Some(url) = &requirement.url {
        package.url = fact(url);
        if let Some(wheel) = wheel::parse(url) {
            set_version(&mut package, wheel.version.text(), wheel.version.whole());
            if let Some(local) = &wheel.local {
                package.variant = Fact::value(local.text().to_owned(), local.whole());
            }
            return package;
        }
    }
    let unpinned = Why::NotStated("the version that will be installed".into());
    package.version = Fact::unknown(unpinned, requirement.span);
    package.pinned = Fact::value(false, requirement.span);
    if let Some(specifier) = &requirement.specifiers {
        package.specifier = fact(specifier);
        let text = specifier.text();
        if let Some(exact) = text.strip_prefix("==").map(|t| t.trim_start_matches('=').trim())
            && !exact.contains([',', '*', '$', '<', '{'])
        {
            set_version(&mut package, exact, specifier.whole());
        }
    }
    package
}

fn set_version(package: &mut Package, text: &str, span: Span) {
    if let Some(version) = Version::parse(text) {
        if let Some(local) = version.local() {
            package.variant = Fact::value(local.to_owned(), span);
        }
        package.version = Fact::value(version, span);
        package.pinned = Fact::value(true, span);
    }
}

fn of_conda(words: &[Traced]) -> Install {
    let mut install = Install::default();
    let mut channels: Vec<Traced> = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text();
        match text {
            "-c" | "--channel" => channels.extend(rest.next().cloned()),
            "-n" | "-p" | "--name" | "--prefix" | "--solver" | "--clone" | "--platform" | "-r" => {
                rest.next();
            }
            "-f" | "--file" => install.files.extend(rest.next().map(fact)),
            "--override-channels" => channels.push(Traced::opaque(NO_DEFAULTS, word.whole())),
            _ if text.starts_with("--channel=") => channels.push(word.slice("--channel=".len()..text.len())),
            _ if text.starts_with('-') => {}
            _ => install.packages.extend(conda(word)),
        }
    }
    for package in &mut install.packages {
        look_in(package, &channels);
    }
    install
}

/// What says to conda that no other channels than those that are named are asked.
const NO_DEFAULTS: &str = "nodefaults";

/// Says in which channels a package is looked for, unless it names its own.
pub fn look_in(package: &mut Package, channels: &[Traced]) {
    let (Some(first), true) = (channels.first(), package.channels.is_absent()) else { return };
    let unknown = channels.iter().find_map(|channel| placeholder(channel.text()));
    let names: Vec<&str> = channels.iter().map(Traced::text).collect();
    package.channels = match unknown {
        Some(why) => Fact::unknown(why, first.whole()),
        None => Fact::value(names.join(" "), first.whole()),
    };
}

/// A package of conda, under the name that it has for pip: `pytorch::pytorch=2.5.1=py3.11_cuda12.4`, `numpy<2`.
pub fn conda(text: &Traced) -> Option<Package> {
    let whole = text.text().trim();
    let (name, stated) = whole.split_at(whole.find(['=', '<', '>', '!', '~', ' ']).unwrap_or(whole.len()));
    let (channel, name) = name.rsplit_once("::").map_or((None, name), |(channel, name)| (Some(channel), name));
    let name = name.to_lowercase();
    let mut out = Package::blank(text.whole());
    if let Some(channel) = channel {
        out.channels = Fact::value(format!("{channel} {NO_DEFAULTS}"), text.whole());
    }
    out.name = Fact::value(if name == "pytorch" { "torch".to_owned() } else { name }, text.whole());
    out.manager = Fact::value(PackageManager::Conda, text.whole());
    let exact = stated.trim_start_matches('=').split('=').next().unwrap_or_default();
    let version = Version::parse(exact).filter(|_| stated.starts_with('='));
    // `=2.5` is any release of 2.5.
    let pinned = version.as_ref().is_some_and(|version| stated.starts_with("==") || version.release().len() > 2);
    out.pinned = Fact::value(pinned, text.whole());
    let unpinned = || Fact::unknown(Why::NotStated("the version that will be installed".into()), text.whole());
    out.version = version.map_or_else(unpinned, |version| Fact::value(version, text.whole()));
    if let Some(cuda) = cuda_of_conda(&out, stated) {
        out.variant = Fact::value(format!("cu{}{}", cuda.major(), cuda.minor()), text.whole());
        out.min_driver = Fact::watched(|| Fact::from_option(catalog::min_driver(&cuda), text.whole()));
        out.cuda = Fact::value(cuda, text.whole());
    }
    Some(out)
}

/// The CUDA that a package of conda is, or that the name of its build states: `py3.11_cuda12.4_cudnn9.1.0_0`.
fn cuda_of_conda(package: &Package, stated: &str) -> Option<Version> {
    let traits = catalog::package_traits(package.name.get()?, None);
    let is_cuda = traits.is_some_and(|traits| traits.contains(&"is-cuda"));
    let build = stated.trim_start_matches('=').split_once('=').map_or("", |(_, build)| build);
    // `cuda126*` is any build of 12.6.
    let of_part = |part: &str| {
        let text = part.strip_prefix("cuda")?.trim_end_matches('*').trim_end_matches('.');
        let digits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        Version::parse(&if digits { format!("{}.{}", &text[..2], &text[2..]) } else { text.to_owned() })
    };
    let of_build = build.split('_').find_map(of_part);
    package.version.get().filter(|_| is_cuda).cloned().or(of_build)
}

/// What the package manager of a distribution installs.
pub fn of_distribution(words: &[Traced], manager: PackageManager) -> Install {
    let named = words.iter().filter(|w| !w.text().starts_with('-') && placeholder(w.text()).is_none());
    let read = |word: &Traced| {
        let (name, version) = word.text().split_once('=').unwrap_or((word.text(), ""));
        let mut package = system(word, name, manager);
        set_version(&mut package, version, word.whole());
        package
    };
    Install { packages: named.map(read).collect(), ..Install::default() }
}

/// Packages in files of their own, `NAME_VERSION_ARCHITECTURE.deb`, that stand here or at an address.
pub fn of_archives(words: &[Traced]) -> Install {
    let read = |word: &Traced| {
        let file = paths::name(word.text()).strip_suffix(".deb")?;
        let mut parts = file.split('_').filter(|part| placeholder(part).is_none());
        let mut package = system(word, parts.next()?, PackageManager::Apt);
        set_version(&mut package, parts.next()?, word.whole());
        package.url = fact(word);
        Some(package)
    };
    Install { packages: words.iter().filter_map(read).collect(), ..Install::default() }
}

/// States for packages of files where other commands fetch them from.
fn fetched(packages: &mut [Package], commands: &[Command]) {
    let of_file = |package: &&mut Package| package.url.get().is_some_and(|url| !url.contains("://"));
    for package in packages.iter_mut().filter(of_file) {
        let file = package.url.get().map_or("", |url| paths::name(url)).to_owned();
        let words = commands.iter().flat_map(|command| &command.words).map(|word| word.traced());
        let address = words.filter(|word| word.text().contains("://")).find(|word| paths::name(word.text()) == file);
        package.url = address.map_or(package.url.clone(), fact);
    }
}

fn system(word: &Traced, name: &str, manager: PackageManager) -> Package {
    let mut package = Package::blank(word.whole());
    package.name = Fact::value(name.to_ascii_lowercase(), word.whole());
    package.manager = Fact::value(manager, word.whole());
    let unpinned = Why::NotStated("the version that will be installed".into());
    package.version = Fact::unknown(unpinned, word.whole());
    package
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn install(text: &str) -> Option<Install> {
        let source = Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0);
        let script = crate::parse::shell::parse(&source);
        let words: Vec<Traced> = script.commands.first()?.words.iter().map(|w| w.traced().clone()).collect();
        of_command(&words)
    }

    #[test]
    fn pip_with_an_index() {
        let found = install("pip3 install --no-cache-dir -r a.txt torch==2.5.1 --index-url https://x/whl/cpu").unwrap();
        assert_eq!(found.files[0].get().map(String::as_str), Some("a.txt"));
        assert_eq!(found.packages[0].version.get(), Version::parse("2.5.1").as_ref());
        assert_eq!(found.packages[0].index_url.get().map(String::as_str), Some("https://x/whl/cpu"));
    }

    #[test]
    fn what_is_not_pinned_is_unknown() {
        let found = install("python3 -m pip install 'torch>=2.1' vllm").unwrap();
        assert!(found.packages.iter().all(|p| p.version.is_unknown()));
        assert!(install("pip list").is_none());
    }

    #[test]
    fn uv_adds_what_it_installs() {
        let found = install("uv add torch==2.5.1").unwrap();
        assert_eq!(found.packages[0].version.get(), Version::parse("2.5.1").as_ref());
    }

    #[test]
    fn wheels_are_installed_later() {
        let found = install("pip wheel -w /dist torch==2.9.1 --index-url https://x/whl/cu130").unwrap();
        let names: Vec<_> = found.packages.iter().filter_map(|p| p.name.get()).collect();
        assert_eq!(names, ["torch"]);
    }

    #[test]
    fn values_of_options_are_no_packages() {
        for options in [
            "--platform linux_x86_64 --python-version 3.10",
            "--index-url https://x/simple -t dir",
            "-c pins.txt --only-binary numpy",
            "--abi cp310 --upgrade-package jax -P jax",
            "--torch-backend cu126 --report out",
        ] {
            for command in ["pip install", "uv pip install", "python -m pip install"] {
                let found = install(&format!("{command} {options} torch==2.5.1")).unwrap();
                let names: Vec<_> = found.packages.iter().filter_map(|p| p.name.get()).collect();
                assert_eq!(names, ["torch"], "{options}");
            }
        }
        let found = install("conda install -c nvidia -n base 'numpy<2' pytorch==2.5.1 --file more.txt").unwrap();
        let names: Vec<_> = found.packages.iter().filter_map(|p| p.name.get()).collect();
        assert_eq!(names, ["numpy", "torch"]);
        assert_eq!(found.files.len(), 1);
    }

    #[test]
    fn extras_and_groups_of_the_project() {
        for command in
            ["pip install -e .[gpu]", "uv sync --extra gpu", "poetry install -E gpu", "uv pip install '.[GPU]'"]
        {
            let found = install(command).unwrap();
            let groups: Vec<_> = found.groups.iter().filter_map(|g| g.get()).collect();
            assert_eq!(groups, ["gpu"], "{command}");
            assert!(found.packages.is_empty(), "{command}");
        }
    }

    #[test]
    fn distributions() {
        let found = install("apt-get install -y --no-install-recommends gcc cuda-nvcc-12-4=12.4.1").unwrap();
        let names: Vec<_> = found.packages.iter().filter_map(|p| p.name.get()).collect();
        assert_eq!(names, ["gcc", "cuda-nvcc-12-4"]);
    }
}
