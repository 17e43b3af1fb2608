//! Findings within packed charts: nobody edits an archive. Knows how archives of charts are called and where a chart says
//! which it brings along.

use super::Repository;
use crate::finding::{Finding, OWN_PACK};
use crate::source::{SourceId, Span};

/// Files in which a chart names those that it brings along.
const LISTS: [&str; 2] = ["Chart.yaml", "requirements.yaml"];

/// Puts each finding within an archive where the repository itself says something of it: at what explains it, else at
/// the entry of the chart that brings the archive along. What has no such place is not told.
pub fn place(findings: &mut Vec<Finding>, here: &Repository<'_>) {
    let own = |span: Span| here.sources.get(span.source).path.as_str();
    findings.retain_mut(|finding| {
        let Some((above, name)) = archive(own(finding.span)) else { return true };
        let outside = finding.related.iter().position(|label| archive(own(label.span)).is_none());
        let place = match outside {
            Some(label) => Some(finding.related.remove(label).span),
            None => entry(here, above, name),
        };
        finding.wish = finding.wish.take().filter(|_| place.is_none());
        finding.span = place.unwrap_or(finding.span);
        place.is_some() || finding.pack == OWN_PACK
    });
}

/// The directory of the chart that an archive belongs to, and the archive's name, of a path within one.
fn archive(path: &str) -> Option<(&str, &str)> {
    let (inside, end) = [".tgz/", ".tar.gz/"].iter().find_map(|end| Some((path.find(end)?, end)))?;
    let name = &path[..inside + end.len() - 1];
    let (directory, name) = name.rsplit_once('/')?;
    Some((directory.strip_suffix("charts").filter(|above| above.is_empty() || above.ends_with('/'))?, name))
}

/// Where a chart names what an archive of this name holds.
fn entry(here: &Repository<'_>, above: &str, archive: &str) -> Option<Span> {
    let named = |id: SourceId| {
        let tree = here.trees.get(&id)?;
        let entries = tree.roots().filter_map(|root| root.get("dependencies")).flat_map(|list| list.items());
        let names = entries.filter_map(|entry| entry.get("name"));
        let is = |name: &str| archive.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', '.']));
        names
            .filter(|name| name.text().is_some_and(is))
            .max_by_key(|name| name.text().map(str::len))
            .map(|name| name.span())
    };
    let lists = LISTS.map(|list| format!("{above}{list}"));
    let ids = || here.iter().filter(|(_, source)| lists.contains(&source.path)).map(|(id, _)| id);
    // Helm takes in an archive that no list names, too.
    let chart = |id| here.trees.get(&id)?.roots().find_map(|root| root.get("name")).map(|name| name.span());
    ids().find_map(named).or_else(|| ids().find_map(chart))
}
