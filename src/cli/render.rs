//! `gpulint render`.

use super::check::{cwd, files};
use super::{CLEAN, FINDINGS, print};
use crate::discover::Options;
use crate::parse::{Dialect, Raw, yaml};
use crate::render::helm::{self, File, KUBERNETES};
use crate::source::{Source, Sources, sanitise};
use std::path::PathBuf;
use std::sync::Arc;

/// Prints the documents of the charts below some directories, rendered with their own values and those of the files,
/// later ones over earlier ones.
///
/// # Errors
/// A path that does not exist, or values that cannot be read.
pub fn run(paths: &[PathBuf], values: &[PathBuf]) -> Result<u8, String> {
    let inputs = files(paths, &Options::new(cwd()))?.inputs;
    let mut sources = Sources::new(inputs.into_iter().map(|input| Source::new(input.path, input.text)).collect());
    let count = sources.iter().count();
    for path in values {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        sources.push(Source::new(path.display().to_string(), text));
    }
    let all: Vec<File<'_>> =
        sources.iter().map(|(id, source)| File { source: id, path: &source.path, text: &source.text }).collect();
    let charts = helm::chart::find(&all[..count]);
    let mut out = String::new();
    let mut code = CLEAN;
    for (chart, sets) in charts.iter().zip(helm::sets::sets(&charts, &[], KUBERNETES)) {
        for mut set in sets {
            for file in &all[count..] {
                let tree = Arc::new(yaml::parse(file.source, file.text, Dialect::Kubernetes));
                set.layers.extend(yaml::root(&tree).map(|root| Raw::new(&tree, root.view())));
            }
            let rendered = helm::render(chart, &set);
            for document in rendered.documents {
                out.push_str(&format!("---\n# Source: {}\n", sources.get(document.template).path));
                out.push_str(document.text.trim_end());
                out.push('\n');
            }
            for failure in &rendered.failures {
                let source = sources.get(failure.span.source);
                let at = source.position(failure.span.start);
                out.push_str(&format!("# {}:{}:{}: {}\n", source.path, at.line, at.column, failure.message));
                code = FINDINGS;
            }
            for (template, why) in &rendered.unread {
                out.push_str(&format!("# {}: not rendered: {why}\n", sources.get(*template).path));
            }
        }
    }
    print(&sanitise(&out));
    Ok(code)
}
