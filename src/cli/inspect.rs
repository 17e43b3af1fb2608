//! Commands that show what gpulint knows: rules, pages, tests, facts.

use super::arguments::{Arguments, Listing, Schema};
use super::facts;
use super::files::shown;
use super::setup::{Setup, add_pack};
use super::{CLEAN, FINDINGS, print, print_as_is};
use crate::config;
use crate::discover;
use crate::facts::Facts;
use crate::finding::{OWN_PACK, OWN_RULES};
use crate::language::Language;
use crate::lint::{self, Input};
use crate::paths;
use crate::rules::Ruleset;
use crate::rules::examples::{self, Linted, Verdict};
use crate::rules::text::outline;
use crate::source::{Source, SourceId};
use crate::suggest::did_you_mean;
use clap::CommandFactory;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `gpulint rules`.
///
/// # Errors
/// None today.
pub fn rules(format: &Listing, language: Language) -> Result<u8, String> {
    let mut rules = Ruleset::builtin();
    rules.tell_in(language);
    let lines: Vec<String> =
        match format {
            Listing::List => rules.entries().iter().map(|e| e.id.to_string()).collect(),
            Listing::Table => rules
                .entries()
                .iter()
                .map(|e| {
                    format!(
                        "{:44} {:8} {:7} {:14} {}{}",
                        e.id,
                        e.text().severity,
                        e.text().confidence,
                        e.pack,
                        e.text().applies_to,
                        e.text().fixable().map(|fix| format!(" ({fix})")).unwrap_or_default()
                    )
                })
                .collect(),
            Listing::Markdown => vec![markdown(&rules)],
            Listing::Language => vec![super::language::page()],
            Listing::Json => {
                vec![
            serde_json::to_string_pretty(&rules.entries().iter().map(|e| {
                let (text, page) = e.told();
                json!({
                    "id": e.id, "pack": e.pack, "severity": text.severity, "confidence": text.confidence,
                    "applies_to": text.applies_to, "message": text.message, "help": text.help,
                    "fix": text.fix.as_ref().map(|fix| json!({"safe": fix.safe})),
                    "references": page.references,
                })
            }).collect::<Vec<_>>()).map_err(|e| e.to_string())?,
        ]
            }
        };
    print(&(lines.join("\n") + "\n"))?;
    Ok(CLEAN)
}

/// The page of all rules, pack by pack.
fn markdown(rules: &Ruleset) -> String {
    let mut packs: Vec<&str> = rules.entries().iter().map(|e| e.pack.as_ref()).collect();
    packs.sort_unstable();
    packs.dedup();
    let of_pack = |pack: &str| -> Vec<_> { rules.entries().iter().filter(|e| e.pack == pack).collect() };
    let mut out =
        String::from("# Rules\n\nWritten by `gpulint rules --format markdown` from the files under `rules/`.\n\n");
    for pack in &packs {
        out.push_str(&format!("- [{pack}](#{pack}): {} rules\n", of_pack(pack).len()));
    }
    for pack in packs {
        out.push_str(&format!("\n## {pack}\n"));
        for entry in of_pack(pack) {
            let (text, page) = entry.told();
            out.push_str(&format!("\n### {}\n\n{}, {} confidence", text.id, text.level(), text.confidence));
            out.push_str(&format!(", asked of every {}\n\n{}\n", text.applies_to, page.why.trim_end()));
            let (message, help) = examples::shown(entry, &|files| lint(files, rules)).unwrap_or_default();
            out.push_str(&format!("\n- Says: {message}\n- Help: {help}\n"));
            text.fixable().iter().for_each(|fix| out.push_str(&format!("- {fix}\n")));
            for p in &text.params {
                let default = p.default.join(", ");
                out.push_str(&format!("- Parameter `{}` ({}, default {default}): {}\n", p.name, p.ty, p.description));
            }
            let silent = page.examples.iter().filter(|example| !example.fires);
            silent.for_each(|example| out.push_str(&format!("- Silent where {}\n", example.because)));
            page.references.iter().for_each(|r| out.push_str(&format!("- <{r}>\n")));
        }
    }
    out.trim_end().to_owned()
}

/// `gpulint explain RULE`.
///
/// # Errors
/// No such rule.
pub fn explain(rule: &str, packs: &[PathBuf], language: Language) -> Result<u8, String> {
    let own = OWN_RULES.iter().any(|(id, _)| *id == rule);
    let mut rules = if own { Ruleset::empty() } else { Setup::read(Setup::find(&[]), packs, &[])?.rules };
    rules.tell_in(language);
    let ids = || rules.entries().iter().map(|e| e.id.as_ref()).chain(OWN_RULES.iter().map(|(id, _)| *id));
    let page = page(&rules, rule, language);
    print(&page.ok_or_else(|| format!("there is no rule `{rule}`{}", did_you_mean(rule, ids())))?)?;
    Ok(CLEAN)
}

/// The page of a rule, which terminals show and editors read as Markdown.
pub fn page(rules: &Ruleset, rule: &str, language: Language) -> Option<String> {
    if let Some((_, meaning)) = OWN_RULES.iter().find(|(id, _)| *id == rule) {
        let [meaning, page] = [*meaning, "Page:"].map(|words| language.say(words));
        let address = rules.url(rule).unwrap_or_default();
        return Some(format!("{rule} ({OWN_PACK} pack)\n\n{meaning}\n\n{page} {address}\n"));
    }
    let entry = rules.get(rule)?;
    let (text, page) = entry.told();
    let mut out = format!("{} ({} pack, {}, {} confidence)\n\n", text.id, text.pack, text.level(), text.confidence);
    let [help, parameters] = ["Help: ", "Parameters:"].map(|words| language.say(words));
    out.push_str(&format!("{}\n\n{help}{}\n\n{}\n", outline(&text.message), outline(&text.help), page.why));
    text.fixable().iter().for_each(|fix| out.push_str(&format!("\n{}\n", language.say(*fix))));
    if !text.params.is_empty() {
        out.push_str(&format!("\n{parameters}\n\n"));
        for p in &text.params {
            out.push_str(&format!("- {} ({}, default {}): {}\n", p.name, p.ty, p.default.join(", "), p.description));
        }
    }
    rules.url(rule).iter().for_each(|page| out.push_str(&format!("\n{} {page}\n", language.say("Page:"))));
    out.push_str(&format!("\n{}\n\n", language.say("References:")));
    page.references.iter().for_each(|r| out.push_str(&format!("- {r}\n")));
    for example in &page.examples {
        let told = if example.fires { "Fires on:".to_owned() } else { format!("Silent on ({}):", example.because) };
        out.push_str(&format!("\n{}\n", language.say(told)));
        for (path, text) in &example.files {
            out.push_str(&format!("\n    --- {path}\n"));
            text.lines().for_each(|l| out.push_str(&format!("    {l}\n")));
        }
    }
    Some(out)
}

/// `gpulint test [RULE|FILE|DIR]`.
///
/// # Errors
/// A pack that does not load, or no such rule.
pub fn test(what: Option<&Path>) -> Result<u8, String> {
    let (rules, own) = match what {
        None => (Ruleset::builtin(), None),
        Some(path) if path.exists() => {
            let (mut rules, mut pack) = (Ruleset::builtin(), Ruleset::empty());
            add_pack(&mut pack, path)?;
            add_pack(&mut rules, path)?;
            (rules, Some(pack.entries().iter().map(|e| e.id.to_string()).collect::<Vec<_>>()))
        }
        Some(rule) => {
            let (rules, id) = (Setup::read(Setup::find(&[]), &[], &[])?.rules, rule.to_string_lossy());
            let missing = || format!("there is no rule and no path `{}`{}", shown(rule), rules.hint(&id));
            rules.get(&id).ok_or_else(missing)?;
            (rules, Some(vec![id.into_owned()]))
        }
    };
    let results =
        examples::test(&rules, |e| own.as_ref().is_none_or(|ids| ids.iter().any(|id| *id == e.id)), &|files| {
            lint(files, &rules)
        });
    let count = |verdict| results.iter().filter(|r| r.verdict == verdict).count();
    let mut out = String::new();
    for result in results.iter().filter(|r| r.verdict != Verdict::Validated) {
        out.push_str(&format!("{:?}: {} example {}: {}\n", result.verdict, result.rule, result.example, result.detail));
    }
    let failed = results.len() - count(Verdict::Validated);
    out.push_str(&format!(
        "{} Validated, {} Missing, {} Noisy, {} Wrong\n",
        count(Verdict::Validated),
        count(Verdict::Missing),
        count(Verdict::Noisy),
        count(Verdict::Wrong)
    ));
    print(&out)?;
    Ok(if failed > 0 { FINDINGS } else { CLEAN })
}

/// Lints files in memory, under the configuration among them.
fn lint(files: Vec<(String, String)>, rules: &Ruleset) -> Linted {
    let (configurations, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path == config::FILE_NAME);
    // A file that only a whole repository has says that this is one.
    let (ignored, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path == ".gitignore");
    let listing = ignored.first().map(|(_, text)| whole(files.iter().map(|(path, _)| path.as_str()), text));
    let charts = discover::charts(files.iter().map(|(path, _)| path.as_str()));
    let mut inputs: Vec<Input> = files
        .into_iter()
        .filter_map(|(path, text)| Some(Input { kind: discover::kind_in(&charts, &path)?, path, text, repository: 0 }))
        .collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    let (mut facts, mut sources) = (Facts::default(), Vec::new());
    if let Some((path, text)) = configurations.into_iter().next() {
        facts = config::parse(SourceId(inputs.len() as u32), &text).0.facts();
        sources.push(Source::new(path, text));
    }
    facts.listing = listing;
    let outcome = lint::run(inputs, facts, sources, rules);
    Linted { sources: outcome.sources, findings: outcome.evaluation.findings, skipped: outcome.skipped }
}

/// The listing of a repository with these files and an ignore file of these lines.
fn whole<'p>(files: impl Iterator<Item = &'p str>, ignored: &str) -> Arc<crate::facts::Listing> {
    let there = files.flat_map(paths::above).map(str::to_owned).collect();
    let ignored = ignored.lines().map(|line| line.trim().to_owned()).collect();
    Arc::new(crate::facts::Listing { there, ignored, closed: BTreeSet::new(), roots: BTreeSet::from([String::new()]) })
}

/// `gpulint schema OF`.
///
/// # Errors
/// None today.
pub fn schema(of: Schema) -> Result<u8, String> {
    match of {
        Schema::Rule => print_as_is(include_str!("../../schemas/rule.json")),
        Schema::Config => print_as_is(include_str!("../../schemas/config.json")),
        Schema::Report => print_as_is(include_str!("../../schemas/report.json")),
        Schema::Pack => print_as_is(include_str!("../../schemas/pack.json")),
        Schema::Facts => print_as_is(&facts::schema().map_err(|error| error.to_string())?),
    }?;
    Ok(CLEAN)
}

/// `gpulint completions SHELL`.
///
/// # Errors
/// None.
pub fn completions(shell: clap_complete::Shell) -> Result<u8, String> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "gpulint", &mut out);
    print_as_is(&String::from_utf8_lossy(&out))?;
    Ok(CLEAN)
}
