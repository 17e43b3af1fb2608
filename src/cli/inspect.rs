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
use crate::rules::examples::{self, Lint, Linted, Verdict};
use crate::rules::rewrites::questions::{self, Answer};
use crate::rules::rewrites::{self, Outcome, Question, Survival};
use crate::rules::text::outline;
use crate::rules::{Entry, Ruleset};
use crate::source::{Source, SourceId};
use clap::CommandFactory;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A rule in a list; those that gpulint finds without a rule file have no entry.
struct Row<'r> {
    id: &'r str,
    pack: &'r str,
    entry: Option<&'r Entry>,
}

impl Row<'_> {
    fn line(&self) -> String {
        let text = self.entry.map(|entry| entry.text());
        let [severity, confidence, subject] =
            text.map_or([""; 3], |text| [text.severity.as_str(), text.confidence.as_str(), text.applies_to.as_str()]);
        let fix = text.and_then(|text| text.fixable()).map(|fix| format!(" ({fix})")).unwrap_or_default();
        format!("{:44} {severity:8} {confidence:7} {:14} {subject}{fix}", self.id, self.pack).trim_end().to_owned()
    }

    fn json(&self) -> Value {
        let Some(entry) = self.entry else {
            let meaning = OWN_RULES.iter().find(|(id, _)| *id == self.id).map(|(_, meaning)| meaning);
            return json!({"id": self.id, "pack": self.pack, "message": meaning});
        };
        let (text, page) = entry.told();
        json!({
            "id": entry.id, "pack": entry.pack, "severity": text.severity, "confidence": text.confidence,
            "applies_to": text.applies_to, "message": text.message, "help": text.help,
            "fix": text.fix.as_ref().map(|fix| json!({"safe": fix.safe})), "references": page.references,
        })
    }
}

/// The rules that a word asks for: of a pack, or by their ids, or else by their messages.
fn asked<'r>(rules: &'r Ruleset, what: Option<&str>) -> Result<Vec<Row<'r>>, String> {
    let entries = rules.all().flat_map(|(_, rules)| rules.entries());
    let rows = entries.map(|entry| Row { id: &entry.id, pack: &entry.pack, entry: Some(entry) });
    let own = OWN_RULES.iter().map(|(id, _)| Row { id, pack: OWN_PACK, entry: None });
    let mut rows: Vec<Row<'_>> = rows.chain(own).collect();
    rows.sort_by_key(|row| row.id);
    rows.dedup_by_key(|row| row.id);
    let Some(what) = what else { return Ok(rows) };
    let message = |row: &Row<'_>| row.entry.is_some_and(|entry| outline(&entry.text().message).contains(what));
    let ways: [&dyn Fn(&Row<'_>) -> bool; 5] = [
        &|row| row.id == what,
        &|row| row.pack == what,
        &|row| row.id.starts_with(what),
        &|row| row.id.contains(what),
        &message,
    ];
    let way = ways.iter().find(|way| rows.iter().any(way)).filter(|_| !what.is_empty());
    let way = way.ok_or_else(|| format!("there is no rule or pack `{what}`{}", rules.hint(what)))?;
    rows.retain(way);
    Ok(rows)
}

/// The rules of a run here.
fn here(packs: &[PathBuf]) -> Result<Ruleset, String> {
    Ok(Setup::here(packs)?.rules)
}

/// `gpulint rules`.
///
/// # Errors
/// A configuration or a pack that is wrong, or nothing of the name.
pub fn rules(what: Option<&str>, format: &Listing, (packs, language): (&[PathBuf], Language)) -> Result<u8, String> {
    let mut rules = match format {
        // Pages are of what gpulint brings.
        Listing::Markdown | Listing::Language if what.is_some() => return Err("pages are of all rules".to_owned()),
        Listing::Markdown | Listing::Language => Ruleset::builtin(),
        _ => here(packs)?,
    };
    rules.tell_in(language);
    let asked = || asked(&rules, what);
    let lines: Vec<String> = match format {
        Listing::List => asked()?.iter().map(|row| row.id.to_owned()).collect(),
        Listing::Table => asked()?.iter().map(Row::line).collect(),
        Listing::Markdown => vec![markdown(&rules)],
        Listing::Language => vec![super::language::page()],
        Listing::Json => {
            let rows: Vec<Value> = asked()?.iter().map(Row::json).collect();
            vec![serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?]
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

/// `gpulint explain RULE`: its page, or a list where it is the beginning or a word of several.
///
/// # Errors
/// No such rule.
pub fn explain(rule: &str, packs: &[PathBuf], language: Language) -> Result<u8, String> {
    let own = OWN_RULES.iter().any(|(id, _)| *id == rule);
    let mut rules = if own { Ruleset::empty() } else { here(packs)? };
    rules.tell_in(language);
    let text = match &asked(&rules, Some(rule))?[..] {
        [row] => page(&rules, row.id, language).unwrap_or_default(),
        rows => rows.iter().map(|row| row.line() + "\n").collect(),
    };
    print(&text)?;
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

/// `gpulint test [--brittle] [RULE|FILE|DIR …]`.
///
/// # Errors
/// A pack that does not load, or no such rule.
pub fn test(what: &[PathBuf], brittle: bool) -> Result<u8, String> {
    let (packs, ids): (Vec<&PathBuf>, Vec<&PathBuf>) = what.iter().partition(|what| what.exists());
    let mut rules = if ids.is_empty() { Ruleset::builtin() } else { here(&[])? };
    let mut own = Vec::new();
    for id in ids {
        let name = id.to_string_lossy();
        let missing = || format!("there is no rule and no path `{}`{}", shown(id), rules.hint(&name));
        rules.get(&name).ok_or_else(missing)?;
        own.push(name.into_owned());
    }
    for path in packs {
        let mut pack = Ruleset::empty();
        add_pack(&mut pack, path)?;
        add_pack(&mut rules, path)?;
        own.extend(pack.entries().iter().map(|entry| entry.id.to_string()));
    }
    let picked = |entry: &Entry| what.is_empty() || own.iter().any(|id| *id == entry.id);
    let lint: &Lint<'_> = &|files| lint(files, &rules);
    if brittle {
        return told_of(&rules, &picked, &rewrites::test(&rules, picked, lint), !what.is_empty());
    }
    let results = examples::test(&rules, picked, lint);
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

/// Says which rules other ways of writing silence, of a few with the files, and how many they leave.
fn told_of(rules: &Ruleset, picked: &dyn Fn(&Entry) -> bool, all: &[Survival], few: bool) -> Result<u8, String> {
    let needless = rewrites::needless(rules, picked, all);
    let mut out: String =
        needless.iter().map(|(rule, name)| format!("Needless: {rule} makes an exception of {name}\n")).collect();
    for one in all.iter().filter(|one| one.outcome == Outcome::Lost) {
        out += &format!("Lost: {} example {} after {}\n", one.rule, one.example, one.rewrite);
        for (path, text) in one.files.iter().filter(|_| few) {
            out += &format!("  {path}\n{}", text.lines().map(|line| format!("    {line}\n")).collect::<String>());
        }
    }
    let counts = rewrites::by_rewrite(all);
    out += &left_open(rules, picked, all);
    for rewrite in rewrites::all() {
        let Some((survived, asked)) = counts.get(rewrite.name) else { continue };
        out += &format!("{survived:>5} of {asked:<5} {:<22} {}\n", rewrite.name, rewrite.about);
    }
    print(&out)?;
    let failed = ["Lost: ", "Needless: ", "Open: "].iter().any(|word| out.lines().any(|line| line.starts_with(word)));
    Ok(if failed { FINDINGS } else { CLEAN })
}

/// Says which of the ten questions rules leave open, and how many have an answer.
fn left_open(rules: &Ruleset, picked: &dyn Fn(&Entry) -> bool, all: &[Survival]) -> String {
    let mut out = String::new();
    let entries = rules.entries().iter().filter(|entry| picked(entry));
    let answers: Vec<_> = entries.map(|entry| (&entry.id, questions::answers(entry, all))).collect();
    for (id, answers) in &answers {
        let open = answers.iter().filter(|(_, answer)| **answer == Answer::Open);
        open.for_each(|(question, _)| out += &format!("Open: {id}: {}: {}\n", question.name(), question.text()));
    }
    for question in Question::ALL {
        let count = |wanted| answers.iter().filter(|(_, answers)| answers[&question] == wanted).count();
        out += &format!(
            "{:<10} {:>4} answered, {:>4} do not ask it, {:>3} say why it is open, {:>3} leave it open\n",
            question.name(),
            count(Answer::Answered),
            count(Answer::Idle),
            count(Answer::Explained),
            count(Answer::Open)
        );
    }
    out
}

/// Lints files in memory, under the configuration among them.
fn lint(files: Vec<(String, String)>, rules: &Ruleset) -> Linted {
    let (configurations, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path == config::FILE_NAME);
    // A file that only a whole repository has says that this is one.
    let (ignored, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path == ".gitignore");
    let listing = ignored.first().map(|(_, text)| whole(files.iter().map(|(path, _)| path.as_str()), text));
    let pages = files.iter().filter(|(path, _)| path.ends_with(".md"));
    let docker_runtime = pages.filter_map(|(_, text)| crate::extract::runtimes::of_text(text)).max();
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
    facts.docker_runtime = docker_runtime;
    let outcome = lint::run(inputs, facts, sources, rules);
    Linted { sources: outcome.sources, findings: outcome.evaluation.findings, skipped: outcome.skipped }
}

/// The listing of a repository with these files and an ignore file of these lines.
fn whole<'p>(files: impl Iterator<Item = &'p str>, ignored: &str) -> Arc<crate::facts::Listing> {
    let there = files.flat_map(paths::above).map(str::to_owned).collect();
    let ignored = ignored.lines().map(|line| line.trim().to_owned()).collect();
    let roots = BTreeSet::from([String::new()]);
    Arc::new(crate::facts::Listing { there, ignored, roots, ..crate::facts::Listing::default() })
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
