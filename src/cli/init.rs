//! `gpulint init`: a first configuration, with what the files of a repository leave open. What it proposes are comments, so
//! that a run finds what it found without it.

use super::analysis::{Against, Gathered};
use super::arguments::{Init, Lint};
use super::files::{cwd, files, gate, root, shown};
use super::output::rewrite;
use super::setup::configurations;
use super::{CLEAN, print};
use crate::config::{self, FILE_NAME};
use crate::discover::{self, Options};
use crate::facts::{Cluster, Facts, NodePool};
use crate::finding::OWN_PACK;
use crate::judge::{Verdict, waiting};
use crate::known::Fact;
use crate::language::Language;
use crate::lint;
use crate::paths;
use crate::rules::Ruleset;
use crate::source::{SourceId, Sources, Span, one_line};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Clusters and pools beyond these are told by nobody.
const MOST: usize = 20;

/// Directories that by their names hold what is deployed nowhere.
const ASIDE: [&str; 14] = [
    "deprecated",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixtures",
    "legacy",
    "old",
    "sample",
    "samples",
    "test",
    "tests",
    "third_party",
];

/// Runs the command.
///
/// # Errors
/// gpulint could not do its work, there is a configuration, or it cannot be written.
pub fn run(init: &Init) -> Result<u8, String> {
    let targets = [init.directory.clone()];
    let gate = gate(&targets);
    let directory: PathBuf = cwd().join(&init.directory).components().collect();
    if !init.directory.is_dir() {
        return Err(format!("{}: not a directory", shown(&init.directory)));
    }
    let path = directory.join(FILE_NAME);
    let mut there = configurations(&directory, &gate).into_iter();
    let keeps = |there: &PathBuf| !(init.stdout || init.force && there.ends_with(FILE_NAME));
    if let Some(there) = there.find(keeps) {
        let how = if there.ends_with(FILE_NAME) { ": --force writes over it" } else { "" };
        return Err(format!("{} is there already{how}", shown(&there)));
    }
    let text = text(init)?;
    if init.stdout {
        print(&text)?;
        return Ok(CLEAN);
    }
    rewrite(&path, &text, &gate)?;
    print(&format!("wrote {}\nnext: gpulint check, and https://gpulint.github.io/adoption.html\n", shown(&path)))?;
    Ok(CLEAN)
}

/// The configuration.
fn text(init: &Init) -> Result<String, String> {
    let targets = [init.directory.clone()];
    let root = root(&targets);
    let above = above(&discover::target(&cwd().join(&init.directory), &root));
    let lint = Lint { no_config: above.is_none(), ..Lint::of(&init.directory)? };
    let judged = Gathered::new(&lint, None, Language::English)?.judge(&Against::default())?;
    let read = files(&targets, &Options { root, ..Options::new(cwd()) })?;
    let understood = lint::run(read.inputs, Facts::default(), Vec::new(), &Ruleset::empty());
    let facts: Vec<&Facts> = [&understood.facts].into_iter().chain(understood.forms.iter().map(|(_, f)| f)).collect();
    let mut out = "# yaml-language-server: $schema=https://gpulint.github.io/schemas/config.json\n\
         # What gpulint goes by in this directory and below: https://gpulint.github.io/configuration.html\n\
         # What stands behind # is a proposal.\n\n"
        .to_owned();
    out += &match above {
        Some(path) => format!("# It goes on from here, where nothing else is stated.\nextends: {}\n", quoted(&path)),
        None => "# The least severity that fails a run: info, warning or error.\nfail_on: error\n".to_owned(),
    };
    out += &clusters(&judged.verdict, &facts, &understood.sources);
    out += &packs(&judged.verdict);
    out += &exclusions(&judged.verdict, &judged.sources);
    match &config::parse(SourceId(0), &out).1[..] {
        [] => Ok(out),
        [problem, ..] => Err(format!("what was to be written is no configuration: {}", problem.message)),
    }
}

/// The configuration that holds for a directory because it stands further up, as seen from there.
fn above(directory: &Path) -> Option<String> {
    // Nothing above a repository is its business.
    let top = directory.ancestors().find(|above| above.join(".git").exists());
    let inside = |above: &&Path| top.is_none_or(|top| above.starts_with(top));
    for above in directory.ancestors().skip(1).filter(inside) {
        if let Some(path) = configurations(above, &gate(&[directory.to_owned()])).first() {
            let [from, to] = [directory, path].map(|path| path.to_string_lossy().replace(MAIN_SEPARATOR, "/"));
            return Some(paths::relative(&from, &to));
        }
    }
    None
}

/// Clusters and pools of which is not said what checks wait for.
fn clusters(verdict: &Verdict, facts: &[&Facts], sources: &Sources) -> String {
    let waiting = waiting(&verdict.undecided);
    let waits: Vec<_> = waiting.iter().filter(|w| w.decided_by.is_some_and(|by| by.contains("clusters[]"))).collect();
    if waits.is_empty() {
        return String::new();
    }
    let mut out = "\n# What the files do not say of where they run. With it can be decided:\n".to_owned();
    for one in &waits {
        let rules: BTreeSet<&str> = one.checks.iter().map(|check| check.rule.as_str()).collect();
        out += &format!("#   {} checks of {} rules: {}\n", one.checks.len(), rules.len(), one_line(one.why));
    }
    out += "# clusters:\n";
    let open = |cluster: &&Cluster| cluster.driver.get().is_none();
    let all = facts.iter().flat_map(|facts| &facts.clusters).map(|cluster| &**cluster).filter(open);
    let all: BTreeMap<Span, &Cluster> = all.map(|cluster| (cluster.span, cluster)).collect();
    let pools = facts.iter().flat_map(|facts| &facts.pools).map(|pool| &**pool);
    let pools: BTreeMap<Span, &NodePool> = pools.filter(|pool| is_open(pool)).map(|pool| (pool.span, pool)).collect();
    let place = |span: Span| {
        let source = sources.get(span.source);
        format!("# {}:{}", one_line(&source.path), source.line_of(span.start) + 1)
    };
    let mut left = pools;
    for (span, cluster) in all.iter().take(MOST) {
        out += &format!("#   - name: {} {}\n", word(&cluster.name), place(*span));
        out += &line("platform", &cluster.platform);
        out += "#     driver: VERSION # as nvidia-smi shows it\n";
        let name = cluster.name.get();
        let own: Vec<Span> = left
            .iter()
            .filter(|(_, pool)| pool.cluster.get() == name || all.len() == 1)
            .map(|(span, _)| *span)
            .collect();
        out += &node_pools(own.into_iter().filter_map(|span| Some((place(span), left.remove(&span)?))).collect());
    }
    if all.is_empty() || !left.is_empty() {
        out += "#   - name: NAME\n#     driver: VERSION # as nvidia-smi shows it\n";
        out += &node_pools(left.into_iter().map(|(span, pool)| (place(span), pool)).collect());
    }
    out
}

/// Whether nothing says which GPUs a pool has.
fn is_open(pool: &NodePool) -> bool {
    pool.accelerator.get().is_none() && pool.instance_types.iter().all(|name| name.get().is_none())
}

fn node_pools(pools: Vec<(String, &NodePool)>) -> String {
    let mut out = if pools.is_empty() { String::new() } else { "#     node_pools:\n".to_owned() };
    for (place, pool) in pools.into_iter().take(MOST) {
        out += &format!("#       - name: {} {place}\n#         gpu: NAME # or instance_type\n", word(&pool.name));
    }
    out
}

/// A line of a cluster, where it is known.
fn line(key: &str, value: &Fact<String>) -> String {
    value.get().map_or(String::new(), |_| format!("#     {key}: {}\n", word(value)))
}

/// A text as YAML on one line.
fn word(value: &Fact<String>) -> String {
    value.get().map_or_else(|| "NAME".to_owned(), |text| quoted(text))
}

fn quoted(text: &str) -> String {
    let start = |c: char| c.is_ascii_alphabetic() || c == '/';
    let plain = (text.starts_with(start) || text.starts_with("../"))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if plain { text.to_owned() } else { serde_json::Value::from(one_line(text)).to_string() }
}

/// The packs that found something or asked in vain.
fn packs(verdict: &Verdict) -> String {
    let mut packs: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    verdict.shown.iter().for_each(|finding| packs.entry(&finding.pack).or_default().0 += 1);
    let undecided = verdict.undecided.iter().filter(|one| !one.lacks_row);
    undecided.for_each(|one| packs.entry(&one.pack).or_default().1 += 1);
    packs.remove(OWN_PACK);
    if packs.is_empty() {
        return String::new();
    }
    let mut out = "\n# Packs of rules that concern what is here; `gpulint rules PACK` lists one.\n".to_owned();
    for (pack, (found, open)) in &packs {
        out += &format!("#   {pack}: {found} findings, {open} undecided\n");
    }
    let names: Vec<&str> = packs.keys().copied().collect();
    format!("{out}# ignore: # not these packs or rules\n#   - {}\n", names.join("\n#   - "))
}

/// What is left out, and what else may be.
fn exclusions(verdict: &Verdict, sources: &Sources) -> String {
    let mut aside: BTreeMap<String, usize> = BTreeMap::new();
    for finding in &verdict.shown {
        let path = &sources.get(finding.span.source).path;
        let parts: Vec<&str> = paths::directory(path).split('/').collect();
        if let Some(at) = parts.iter().position(|part| ASIDE.contains(part)) {
            *aside.entry(parts[..=at].join("/")).or_default() += 1;
        }
    }
    let by = verdict.coverage.excluded.iter().map(|(by, count)| format!("{count} by {by}")).collect::<Vec<_>>();
    let mut out = String::new();
    if !by.is_empty() {
        out += &format!("\n# Left out already: {}.\n", by.join(", "));
    }
    if !aside.is_empty() {
        out += "\n# Files to leave out, in the syntax of .gitignore.\n# exclude:\n";
    }
    for (directory, count) in aside.into_iter().take(MOST) {
        out += &format!("#   - {} # {count} findings\n", quoted(&format!("/{directory}/")));
    }
    out
}
