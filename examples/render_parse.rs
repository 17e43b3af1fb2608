//! How long rendering charts takes, as a multiple of the time that parsing their output takes: medians of several runs
//! in one process, for every chart below the given directories and for the one with the longest output.
//! `cargo run --release --example render_parse -- DIRECTORY…`

use gpulint::budget::Share;
use gpulint::discover::{self, MAX_BYTES, Options};
use gpulint::parse::{Dialect, yaml};
use gpulint::render::gotemplate::Doubts;
use gpulint::render::helm::{self, Chart, File, KUBERNETES, Rendered, ValueSet};
use gpulint::source::{Source, SourceId, Sources};
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let roots: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let found = discover::discover(&roots, &Options::new(std::env::current_dir()?))?.found;
    let texts = found.into_iter().filter_map(|f| Some(Source::new(f.path.clone(), f.read(MAX_BYTES).ok()?)));
    let sources = Sources::new(texts.collect());
    let files: Vec<File<'_>> =
        sources.iter().map(|(id, s)| File { source: id, path: &s.path, text: &s.text }).collect();
    let charts = helm::chart::find(&files);
    let mut rows: Vec<(usize, Duration, Duration, &str)> = Vec::new();
    for (chart, sets) in charts.iter().zip(helm::sets::sets(&charts, &[], KUBERNETES)) {
        let output: Vec<String> = rendered(chart, &sets[0]).documents.into_iter().map(|d| d.text).collect();
        let bytes = output.iter().map(String::len).sum();
        rows.push((bytes, rendering(chart, &sets[0]), parsing(&output), chart.directory));
    }
    let mut out = std::io::stdout();
    let sum = |pick: fn(&(usize, Duration, Duration, &str)) -> Duration| rows.iter().map(pick).sum::<Duration>();
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(1e-9);
    writeln!(out, "{} charts: rendering takes {:.2} times parsing", rows.len(), ratio(sum(|r| r.1), sum(|r| r.2)))?;
    if let Some(&(bytes, render, parse, directory)) = rows.iter().max_by_key(|r| r.0) {
        writeln!(out, "{directory}: {bytes} bytes, rendering takes {:.2} times parsing", ratio(render, parse))?;
    }
    Ok(())
}

fn median(run: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

fn rendered(chart: &Chart<'_>, set: &ValueSet) -> Rendered {
    helm::render(chart, set, &Doubts::default(), &Share::of(1, helm::bytes(chart, set)))
}

/// From values and templates to documents that are read.
fn rendering(chart: &Chart<'_>, set: &ValueSet) -> Duration {
    median(|| drop(black_box(rendered(chart, set))))
}

fn parsing(output: &[String]) -> Duration {
    median(|| output.iter().for_each(|text| drop(black_box(yaml::parse(SourceId(0), text, Dialect::Kubernetes)))))
}
