//! The reference of the rule language, from the documentation of facts, words and functions. Knows Markdown.

use crate::catalog::{self, Lookup};
use crate::facts::value::{EntityType, Field, Type};
use crate::facts::{LISTS, subjects};
use crate::rules::functions::{self, Function, Output, Param};
use crate::words::Words;

const INTRODUCTION: &str = "\
# The rule language

Written by `gpulint rules --format language` from the documentation of facts, words and functions.

Expressions are CEL: literals (`1`, `1.5`, `'x'`, `true`, `null`, lists), `a.b`, `a[i]`, `a['key']`, `! -`, `* / % + -`, `< <= > >= == != in`,
`&& ||`, `c ? a : b`. Types are checked when a rule is loaded. A text beside a version is read as a version; a text beside a word of a closed
vocabulary must be one of its words. Raw documents are `dyn`: typed when used.

An absent fact is null: a field of null is null, macros over null see an empty list. An unknown fact makes the answer unknown, unless something
else decides it: `false && unknown` is false, `true || unknown` is true. What is stated is not null, even where its value is unknown.

`when` is the scope of a rule: what is known as soon as the file at hand is read (kinds, formats, what is stated). What other files decide (*joined*
below) or the catalog looks up may be unknown and belongs into `forbid`, where it is counted as undecided; a rule that reads it in `when` is warned about.

| form | means |
|---|---|
| `has(a.b)` | whether it is stated: `a.b != null` |
| `default(a, b, …)` | the first of them that is not null |
| `known(a)` | the value, null where it is unknown: for what a rule can do without |
| `list.exists(x, …)`, `list.all(x, …)`, `list.exists_one(x, …)` | whether some, every, exactly one element fits; also over the values of a map |
| `list.filter(x, …)` | the elements that are known to fit |
| `list.map(x, …)` | something of every element |
| `params.name` | a parameter of the rule |
| `at: \"[a, b]\"` | the place of the first of them that is stated |
";

/// The page.
pub fn page() -> String {
    let mut out = INTRODUCTION.to_owned();
    let mut reached = Reached::default();
    out.push_str("\n## What rules are asked about\n\n| `applies_to` | variables |\n|---|---|\n");
    for (subject, variables) in subjects() {
        let form = subject.kind.map_or(subject.name.to_owned(), |key| format!("{}: {{{key}: …}}", subject.name));
        let named: Vec<String> = variables.iter().map(|(name, ty)| format!("`{name}`: {ty}")).collect();
        out.push_str(&format!("| `{form}` | {} |\n", named.join(", ")));
        variables.iter().for_each(|(_, ty)| reached.add(ty));
    }
    out.push_str("\n## Lists\n\n| function | type | gives |\n|---|---|---|\n");
    for list in LISTS {
        out.push_str(&format!("| `{}()` | list({}) |{} |\n", list.name, list.subject.entity.name, cell(list.doc)));
    }
    out.push_str("\n## Functions\n\n`f(a, b)` and `a.f(b)` are the same. `?` marks what may be left out.\n\n");
    out.push_str("| function | type | gives |\n|---|---|---|\n");
    let mut functions = functions::ALL.clone();
    functions.sort_by_key(|function| function.name);
    for function in functions {
        if let Output::Type(ty) = &function.output {
            reached.add(&ty());
        }
        out.push_str(&format!(
            "| `{}` | {} | {} |\n",
            signature(function),
            output(&function.output),
            cell(function.doc)
        ));
    }
    out.push_str("\n## Tables of the catalog\n\nWhat `catalog('table.column', key, …)` can be asked.\n\n");
    out.push_str("| table | keys | columns |\n|---|---|---|\n");
    for table in catalog::tables() {
        let lookups: Vec<Lookup> = Lookup::all().filter(|lookup| lookup.table() == table).collect();
        let Some(keys) = lookups.first().map(|lookup| lookup.keys()) else { continue };
        let columns: Vec<&str> = lookups.iter().map(|lookup| lookup.column()).collect();
        out.push_str(&format!("| {table} | {} | {} |\n", keys.join(", "), columns.join(", ")));
    }
    out.push_str("\n## Entities\n");
    reached.entities.sort_by_key(|entity| entity.name);
    for entity in &reached.entities {
        out.push_str(&format!(
            "\n### {}\n\n{}\n\n| field | type | holds |\n|---|---|---|\n",
            entity.name,
            entity.doc.trim()
        ));
        for Field { name, doc, ty, joined } in entity.fields {
            let mark = if *joined { " *(joined)*" } else { "" };
            out.push_str(&format!("| `{name}` | {} |{}{mark} |\n", ty(), cell(doc)));
        }
    }
    out.push_str("\n## Closed vocabularies\n");
    reached.words.sort_by_key(|words| words.name);
    for words in &reached.words {
        out.push_str(&format!("\n### {}\n\n{}\n\n| word | means |\n|---|---|\n", words.name, words.doc.trim()));
        words.words.iter().for_each(|(word, doc)| out.push_str(&format!("| `{word}` |{} |\n", cell(doc))));
    }
    out.trim_end().to_owned()
}

/// Entities and vocabularies that a rule can come to.
#[derive(Default)]
struct Reached {
    entities: Vec<&'static EntityType>,
    words: Vec<&'static Words>,
}

impl Reached {
    fn add(&mut self, ty: &Type) {
        match ty {
            Type::List(inner) | Type::Map(inner) => self.add(inner),
            Type::Entity(entity) if !self.entities.contains(entity) => {
                self.entities.push(entity);
                entity.fields.iter().for_each(|field| self.add(&(field.ty)()));
            }
            Type::Word(words) if !self.words.contains(words) => self.words.push(words),
            _ => {}
        }
    }
}

fn signature(function: &Function) -> String {
    let param = |p: &Param| format!("{}{}: {}", p.name, if p.optional { "?" } else { "" }, (p.ty)());
    let params: Vec<String> = function.params.iter().map(param).collect();
    format!("{}({})", function.name, params.join(", "))
}

fn output(output: &Output) -> String {
    match output {
        Output::Type(ty) => ty().to_string(),
        Output::Element => "an element".to_owned(),
        Output::ListOfElement | Output::Flattened => "a list of elements".to_owned(),
        Output::Joined | Output::Extreme => "as the arguments".to_owned(),
        Output::Column => "what the column holds".to_owned(),
    }
}

/// A text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
