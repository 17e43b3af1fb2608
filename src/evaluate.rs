//! For each entity, for each rule: ask, record. Knows facts, what is deployed together, and rules; does no input or
//! output and knows no configuration.

use crate::budget::Share;
use crate::facts::value::{Data, Entity, Value};
use crate::facts::{
    Breach, InfraFormat, LISTS, List, NodePool, PackageFile, PackageFileKind, Subject, Workload, WorkloadFormat,
};
use crate::finding::{self, Finding, Label, Severity, Undecided, Unlinted, Wish};
use crate::known::Why;
use crate::language::Language;
use crate::link::{Deployed, Layout};
use crate::paths;
use crate::rules::compile::{Change, Mending, Part, Rule, Template};
use crate::rules::functions::{Context, Places, Stated, Surroundings, is_alone};
use crate::rules::gates::Gates;
use crate::rules::lang::eval::{Around, Common, Eval, Truth, Used, truth};
use crate::rules::lang::values::elements;
use crate::rules::{BySubject, Entry, Ruleset};
use crate::source::{SourceId, Span};
use rayon::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Bytes of text that an element of `each` counts as, for what a rule may spend.
const ELEMENT: usize = 128;

/// What is asked about is worked on in so many parts where it is much: what does not depend on which of it is asked about is
/// found out once for all of a part that stands together.
const PARTS: usize = 16;

/// A part of what stands together is not smaller than this.
const TOGETHER: usize = 128;

/// Entities that are asked about side by side: rules are far more than a processor keeps at hand, so each is asked about all
/// of them before the next one.
const BESIDE: usize = 64;

/// What is told may be so much smaller than what else a share may make.
const TOLD: usize = 8;

/// Labels beyond this many explain nothing.
const MOST_LABELS: usize = 4;

/// What a run found.
#[derive(Debug, Default)]
pub struct Evaluation {
    /// What is wrong, in the order of places.
    pub findings: Vec<Finding>,
    /// What could not be decided, in the order of places.
    pub undecided: Vec<Undecided>,
}

/// An entity with the variables that rules about it bind.
struct Asked<'a> {
    subject: &'static Subject,
    entity: &'a dyn Entity,
    variables: Vec<Value<'a>>,
    name: String,
}

impl Places for Layout<'_> {
    fn place(&self, file: SourceId) -> u32 {
        self.at(file).number()
    }

    fn around(&self, file: SourceId) -> Vec<Range<u32>> {
        self.near_places(file)
    }

    fn near(&self, one: SourceId, other: SourceId) -> bool {
        Layout::near(self, one, other)
    }

    fn is_idle(&self, file: SourceId) -> bool {
        Layout::is_idle(self, file)
    }

    fn alike(&self, one: SourceId, other: SourceId) -> bool {
        Layout::alike(self, one, other)
    }
}

/// Entities of a list that stand together in a variant.
struct Group<'a> {
    variant: usize,
    entities: &'a [(&'static List, &'a dyn Entity)],
}

/// What is asked where a group stands, and what is the same for all of the group. The rules that were added find that out
/// at their own expense.
struct Place<'a, 'r> {
    context: Context<'a>,
    rules: Option<&'a BySubject<'r>>,
    own: Common<'a>,
    added: Common<'a>,
}

/// An entity or a part of one that is asked about, with how far that is. The rules that were added have an evaluation of
/// their own, too.
struct Turn<'a> {
    group: usize,
    asked: Asked<'a>,
    /// Whether what it states is not deployed.
    tests: bool,
    around: [Around<'a>; 2],
    evals: [Option<Eval<'a>>; 2],
    gates: Gates,
}

/// Asks every rule about every entity of each variant that somebody deploys, which sees what may be deployed with it.
/// `names` are the display paths of the sources, by id. The order of the results does not depend on threads.
pub fn evaluate(deployed: Deployed<'_>, names: &[&str], rules: &Ruleset) -> Vec<Evaluation> {
    let variants = deployed.variants();
    let stated = variants.iter().map(|own| Stated { facts: &own.facts, thing: own.thing, first: own.first });
    let around = Surroundings::new(stated, deployed.layout(), names);
    let about = rules.about.as_ref();
    let concerns =
        |entity: &dyn Entity| about.is_none_or(|paths| paths.contains(names[entity.span().source.0 as usize]));
    let rules: Vec<_> = rules.all().map(|(home, rules)| (home, rules.by_subject())).collect();
    let rules_of = |path: &str| paths::nearest(path, rules.iter().map(|(home, rules)| (*home, rules)));
    let entities = |facts| -> Vec<(&'static List, &dyn Entity)> {
        let of_list = |list: &'static List| (list.entities)(facts).into_iter().map(move |entity| (list, entity));
        let asked = |entity: &dyn Entity| !deployed.layout().is_idle(entity.span().source) && concerns(entity);
        LISTS.iter().flat_map(of_list).filter(|(_, entity)| asked(*entity)).collect()
    };
    let entities: Vec<Vec<_>> = variants.iter().map(|variant| entities(&variant.facts)).collect();
    let count = entities.iter().map(Vec::len).sum();
    let beside = |a: &(&'static List, &dyn Entity), b: &(&'static List, &dyn Entity)| {
        let (from, other, alone) = (a.1.span().source, b.1.span().source, is_alone(a.1));
        let alike = if alone { from == other } else { deployed.layout().alike(from, other) };
        a.0.name == b.0.name && alone == is_alone(b.1) && alike
    };
    let mut groups = Vec::new();
    for (variant, entities) in entities.iter().enumerate() {
        for together in entities.chunk_by(beside) {
            let parts = together.chunks(together.len().div_ceil(PARTS).max(TOGETHER));
            groups.extend(parts.map(|entities| Group { variant, entities }));
        }
    }
    let ask = |groups: &[Group<'_>]| {
        let place = |group: &Group<'_>| {
            let (list, first) = group.entities[0];
            let common = || Common::new(Share::of(count / group.entities.len(), 0));
            Place {
                context: Context::new(&around, group.variant, list, first),
                rules: rules_of(names[first.span().source.0 as usize]),
                own: common(),
                added: common(),
            }
        };
        let places: Vec<Place<'_, '_>> = groups.iter().map(place).collect();
        ask_all(groups, &places, count)
    };
    let blocks = blocks(&groups, count.div_ceil(PARTS).min(BESIDE));
    let asked: Vec<Vec<Evaluation>> = blocks.into_par_iter().map(ask).collect();
    let mut out: Vec<Evaluation> = variants.iter().map(|_| Evaluation::default()).collect();
    groups.iter().zip(asked.into_iter().flatten()).for_each(|(group, found)| out[group.variant].append(found));
    out.par_iter_mut().for_each(Evaluation::settle);
    out
}

/// Groups one after another, in blocks of `size` entities or a little more.
fn blocks<'g, 'a>(mut groups: &'g [Group<'a>], size: usize) -> Vec<&'g [Group<'a>]> {
    let mut out = Vec::new();
    while !groups.is_empty() {
        let mut entities = 0;
        let full = |group: &Group<'_>| {
            entities += group.entities.len();
            entities >= size
        };
        let end = groups.iter().position(full).map_or(groups.len(), |last| last + 1);
        let (block, rest) = groups.split_at(end);
        out.push(block);
        groups = rest;
    }
    out
}

impl Evaluation {
    /// Takes over what was found elsewhere.
    pub fn append(&mut self, other: Evaluation) {
        self.findings.extend(other.findings);
        self.undecided.extend(other.undecided);
    }

    /// Puts findings and what is undecided in the order of places, each once.
    pub fn settle(&mut self) {
        self.findings.sort_by(|a, b| (a.span, &a.rule, &a.message).cmp(&(b.span, &b.rule, &b.message)));
        self.findings.dedup_by(|a, b| a.span == b.span && a.rule == b.rule && a.message == b.message);
        self.undecided.sort_by(|a, b| (a.span, &a.rule).cmp(&(b.span, &b.rule)));
        self.undecided.dedup_by(|a, b| a.span == b.span && a.rule == b.rule);
    }

    /// Asks one rule, as long as something is left to spend, and pays for what is told.
    fn ask<'a>(&mut self, rule: &'a Rule, asked: &Asked<'a>, eval: &mut Eval<'a>) {
        let share = Rc::clone(eval.share());
        if share.spent().is_some() {
            return;
        }
        let mut told = Evaluation::default();
        // A rule that panics is a finding at what it was asked about; the others are asked all the same.
        if catch_unwind(AssertUnwindSafe(|| ask(rule, asked, eval, &mut told))).is_err() {
            let message = format!("gpulint failed on the rule {} here; please report it", rule.id);
            told.findings.push(Finding::own("internal-error", Severity::Error, asked.entity.span(), message));
        }
        if share.make(TOLD * told.bytes()).is_ok() {
            self.append(told);
        }
    }

    /// About how much memory it takes up.
    fn bytes(&self) -> usize {
        let finding = |f: &Finding| {
            let related: usize = f.related.iter().map(|label| size_of::<Label>() + label.text.len()).sum();
            size_of::<Finding>() + f.message.len() + f.help.as_ref().map_or(0, String::len) + f.entity.len() + related
        };
        let undecided = |u: &Undecided| size_of::<Undecided>() + u.why.len() + u.entity.len();
        self.findings.iter().map(finding).chain(self.undecided.iter().map(undecided)).sum()
    }
}

/// Asks every rule about the entities of groups, of `count` in the run, and their parts. What is not asked because a share is
/// spent is told of the file.
fn ask_all<'a>(groups: &'a [Group<'a>], places: &'a [Place<'a, '_>], count: usize) -> Vec<Evaluation> {
    let mut out: Vec<Evaluation> = groups.iter().map(|_| Evaluation::default()).collect();
    let mut shares = Vec::new();
    let mut turns: Vec<(&[&Entry], Vec<Turn<'a>>)> = Vec::new();
    for (at, (group, place)) in groups.iter().zip(places).enumerate() {
        let Some(rules) = place.rules else { continue };
        for (list, entity) in group.entities {
            let mut all = Vec::new();
            with_parts(list.subject, *entity, (&[], ""), &place.context, &mut all);
            let tests = is_of_ci(*entity) || bakes(*entity);
            let share = || Rc::new(Share::of(count, all.len() * ELEMENT));
            let around =
                [&place.own, &place.added].map(|common| Around { context: &place.context, share: share(), common });
            shares.push((at, entity.span(), [0, 1].map(|i: usize| Rc::clone(&around[i].share))));
            for asked in all {
                let kind = asked.subject.kind.map(|field| text(asked.entity, field));
                let entries = rules.about(asked.subject, kind.as_deref());
                let (around, evals, gates) = (around.clone(), [None, None], Gates::default());
                let turn = Turn { group: at, asked, tests, around, evals, gates };
                match turns.iter_mut().find(|(known, _)| std::ptr::eq(*known, entries)) {
                    Some((_, turns)) => turns.push(turn),
                    None => turns.push((entries, vec![turn])),
                }
            }
        }
    }
    for (entries, turns) in &mut turns {
        for entry in *entries {
            for turn in turns.iter_mut().filter(|turn| !(turn.tests && entry.is_of_deployments())) {
                let Turn { group, asked, around, evals, gates, .. } = turn;
                let added = usize::from(entry.is_added());
                // One evaluation goes from rule to rule: most are answered by the first thing that they ask.
                let eval = evals[added].get_or_insert_with(|| Eval::of(around[added].clone(), &asked.variables));
                if !gates.are_shut(entry, eval) {
                    entry.rule().into_iter().for_each(|rule| out[*group].ask(rule, asked, eval));
                }
            }
        }
    }
    for (group, span, shares) in shares {
        for spent in shares.iter().filter_map(|share| share.spent()) {
            let message = format!("some rules were not asked, as {spent}");
            let place = Span { start: 0, end: 0, ..span };
            out[group].findings.push(Finding::not_linted(Unlinted::Budget, place, &message));
        }
    }
    out
}

/// Whether something is a part of a run of CI, which deploys nothing.
fn is_of_ci(entity: &dyn Entity) -> bool {
    let workload = entity.downcast::<Workload>().and_then(|workload| workload.format.get());
    let file = entity.downcast::<PackageFile>().and_then(|file| file.kind.get());
    workload == Some(&WorkloadFormat::Ci) || file == Some(&PackageFileKind::Ci)
}

/// Whether a machine runs until it has baked an image.
fn bakes(entity: &dyn Entity) -> bool {
    entity.downcast::<NodePool>().and_then(|pool| pool.format.get()) == Some(&InfraFormat::Packer)
}

/// An entity and its parts, each with the variables of what it is a part of before its own.
fn with_parts<'a>(
    subject: &'static Subject,
    entity: &'a dyn Entity,
    (around, whole): (&[Value<'a>], &str),
    context: &'a Context<'a>,
    out: &mut Vec<Asked<'a>>,
) {
    let mut variables = around.to_vec();
    variables.push(Value::at(Data::Entity(entity), entity.span()));
    variables.extend(subject.short.iter().map(|(_, field)| entity.named_field(field)));
    variables.extend(subject.of_workload.then(|| context.workload_of(entity)));
    let own: Vec<String> = subject.named.iter().map(|field| text(entity, field)).filter(|n| !n.is_empty()).collect();
    let name = match (whole, own.join(subject.joint)) {
        ("", own) => own,
        (whole, own) if own.is_empty() => whole.to_owned(),
        (whole, own) => format!("{whole} {} {own}", subject.name),
    };
    out.push(Asked { subject, entity, variables: variables.clone(), name: name.clone() });
    for (fields, part) in subject.parts {
        for item in fields.iter().flat_map(|field| elements(&entity.named_field(field)).to_vec()) {
            if let Data::Entity(item) = item.data {
                with_parts(part, item, (&variables, &name), context, out);
            }
        }
    }
}

/// The text of a field; empty where it is not known.
fn text(entity: &dyn Entity, field: &str) -> String {
    match entity.named_field(field).data {
        Data::Str(text) => text.into_owned(),
        _ => String::new(),
    }
}

/// Asks one rule about one entity (or about each element of its list).
fn ask<'a>(rule: &'a Rule, asked: &Asked<'a>, eval: &mut Eval<'a>, out: &mut Evaluation) {
    eval.begin(&rule.params, &rule.lets, rule.slots);
    match &rule.each {
        None => decide(rule, asked, eval, out),
        Some((slot, list)) => {
            let (list, _) = eval.run(list);
            let items = elements(&list);
            let share = Rc::clone(eval.share());
            if !rule.added {
                share.grow(items.len() * ELEMENT);
            }
            for item in items.iter().take_while(|_| share.spent().is_none()) {
                eval.forget_lets();
                eval.set(*slot, item.clone());
                decide(rule, asked, eval, out);
            }
        }
    }
}

fn decide<'a>(rule: &'a Rule, asked: &Asked<'a>, eval: &mut Eval<'a>, out: &mut Evaluation) {
    let unread = |used: &[Used<'_>]| used.iter().any(|u| u.unread);
    let (when, scope_unread) = rule.when.as_ref().map_or((Truth::True, false), |when| {
        let (holds, used) = eval.run(when);
        (truth(holds), unread(&used))
    });
    // What a user cannot answer is not asked.
    let silent = match &when {
        Truth::Unknown(value) => left_to_others(value),
        when => *when == Truth::False,
    };
    if silent {
        return;
    }
    let (verdict, used) = eval.run(&rule.forbid);
    match (when, truth(verdict)) {
        (_, Truth::Unknown(value)) if left_to_others(&value) => {}
        (Truth::True, Truth::True) => {
            let unread = scope_unread || unread(&used);
            let mut found = finding(rule, asked, eval, used);
            // No error rests on what nobody read in its source.
            if unread {
                found.severity = found.severity.min(Severity::Warning);
            }
            out.findings.push(found);
        }
        // A scope that cannot be told is undecided, too, where the rule would fire or may.
        (_, Truth::False) => {}
        (Truth::Unknown(Value { data: Data::Unknown(why), span }), _)
        | (_, Truth::Unknown(Value { data: Data::Unknown(why), span })) => out.undecided.push(Undecided {
            pack: rule.pack.clone(),
            confidence: rule.confidence,
            rule: rule.id.clone(),
            span: span.unwrap_or(asked.entity.span()),
            why: why.to_string(),
            lacks_row: matches!(&*why, Why::NotInCatalog(_)),
            entity: asked.name.clone(),
        }),
        _ => {}
    }
}

/// Whether nothing is written, because something that runs later fills it in: an operator, a controller.
fn left_to_others(value: &Value<'_>) -> bool {
    matches!(&value.data, Data::Unknown(why) if matches!(**why, Why::LeftTo(_)))
}

/// The place of a value; of a list that of its first element that is stated.
fn place(value: &Value<'_>) -> Option<Span> {
    let Data::List(items) = &value.data else { return value.span };
    let stated = items.iter().find(|item| item.span.is_some() && !matches!(item.data, Data::Null));
    stated.or(items.first()).and_then(|item| item.span)
}

fn finding<'a>(rule: &'a Rule, asked: &Asked<'a>, eval: &mut Eval<'a>, used: Vec<Used<'a>>) -> Finding {
    let told = rule.told();
    let language = told.language;
    eval.widen(told.slots);
    let span = told.at.as_ref().and_then(|at| place(&eval.run(at).0)).unwrap_or(asked.entity.span());
    let mut related: Vec<Label> = Vec::new();
    for (at, text) in &told.labels {
        if let Some(place) = place(&eval.run(at).0) {
            related.push(Label { span: place, text: render(text, language, eval) });
        }
    }
    if told.labels.is_empty() {
        related.extend(used.iter().filter_map(|u| Some(Label { span: u.value.span?, text: in_words(u, language) })));
    }
    related.retain(|label| label.span != span && label.span.start < label.span.end && !label.text.is_empty());
    let mut seen = Vec::new();
    related.retain(|label| {
        !seen.contains(&label.span) && {
            seen.push(label.span);
            true
        }
    });
    related.truncate(MOST_LABELS);
    if let Some(place) = eval.use_of(span, asked.entity.span()) {
        related.push(Label { span: place, text: language.say("used here").into_owned() });
    }
    let wish = told.fix.as_ref().and_then(|fix| wish(fix, language, asked, eval));
    let proven = rule.configured || told.proof.as_ref().is_none_or(|proof| truth(eval.run(proof).0) == Truth::True);
    Finding {
        rule: rule.id.clone(),
        pack: rule.pack.clone(),
        severity: if proven { rule.severity } else { rule.severity.lower() },
        confidence: rule.confidence,
        span,
        message: render(&told.message, language, eval),
        meaning: told.meaning.as_ref().map(|meaning| render(meaning, Language::English, eval)),
        related,
        help: Some(render(&told.help, language, eval)).filter(|h| !h.is_empty()),
        entity: asked.name.clone(),
        values: Vec::new(),
        wish,
        fix: None,
        unlinted: None,
    }
}

/// What a rule asks to be written, where all of its values are known and stand where what was asked about does.
fn wish<'a>(fix: &'a Mending, language: Language, asked: &Asked<'a>, eval: &mut Eval<'a>) -> Option<Wish> {
    // What breaks a contract stands where its value does, which may be another file than that of the object.
    let breach = asked.entity.downcast::<Breach>();
    let own = breach.map_or(asked.entity.span(), |breach| breach.of.span);
    let known = |template: &'a Template, eval: &mut Eval<'a>| {
        let values =
            template.0.iter().filter_map(|part| if let Part::Value(typed) = part { Some(typed) } else { None });
        let known = values.into_iter().all(|typed| !matches!(eval.run(typed).0.data, Data::Null | Data::Unknown(_)));
        // What is nothing in the end was not known, either.
        known.then(|| render(template, Language::English, eval)).filter(|text| !text.is_empty())
    };
    let at = eval.run(&fix.at).0;
    let places = match &at.data {
        Data::List(items) => items.to_vec(),
        _ => vec![at],
    };
    let places = places.iter().map(|value| {
        let place = value.span.filter(|place| place.source == own.source && eval.use_of(*place, own).is_none())?;
        // What is not written would stand in the text that its place is.
        let written = match &value.data {
            Data::Node(_) => None,
            Data::Str(_) | Data::Int(_) | Data::Float(_) | Data::Bool(_) | Data::Version(_) => Some(value.to_string()),
            _ => return None,
        };
        Some((place, written))
    });
    let places: Vec<(Span, Option<String>)> = places.collect::<Option<_>>()?;
    let at_fault = breach.is_some_and(|breach| places.iter().all(|(place, _)| *place == breach.span));
    let (title, change) = match &fix.change {
        Change::Replace(text) => {
            let text = known(text, eval)?;
            (format!("write {text}"), finding::Change::Replace(text))
        }
        Change::Rename(key) => {
            let key = known(key, eval)?;
            (format!("write {key}"), finding::Change::Rename(key))
        }
        Change::Remove => {
            let texts: Vec<&str> = places.iter().filter_map(|(_, text)| text.as_deref()).collect();
            (format!("remove {}", texts.join(" ")), finding::Change::Remove)
        }
        Change::Set(path, value) => {
            let value = known(value, eval)?;
            (format!("write {}: {value}", path.join(".")), finding::Change::Set(path.clone(), value))
        }
    };
    Some(Wish { title: language.say(title).into_owned(), places, at_fault, change, safe: fix.safe })
}

/// A deciding fact in words: `tensor parallel: 4`.
fn in_words(used: &Used<'_>, language: Language) -> String {
    let name = used.path.rsplit('.').next().unwrap_or(used.path).replace('_', " ");
    let name = name.split(['[', '(']).next().unwrap_or("").trim().to_owned();
    if name.is_empty() { used.value.to_string() } else { format!("{}: {}", language.say(name), used.value) }
}

/// Longest message.
const LONGEST: usize = 8 << 10;

fn render<'a>(template: &'a Template, language: Language, eval: &mut Eval<'a>) -> String {
    let mut out = String::new();
    for part in &template.0 {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Value(typed) => out.push_str(&language.say(eval.shown(typed))),
        }
        if out.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|&at| out.is_char_boundary(at)).unwrap_or_default();
            out.truncate(end);
            out.push('…');
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Facts, NodePool, Service, Workload};
    use crate::known::Fact;
    use crate::link::{Directories, Variant};
    use crate::source::{Source, Sources};
    use std::sync::Arc;

    const SPAN: Span = Span { source: SourceId(0), start: 0, end: 1 };

    /// Entities and messages of what a rule finds in the first of some things that are deployed.
    fn found(things: Vec<Facts>, rule: &str) -> Vec<(String, String)> {
        let findings = asked(things, &rules(rule)).findings;
        findings.into_iter().map(|finding| (finding.entity, finding.message)).collect()
    }

    fn asked(things: Vec<Facts>, rules: &Ruleset) -> Evaluation {
        let sources = Sources::new(vec![Source::new("a.yaml", "x")]);
        let thing =
            |(i, facts): (u32, Facts)| Variant { thing: Some(SourceId(i)), first: true, ..Variant::plain(facts) };
        let mut variants: Vec<Variant> = (0..).zip(things).map(thing).collect();
        variants.push(Variant::plain(Facts::default()));
        let directories = Directories::of(&sources);
        let layout = Layout::of(&variants, &directories);
        evaluate(Deployed::of(&variants, &layout), &["a.yaml"], rules).swap_remove(0)
    }

    fn rules(rule: &str) -> Ruleset {
        let mut rules = Ruleset::empty();
        let page = "id: it\npack: p\nseverity: error\nhelp: h\nwhy: w\nreferences: ['https://a.example']\n\
                    examples: [{fires: {a.yaml: ''}}]\n";
        let problems = rules.add(SourceId(0), "it.yaml", &format!("{page}{rule}"));
        assert!(problems.is_empty(), "{problems:?}");
        rules
    }

    fn pool(name: &str) -> Arc<NodePool> {
        Arc::new(NodePool { name: Fact::value(name.to_owned(), SPAN), ..NodePool::blank(SPAN) })
    }

    #[test]
    fn what_else_is_deployed_is_known_and_not_asked_about() {
        let mut workload = Workload::blank(SPAN);
        workload.name = Fact::value("w".to_owned(), SPAN);
        let facts = |pool_name: &str| Facts {
            pools: vec![pool(pool_name)],
            workloads: vec![workload.clone()],
            ..Facts::default()
        };
        let of = |subject: &str| {
            let sizes = "message: \"{pools().size()} {workloads().size()}\"";
            let both = vec![facts("mine"), facts("other")];
            found(both, &format!("applies_to: {subject}\nforbid: \"true\"\n{sizes}"))
        };
        assert_eq!(of("pool"), [("mine".to_owned(), "2 2".to_owned())], "a pool is there for all that run");
        assert_eq!(of("workload"), [("w".to_owned(), "2 1".to_owned())], "a workload is there for its own");
    }

    #[test]
    fn without_proof_a_finding_is_one_severity_lower() {
        let rule = "applies_to: pool\nproof: \"pool.gpu_count > 1\"\nforbid: \"true\"\nmessage: m";
        let severity = |gpus: Fact<i64>, set: &Ruleset| {
            let facts = Facts {
                pools: vec![Arc::new(NodePool { gpu_count: gpus, ..NodePool::blank(SPAN) })],
                ..Facts::default()
            };
            asked(vec![facts], set).findings[0].severity
        };
        assert_eq!(severity(Fact::value(8, SPAN), &rules(rule)), Severity::Error);
        assert_eq!(severity(Fact::value(1, SPAN), &rules(rule)), Severity::Warning);
        let unknown = || Fact::unknown(crate::known::Why::Template, SPAN);
        assert_eq!(severity(unknown(), &rules(rule)), Severity::Warning, "what is not known proves nothing");
        let mut set = rules(rule);
        set.set_severity("it", Some(Severity::Error)).expect("a rule");
        assert_eq!(severity(unknown(), &set), Severity::Error, "who says how bad it is has it so");
    }

    #[test]
    fn rules_that_take_too_much_are_told_once_of_a_file() {
        let long = || Arc::new(NodePool { name: Fact::value("x".repeat(4 << 20), SPAN), ..NodePool::blank(SPAN) });
        let facts = Facts { pools: vec![long(), long()], ..Facts::default() };
        let numbers = (0..20).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let forbid = format!("forbid: \"[{numbers}].exists(n, (pool.name + string(n)).lower() == 'x')\"");
        let evaluation = asked(vec![facts], &rules(&format!("applies_to: pool\n{forbid}\nmessage: m")));
        let told: Vec<(&str, &str)> =
            evaluation.findings.iter().map(|finding| (&*finding.rule, &*finding.message)).collect();
        let message = "not linted: some rules were not asked, as it takes more work than one file may ask for";
        assert_eq!(told, [("file-not-linted", message)]);
    }

    #[test]
    fn a_scope_that_cannot_be_told_counts_unless_something_else_decides() {
        let mut pool = NodePool::blank(SPAN);
        pool.gpu_count = Fact::unknown(crate::known::Why::Template, SPAN);
        pool.name = Fact::value("p".to_owned(), SPAN);
        let facts = Facts { pools: vec![Arc::new(pool)], ..Facts::default() };
        let undecided = |when: &str, forbid: &str| {
            let rules = rules(&format!("applies_to: pool\nwhen: {when}\nforbid: {forbid}\nmessage: m"));
            let evaluation = asked(vec![facts.clone()], &rules);
            assert!(evaluation.findings.is_empty());
            evaluation.undecided.len()
        };
        assert_eq!(undecided("pool.gpu_count > 1", "pool.name == 'p'"), 1);
        assert_eq!(undecided("pool.gpu_count > 1 && pool.name == 'q'", "pool.name == 'p'"), 0);
        assert_eq!(undecided("pool.gpu_count > 1", "pool.name == 'q'"), 0);
        assert_eq!(undecided("pool.name == 'q'", "pool.gpu_count > 1"), 0);
    }

    #[test]
    fn what_runs_later_and_fills_in_is_no_question() {
        let undecided = |why: Why| {
            let mut pool = NodePool::blank(SPAN);
            pool.gpu_count = Fact::unknown(why, SPAN);
            let facts = Facts { pools: vec![Arc::new(pool)], ..Facts::default() };
            let rules = rules("applies_to: pool\nforbid: pool.gpu_count > 1\nmessage: m");
            asked(vec![facts], &rules).undecided.len()
        };
        assert_eq!(undecided(Why::LeftTo("an operator".into())), 0);
        assert_eq!(undecided(Why::Remote("a data source".into()).perhaps()), 1);
        assert_eq!(undecided(Why::Template.perhaps()), 1);
    }

    #[test]
    fn of_several_places_the_first_that_is_stated_is_shown() {
        let at = |start: u32| Span { start, end: start + 1, ..SPAN };
        let mut pool = NodePool::blank(SPAN);
        pool.name = Fact::value("p".to_owned(), at(1));
        pool.min_nodes = Fact::absent(at(2));
        pool.max_nodes = Fact::unknown(crate::known::Why::Template, at(3));
        let facts = Facts { pools: vec![Arc::new(pool)], ..Facts::default() };
        let place = |list: &str| {
            let rules = rules(&format!("applies_to: pool\nforbid: \"true\"\nmessage: m\nat: \"{list}\""));
            asked(vec![facts.clone()], &rules).findings[0].span.start
        };
        assert_eq!(place("[pool.min_nodes, pool.max_nodes, pool.name]"), 3);
        assert_eq!(place("[pool.min_nodes, pool.driver]"), 2);
        assert_eq!(place("pool.name"), 1);
    }

    #[test]
    fn a_service_knows_the_workload_that_it_is_joined_with() {
        // Two documents of one template state the same place.
        let service =
            |name: &str| Arc::new(Service { name: Fact::value(name.to_owned(), SPAN), ..Service::blank(SPAN) });
        let services = vec![service("a"), service("b")];
        let mut workload = Workload::blank(SPAN);
        workload.name = Fact::value("w".to_owned(), SPAN);
        workload.services = vec![Arc::clone(&services[1])];
        let facts = Facts { workloads: vec![workload], services, ..Facts::default() };
        let rule = "applies_to: service\nforbid: workload.name == 'w'\nmessage: \"{service.name}\"";
        assert_eq!(found(vec![facts], rule), [("b".to_owned(), "b".to_owned())]);
    }
}
