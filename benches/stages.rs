//! What each stage costs: `cargo bench --bench stages [STAGE]`, over trees that are the same everywhere.

mod trees;

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use gpulint::config::Config;
use gpulint::discover::{self, Options};
use gpulint::evaluate;
use gpulint::extract;
use gpulint::facts::Facts;
use gpulint::judge::{self, Coverage, Verdict};
use gpulint::link::{self, Deployed, Directories, Layout, Variant};
use gpulint::lint::{self, Input, Outcome};
use gpulint::parse::{Dialect, Tree, dockerfile, hcl, requirements, shell, toml, yaml};
use gpulint::report::human::HumanOptions;
use gpulint::report::{REPORTERS, Report};
use gpulint::rules::Ruleset;
use gpulint::source::{Source, SourceId, Sources, Span, Traced};
use std::hint::black_box;
use std::sync::Arc;
use trees::Files;

/// Manifests of the plain tree.
const MANIFESTS: usize = 800;
/// Charts, kustomizations, modules, images and jobs of the other one.
const PARTS: usize = 40;

fn ids<T>(items: &[T]) -> impl Iterator<Item = (SourceId, &T)> {
    (0..).map(SourceId).zip(items)
}

/// The files whose path ends like that.
fn ending(files: &Files, end: &str) -> Files {
    files.iter().filter(|(path, _)| path.ends_with(end)).cloned().collect()
}

fn sources(files: &Files) -> Sources {
    Sources::new(files.iter().map(|(path, text)| Source::new(path.clone(), text.clone())).collect())
}

fn trees_of(files: &Files) -> Vec<Arc<Tree>> {
    ids(files).map(|(id, (_, text))| Arc::new(yaml::parse(id, text, Dialect::Kubernetes))).collect()
}

fn facts(files: &Files) -> Facts {
    let mut facts = Facts::default();
    files.iter().zip(trees_of(files)).for_each(|((path, _), tree)| extract::documents(&tree, path, &mut facts));
    facts
}

fn linted(files: &Files, rules: &Ruleset) -> Outcome {
    let input = |(path, text): &(String, String)| {
        let kind = discover::kind_of(path).unwrap_or(discover::Kind::Data);
        Input { path: path.clone(), kind, text: text.clone(), repository: 0 }
    };
    lint::check(files.iter().map(input).collect(), Facts::default(), Vec::new(), rules)
}

/// Runs something over each file, and says how many bytes it reads.
fn over(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, files: &Files, run: impl Fn(SourceId, &str)) {
    group.throughput(Throughput::Bytes(files.iter().map(|(_, text)| text.len() as u64).sum()));
    group.bench_function(name, |b| b.iter(|| ids(files).for_each(|(id, (_, text))| run(id, text))));
}

fn discovering(c: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, text) in trees::repositories(20) {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let (roots, options) = ([directory.path().to_owned()], Options::new(directory.path()));
    c.bench_function("discover", |b| b.iter(|| discover::discover(&roots, &options)));
}

fn parsing(c: &mut Criterion) {
    let (plain, mixed) = (trees::manifests(MANIFESTS), trees::mixed(PARTS));
    let mut group = c.benchmark_group("parse");
    over(&mut group, "yaml", &plain, |id, text| drop(black_box(yaml::parse(id, text, Dialect::Kubernetes))));
    over(&mut group, "hcl", &ending(&mixed, ".tf"), |id, text| drop(black_box(hcl::parse(id, text))));
    over(&mut group, "toml", &ending(&mixed, ".toml"), |id, text| drop(black_box(toml::parse(id, text))));
    over(&mut group, "requirements", &ending(&mixed, ".txt"), |id, text| {
        drop(black_box(requirements::parse(id, text)))
    });
    over(&mut group, "dockerfile", &ending(&mixed, "Dockerfile"), |id, text| {
        drop(black_box(dockerfile::parse(id, text)))
    });
    over(&mut group, "shell", &ending(&mixed, ".sh"), |id, text| {
        let text = Traced::verbatim(text, Span::new(id, 0..text.len()), 0);
        drop(black_box(shell::parse(&text)));
    });
}

/// Reading, rendering and joining, without a rule that asks.
fn rendering(c: &mut Criterion) {
    let (mixed, none) = (trees::mixed(PARTS), Ruleset::empty());
    let mut group = c.benchmark_group("render");
    for what in ["charts", "kustomize", "terraform"] {
        let files: Files = mixed.iter().filter(|(path, _)| path.starts_with(what)).cloned().collect();
        group.bench_function(what, |b| b.iter(|| linted(&files, &none)));
    }
}

fn joining(c: &mut Criterion) {
    let files = trees::manifests(MANIFESTS);
    let (sources, read) = (sources(&files), trees_of(&files));
    c.bench_function("extract", |b| {
        b.iter(|| {
            let mut facts = Facts::default();
            files.iter().zip(&read).for_each(|((path, _), tree)| extract::documents(tree, path, &mut facts));
            facts
        })
    });
    let apart = facts(&files);
    c.bench_function("link", |b| {
        b.iter_batched_ref(
            || apart.clone(),
            |facts| link::link(facts, &sources, extract::launch::on_base),
            BatchSize::LargeInput,
        )
    });
    let mut joined = apart.clone();
    link::link(&mut joined, &sources, extract::launch::on_base);
    let (variants, directories, rules) = ([Variant::plain(joined)], Directories::of(&sources), Ruleset::builtin());
    let layout = Layout::of(&variants, &directories);
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    c.bench_function("evaluate", |b| b.iter(|| evaluate::evaluate(Deployed::of(&variants, &layout), &paths, &rules)));
}

fn verdict(outcome: &Outcome) -> Verdict {
    let input = judge::Input {
        findings: outcome.evaluation.findings.clone(),
        undecided: outcome.evaluation.undecided.clone(),
        comments: &[],
        annotations: Vec::new(),
        coverage: Coverage::default(),
        ..judge::Input::default()
    };
    let today = jiff::civil::date(2026, 1, 1);
    let options = judge::Options { select: Vec::new(), ignore: Vec::new(), min_confidence: None, today };
    judge::judge(input, &outcome.sources, &Config::default(), &options)
}

fn reporting(c: &mut Criterion) {
    let rules = Ruleset::builtin();
    let outcome = linted(&trees::manifests(MANIFESTS), &rules);
    let verdict = verdict(&outcome);
    let mut group = c.benchmark_group("report");
    for reporter in REPORTERS {
        let human = HumanOptions::default();
        let report = Report { verdict: &verdict, sources: &outcome.sources, rules: &rules, human };
        group.bench_function(reporter.name, |b| b.iter(|| (reporter.write)(&report)));
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let stages: [fn(&mut Criterion); 5] = [discovering, parsing, rendering, joining, reporting];
    stages.iter().for_each(|stage| stage(&mut criterion));
    criterion.final_summary();
}
