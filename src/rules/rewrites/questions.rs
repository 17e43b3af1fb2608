//! Ten questions to every rule, and whether its examples answer them: by what they show, or by surviving another way of writing.

use super::{Question, Survival, all};
use crate::rules::Entry;
use crate::rules::text::Example;
use std::collections::{BTreeMap, BTreeSet};

/// Whether the examples of a rule answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// They do.
    Answered,
    /// It does not arise of this rule.
    Idle,
    /// They do not, and the rule says why.
    Explained,
    /// They do not.
    Open,
}

impl Question {
    /// All of them, in their order.
    pub const ALL: [Self; 10] = [
        Self::Halves,
        Self::Places,
        Self::Spellings,
        Self::Kinds,
        Self::Others,
        Self::Default,
        Self::References,
        Self::Sets,
        Self::Severity,
        Self::Twin,
    ];

    /// The word by which a rule says that it leaves the question open.
    pub fn name(self) -> &'static str {
        match self {
            Self::Halves => "halves",
            Self::Places => "places",
            Self::Spellings => "spellings",
            Self::Kinds => "kinds",
            Self::Others => "others",
            Self::Default => "default",
            Self::References => "references",
            Self::Sets => "sets",
            Self::Severity => "severity",
            Self::Twin => "twin",
        }
    }

    /// The question itself.
    pub fn text(self) -> &'static str {
        match self {
            Self::Halves => "does it see the fault from both of its ends?",
            Self::Places => "does it see every place that can state the fact?",
            Self::Spellings => "does it see every spelling?",
            Self::Kinds => "does it see other kinds, engines and platforms?",
            Self::Others => "what if the other object is not in the files?",
            Self::Default => "what if nothing is stated?",
            Self::References => "does it follow references?",
            Self::Sets => "what of several candidates?",
            Self::Severity => "what raises or lowers the severity?",
            Self::Twin => "what looks guilty, and is not?",
        }
    }
}

/// The answers of a rule, of which `survivals` tells how it came through other ways of writing.
pub fn answers(entry: &Entry, survivals: &[Survival]) -> BTreeMap<Question, Answer> {
    let (page, text) = (entry.page(), entry.text());
    let asked_of: BTreeSet<Question> = survivals
        .iter()
        .filter(|one| one.rule == *entry.id)
        .filter_map(|one| all().find(|rewrite| rewrite.name == one.rewrite))
        .map(|rewrite| rewrite.question)
        .collect();
    let (fires, silent): (Vec<&Example>, Vec<&Example>) = page.examples.iter().partition(|example| example.fires);
    let several = fires.len() > 1;
    let words = text.asked();
    let of_another = !text.labels.is_empty() || words.contains("()");
    let answer = |question: Question| match question {
        Question::Halves if text.labels.is_empty() => Answer::Idle,
        Question::Kinds if !text.kinds.is_empty() || text.applies_to == "breach" => Answer::Idle,
        Question::Kinds => of(!narrows(&words) || asked_of.contains(&question) || subjects(&fires).len() > 1),
        Question::Others if !of_another => Answer::Idle,
        Question::Others => of(asked_of.contains(&question) || fewer(&page.examples)),
        // A rule that speaks of what is not stated knows of it.
        Question::Default if ["null", "default(", "has("].iter().any(|word| words.contains(word)) => Answer::Answered,
        Question::Default => of(fires.iter().any(|example| unstated(example, &page.examples))),
        Question::References if !asked_of.contains(&question) => Answer::Idle,
        Question::Sets if !["node.", "pools", ".nodes"].iter().any(|word| words.contains(word)) => Answer::Idle,
        Question::Sets => of(asked_of.contains(&question) || page.examples.iter().any(states_several)),
        // An error holds by what is known, and what is not known silences it.
        Question::Severity => of(text.proof.is_some() || text.severity != "error" || text.confidence == "high"),
        Question::Twin => of(fires.iter().any(|one| silent.iter().any(|other| alike(one, other)))),
        _ => of(asked_of.contains(&question) || several),
    };
    let explained = |question: &Question| page.open.contains_key(question.name());
    let answers = Question::ALL.into_iter().map(|question| match answer(question) {
        Answer::Open if explained(&question) => (question, Answer::Explained),
        answer => (question, answer),
    });
    answers.collect()
}

fn of(answered: bool) -> Answer {
    if answered { Answer::Answered } else { Answer::Open }
}

/// Whether a rule is of some kinds, engines or platforms only.
fn narrows(words: &str) -> bool {
    let lists = [".kind", "engine", "platform", "format", "vendor"];
    lists.iter().any(|list| words.contains(&format!("{list} ==")) || words.contains(&format!("{list} in")))
}

/// What the examples are about: kinds of objects, types of resources, names of files.
fn subjects(examples: &[&Example]) -> BTreeSet<String> {
    let of_line = |line: &str| {
        let line = line.trim_start_matches(['-', ' ']);
        line.strip_prefix("kind: ")
            .or(line.strip_prefix("resource "))
            .map(|kind| kind.trim_end_matches(['{', ' ']).to_owned())
    };
    let of_file = |(path, text): &(String, String)| {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        text.lines().filter_map(of_line).chain([name]).collect::<Vec<_>>()
    };
    examples.iter().flat_map(|example| &example.files).flat_map(of_file).collect()
}

/// Whether one of the examples holds fewer documents than another that fires.
fn fewer(examples: &[Example]) -> bool {
    let documents = |example: &Example| {
        let separators =
            example.files.iter().map(|(_, text)| text.lines().filter(|line| line.starts_with("---")).count());
        example.files.len() + separators.sum::<usize>()
    };
    let most = examples.iter().filter(|example| example.fires).map(documents).max();
    most == Some(1) || examples.iter().any(|example| Some(documents(example)) < most)
}

/// Whether an example does not state what the first mark of another stands for.
fn unstated(example: &Example, all: &[Example]) -> bool {
    let marked = example.files.iter().find_map(|(_, text)| text.split_once('‹'));
    let Some((before, rest)) = marked else { return true };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let after = rest.split_once('›').map_or("", |(_, after)| after);
    // What is marked itself is a key, or stands behind one.
    let own = rest.split('›').next().unwrap_or_default();
    let word = |text: &str| {
        let text = text.trim_end_matches([' ', ':', '=', '"', '\'', '[', '{', '(']);
        text.rsplit([' ', ',', '{', '[', '(', '"', '\'']).next().unwrap_or_default().to_owned()
    };
    let key = if after.starts_with([':', '=']) { own.to_owned() } else { word(line) };
    let key = if key.len() < 2 { own.to_owned() } else { key };
    all.iter().any(|other| !other.files.iter().any(|(_, text)| text.replace(['‹', '›'], "").contains(&key)))
}

/// Whether an example states more than one value of a selector, or more than one pool.
fn states_several(example: &Example) -> bool {
    let several = |text: &str| {
        let lists = text.lines().filter(|line| line.contains("values: [") || line.contains("instance_types"));
        lists.filter(|line| line.contains(',')).count() > 0
            || text.matches("pool").count() > 2
            || text.matches("resource \"").count() > 2
    };
    example.files.iter().any(|(_, text)| several(text))
}

/// Whether more than half of what two examples say is the same.
fn alike(one: &Example, other: &Example) -> bool {
    let lines = |example: &Example| {
        let texts = example.files.iter().flat_map(|(_, text)| text.lines());
        texts
            .map(|line| line.replace(['‹', '›'], "").trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect::<BTreeSet<_>>()
    };
    let (one, other) = (lines(one), lines(other));
    let most = one.len().max(other.len());
    // One line says it all where there are few.
    2 * one.intersection(&other).count() >= most || most <= 3
}
