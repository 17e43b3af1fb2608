//! Pages that are written from the command line and from the rules:
//!
//! - `cargo run --example pages -- cli > docs/cli.md`
//! - `cargo run --example pages -- config > docs/configuration.md`
//! - `cargo run --example pages -- man DIRECTORY` writes the manual pages
//! - `mdbook build docs` runs it as the preprocessor that adds a page for each rule

use clap::CommandFactory;
use gpulint::cli::Arguments;
use gpulint::finding::{OWN_PACK, OWN_RULES};
use gpulint::rules::Ruleset;
use gpulint::rules::text::{Example, Page, RuleText};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, Write};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cli"] => io::stdout().write_all(cli().as_bytes())?,
        ["config"] => io::stdout().write_all(config()?.as_bytes())?,
        ["man", directory] => {
            std::fs::create_dir_all(directory)?;
            clap_mangen::generate_to(Arguments::command(), directory)?;
        }
        // mdBook asks first which renderers are supported.
        ["book", "supports", _] => {}
        ["book"] => serde_json::to_writer(io::stdout(), &book(&serde_json::from_reader(io::stdin())?)?)?,
        _ => return Err("pages cli | config | man DIRECTORY | book".into()),
    }
    Ok(())
}

/// `docs/cli.md`: what `--help` says of each command.
pub fn cli() -> String {
    let mut command = Arguments::command().term_width(100);
    command.build(); // options are set up when a command is asked for
    let mut out = String::from(
        "# Command line\n\nWritten by `cargo run --example pages -- cli` from what `--help` says.\n\n\
         | exit code | meaning |\n|---|---|\n\
         | 0 | nothing was found at or above `--fail-on` |\n\
         | 1 | findings |\n\
         | 2 | gpulint could not do its work: usage, configuration, rule pack, a report that cannot be written, a path of which nothing was linted |\n",
    );
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        let help = inner.render_long_help().to_string();
        let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        out += &format!("\n## gpulint {}\n\n```text\n{}\n```\n", inner.get_name(), lines.join("\n"));
    }
    out
}

/// `docs/configuration.md`: what the schema says of each key.
pub fn config() -> Fallible<String> {
    let schema: Value = serde_json::from_str(include_str!("../schemas/config.json"))?;
    let mut out = CONFIGURATION.to_owned();
    let keys = schema["properties"].as_object().ok_or("a schema has properties")?;
    out += "\n## Keys\n\n| key | takes | |\n|---|---|---|\n";
    let mut inner = String::new();
    for (key, of) in keys {
        out += &key_row(&schema, key, of, inner_keys(&schema, of).is_some());
        if let Some(rows) = inner_keys(&schema, of) {
            let about = of["description"].as_str().unwrap_or_default();
            inner += &format!("\n### {key}\n\n{about}.\n\n| key | takes | |\n|---|---|---|\n");
            rows.iter().for_each(|(path, of)| inner += &key_row(&schema, path, of, false));
        }
    }
    Ok(out + &inner)
}

fn key_row(schema: &Value, key: &str, of: &Value, linked: bool) -> String {
    let about = of["description"].as_str().unwrap_or_default();
    let default = of.get("default").map_or(String::new(), |default| {
        format!("; `{}` when left out", default.as_str().map_or(default.to_string(), str::to_owned))
    });
    let key = if linked { format!("[`{key}`](#{key})") } else { format!("`{key}`") };
    format!("| {key} | {} | {about}{default} |\n", takes(schema, of))
}

/// What a definition of the schema stands for.
fn meant<'s>(schema: &'s Value, of: &'s Value) -> &'s Value {
    of["$ref"].as_str().and_then(|path| schema.pointer(path.trim_start_matches('#'))).unwrap_or(of)
}

/// The keys of the mappings that a key takes a list of, with those further inside.
fn inner_keys<'s>(schema: &'s Value, of: &'s Value) -> Option<Vec<(String, &'s Value)>> {
    let item = meant(schema, meant(schema, of).get("items")?);
    let mut out = Vec::new();
    for (key, of) in item["properties"].as_object()? {
        out.push((key.clone(), of));
        let inner = inner_keys(schema, of).into_iter().flatten();
        out.extend(inner.map(|(path, of)| (format!("{key}[].{path}"), of)));
    }
    Some(out)
}

/// What a key takes, in words.
fn takes(schema: &Value, of: &Value) -> String {
    let of = meant(schema, of);
    let words = |list: &[Value]| list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    if let Some(choices) = of["enum"].as_array() {
        return words(choices);
    }
    if let Some(forms) = of["oneOf"].as_array() {
        let forms: Vec<String> = forms.iter().map(|form| takes(schema, form)).filter(|form| !form.is_empty()).collect();
        return forms.join(", or ");
    }
    let types = of["type"].as_array().map_or_else(|| vec![of["type"].clone()], Clone::clone);
    let named = types.iter().filter_map(Value::as_str).filter(|name| *name != "null").map(|name| match name {
        "array" => "a list",
        "object" => "a mapping",
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        _ => "true or false",
    });
    named.collect::<Vec<_>>().join(" or ")
}

const CONFIGURATION: &str = "\
# Configuration

Written by `cargo run --example pages -- config` from `gpulint schema config`.

gpulint needs none. A configuration says what the files of a repository cannot (clusters, drivers, node pools that are made elsewhere) and what you want
(severities, rules that are off, files that are left out). `gpulint init` writes a first one: see [adoption](adoption.md).

```yaml
# .gpulint.yaml
# yaml-language-server: $schema=https://gpulint.github.io/schemas/config.json
clusters:
  - name: prod
    platform: eks
    driver: 550.54.15
    node_pools:
      - {name: h100, gpu: H100, count: 8}
rules:
  gpu-rollout-needs-surge: off
  model-does-not-fit: {severity: warning}
exclude: [/third_party/]
fail_on: warning
```

## Where it stands

In a file `.gpulint.yaml`, `.gpulint.yml` or `gpulint.yaml`, or in the table `tool.gpulint` of a `pyproject.toml`:

```toml
[tool.gpulint]
fail_on = \"warning\"

[tool.gpulint.rules]
gpu-rollout-needs-surge = \"off\"
```

It holds for the directory that it stands in and what is below, from whatever directory gpulint is called. A configuration further down takes its place there, as a whole; with

```yaml
extends: ../.gpulint.yaml
```

only where it states a key itself (of `rules` and `images`: an entry). What is extended is a file of the same repository. Two configurations in one directory are an error. A
configuration that stands in what is left out, by ignore files or by `exclude` further up, is not read, and neither is what a link out of the repository leads to.

- `clusters`, `helm`, `images`, `sla`, `data_classes` and `datasets` are facts about what is below the file, and of nothing else.
- Rules, severities, `ignores`, `require_reason` and `fail_on` are those of the file that a finding points at.
- Paths and patterns are meant from the file that states them.

`--config FILE` is gone by for every file, in place of all others; `--no-config` and `--isolated` go by none.

## What is wrong in it

A key, a rule, a pack, a parameter or a severity that does not exist keeps gpulint from its work, with its place and what may be meant. Charts, values, Dockerfiles and workloads
that it names and that are not here are findings (`configuration`) where the whole repository is looked at, GPUs that nobody knows always.
";

/// The book that mdBook hands over, with a page for each rule below `rules.md`, and links that lead out of it.
fn book(input: &Value) -> Fallible<Value> {
    let mut book = input.get(1).ok_or("mdBook gives a context and a book")?.clone();
    let items = ["items", "sections"].into_iter().find(|key| book[key].is_array()).ok_or("a book without chapters")?;
    let chapters = book[items].as_array_mut().ok_or("a list")?;
    for chapter in chapters.iter_mut().filter_map(|item| item.get_mut("Chapter")) {
        outward(chapter);
        if chapter["path"] == "rules.md" {
            (chapter["content"], chapter["sub_items"]) = rules(chapter);
        }
    }
    Ok(book)
}

/// What lies beside the documentation is at the repository.
fn outward(chapter: &mut Value) {
    let content = chapter["content"].as_str().unwrap_or_default();
    chapter["content"] = content.replace("](../", "](https://github.com/gpulint/gpulint/blob/main/").into();
    chapter["sub_items"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(|item| item.get_mut("Chapter"))
        .for_each(outward);
}

/// The list of all rules, and the chapters of their pages, in place of what `docs/rules.md` tells of them.
fn rules(within: &Value) -> (Value, Value) {
    let told = within["content"].as_str().unwrap_or_default();
    let all = Ruleset::builtin();
    let mut packs: Vec<&str> = all.entries().iter().map(|entry| entry.pack.as_ref()).chain([OWN_PACK]).collect();
    packs.sort_unstable();
    packs.dedup();
    let mut list = format!("# Rules\n\n{} rules in {} packs.\n", all.entries().len() + OWN_RULES.len(), packs.len());
    let mut chapters = Vec::new();
    for pack in packs {
        list += &format!("\n## {pack}\n\n| rule | severity | says, for example |\n|---|---|---|\n");
        let mut heading = chapter(within, chapters.len(), pack, None);
        let mut pages = Vec::new();
        for entry in all.entries().iter().filter(|entry| entry.pack == pack) {
            let section = told.split("\n### ").find(|s| s.lines().next() == Some(&entry.id)).unwrap_or_default();
            let text = entry.text();
            list += &row(&text.id, &text.severity, said(section, "- Says: "));
            let page = rule_page(text, &entry.page(), section);
            pages.push(chapter(&heading["Chapter"], pages.len(), &text.id, Some((page, entry.file().0.as_ref()))));
        }
        for (id, meaning) in OWN_RULES.iter().filter(|_| pack == OWN_PACK) {
            list += &row(id, "", meaning);
            let page = format!("# {id}\n\nA finding of gpulint about its own work.\n\n{meaning}\n");
            pages.push(chapter(&heading["Chapter"], pages.len(), id, Some((page, "src/finding.rs"))));
        }
        heading["Chapter"]["sub_items"] = pages.into();
        chapters.push(heading);
    }
    (list.into(), chapters.into())
}

fn row(id: &str, severity: &str, says: &str) -> String {
    format!("| [{id}](rules/{id}/index.md) | {severity} | {} |\n", says.replace('|', "\\|").replace('<', "&lt;"))
}

/// A chapter inside of another one, as mdBook takes it: a page, with the file that it is written from, or a heading.
fn chapter(within: &Value, index: usize, name: &str, page: Option<(String, &str)>) -> Value {
    let inner =
        |list: &Value, last: Value| Value::from([list.as_array().map_or(&[][..], Vec::as_slice), &[last]].concat());
    let path = page.is_some().then(|| format!("rules/{name}/index.md"));
    let source = page.as_ref().map(|(_, file)| format!("../{file}"));
    json!({"Chapter": {
        "name": name, "content": page.map_or(String::new(), |(text, _)| text), "path": path, "source_path": source,
        "number": inner(&within["number"], json!(index + 1)), "parent_names": inner(&within["parent_names"], within["name"].clone()),
        "sub_items": [],
    }})
}

/// What stands behind a word at the start of a line.
fn said<'t>(section: &'t str, word: &str) -> &'t str {
    section.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_default()
}

fn rule_page(text: &RuleText, page: &Page, section: &str) -> String {
    let RuleText { id, pack, applies_to, .. } = text;
    let mut out = format!(
        "# {id}\n\n**{}** · {} confidence · pack [{pack}](../../rules.md#{pack}) · asked of every {applies_to}\n\n{}\n\n",
        text.level(),
        text.confidence,
        page.why.trim(),
    );
    out += &format!("> {}\n>\n> help: {}\n", said(section, "- Says: "), said(section, "- Help: "));
    for (fires, heading) in [(true, "Where it fires"), (false, "Where it is silent")] {
        let examples: Vec<&Example> = page.examples.iter().filter(|example| example.fires == fires).collect();
        if !examples.is_empty() {
            out += &format!("\n## {heading}\n");
        }
        for example in examples {
            if !fires {
                out += &format!("\nBecause {}:\n", example.because);
            }
            for (path, text) in &example.files {
                out += &format!(
                    "\n`{path}`\n\n<pre class=\"example\"><code class=\"nohighlight\">{}</code></pre>\n",
                    marked(text)
                );
            }
        }
    }
    if !text.params.is_empty() {
        out += "\n## Parameters\n\n| parameter | type | default | meaning |\n|---|---|---|---|\n";
    }
    for p in &text.params {
        out += &format!("| `{}` | {} | {} | {} |\n", p.name, p.ty, p.default.join(", "), p.description);
    }
    out += &format!(
        "\n## Change or accept it\n\n```yaml\n# .gpulint.yaml: another severity, or off\nrules:\n  {id}: {{severity: info}}\n```\n\n\
         ```yaml\n# gpulint: ignore[{id}] reason=\"why this is fine here\"\n```\n\n## References\n\n"
    );
    page.references.iter().for_each(|reference| out += &format!("- <{reference}>\n"));
    out
}

/// A file of an example as HTML, with the place that the finding points at.
fn marked(text: &str) -> String {
    let escaped = text.trim_end().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('‹', "<mark>").replace('›', "</mark>")
}
