//! For each entity, for each rule: ask, record. Knows facts and rules; does no input or output and knows no
//! configuration.

use crate::facts::value::{Data, Entity, Reflect, Value};
use crate::facts::{Facts, Workload};
use crate::finding::{Finding, Fix, Label, Severity, Undecided};
use crate::rules::Ruleset;
use crate::rules::compile::{Part, Rule, Subject, Template};
use crate::rules::functions::Context;
use crate::rules::lang::eval::{Eval, Truth, Used, elements, truth};
use crate::source::Span;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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
    subject: Subject,
    kind: Option<&'a str>,
    variables: Vec<Value<'a>>,
    span: Span,
    name: String,
}

/// How many entities of each kind facts hold: a mark before more are added.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark([usize; 12]);

impl Mark {
    /// The end of what is there.
    pub fn of(facts: &Facts) -> Self {
        Self([
            facts.workloads.len(),
            facts.pools.len(),
            facts.clusters.len(),
            facts.builds.len(),
            facts.package_files.len(),
            facts.releases.len(),
            facts.autoscalers.len(),
            facts.services.len(),
            facts.routes.len(),
            facts.budgets.len(),
            facts.objects.len(),
            facts.resources.len(),
        ])
    }

    /// The same, past the package files: joining lists what builds install, which they were asked about before.
    pub fn past_package_files(mut self, facts: &Facts) -> Self {
        self.0[4] = facts.package_files.len();
        self
    }

    /// Positions, among all entities of `facts`, of those that were added after this mark.
    fn added(self, facts: &Facts) -> Vec<usize> {
        let mut out = Vec::new();
        let mut offset = 0;
        for (before, now) in self.0.into_iter().zip(Mark::of(facts).0) {
            out.extend(offset + before..offset + now);
            offset += now;
        }
        out
    }
}

/// Asks every rule about every entity. The order of the result does not depend on threads.
pub fn evaluate(facts: &Facts, paths: &[&str], rules: &Ruleset) -> Evaluation {
    evaluate_since(Mark::default(), facts, paths, rules)
}

/// Asks every rule about the entities that were added after the mark; the others are what they are joined with.
pub fn evaluate_since(mark: Mark, facts: &Facts, paths: &[&str], rules: &Ruleset) -> Evaluation {
    let context = Context::new(facts, paths);
    let parts: Vec<Evaluation> = mark
        .added(facts)
        .into_par_iter()
        .map(|index| {
            let mut part = Evaluation::default();
            for asked in asked(facts, index) {
                for rule in rules.about(asked.subject, asked.kind) {
                    // A rule that panics is a finding at what it was asked about; the others are asked all the same.
                    if catch_unwind(AssertUnwindSafe(|| ask(rule, &asked, &context, &mut part))).is_err() {
                        let message = format!("gpulint failed on the rule {} here; please report it", rule.id);
                        part.findings.push(Finding::own("internal-error", Severity::Error, asked.span, message));
                    }
                }
            }
            part
        })
        .collect();
    let mut all = Evaluation::default();
    for part in parts {
        all.findings.extend(part.findings);
        all.undecided.extend(part.undecided);
    }
    all.settle();
    all
}

impl Evaluation {
    /// Puts findings and what is undecided in the order of places, each once.
    pub fn settle(&mut self) {
        self.findings.sort_by(|a, b| (a.span, &a.rule, &a.message).cmp(&(b.span, &b.rule, &b.message)));
        self.findings.dedup_by(|a, b| a.span == b.span && a.rule == b.rule && a.message == b.message);
        self.undecided.sort_by(|a, b| (a.span, &a.rule).cmp(&(b.span, &b.rule)));
        self.undecided.dedup_by(|a, b| a.span == b.span && a.rule == b.rule);
    }
}

fn entity<E: Entity>(entity: &E) -> Value<'_> {
    Value::at(Data::Entity(entity), entity.span())
}

fn maybe<E: Reflect>(entity: Option<&E>) -> Value<'_> {
    entity.map_or(Value::of(Data::Null), Reflect::reflect)
}

/// The entities of one unit of work: a workload with its pods and containers, or one other entity.
fn asked(facts: &Facts, index: usize) -> Vec<Asked<'_>> {
    let mut index = index;
    if let Some(workload) = facts.workloads.get(index) {
        return about_workload(workload);
    }
    index -= facts.workloads.len();
    macro_rules! plain {
        ($list:ident, $subject:ident, |$e:ident| $variables:expr) => {
            if let Some($e) = facts.$list.get(index) {
                let name = $e.name.get().cloned().unwrap_or_default();
                return one(Subject::$subject, $variables, $e.span, name);
            }
            index -= facts.$list.len();
        };
    }
    plain!(pools, Pool, |e| vec![entity(&**e)]);
    plain!(clusters, Cluster, |e| vec![entity(&**e)]);
    if let Some(build) = facts.builds.get(index) {
        let path = build.path.get().cloned().unwrap_or_default();
        let variables = vec![entity(&**build), maybe(build.software.as_ref()), entity(&build.base)];
        return one(Subject::Build, variables, build.span, path);
    }
    index -= facts.builds.len();
    if let Some(file) = facts.package_files.get(index) {
        return one(
            Subject::PackageFile,
            vec![entity(&**file)],
            file.span,
            file.path.get().cloned().unwrap_or_default(),
        );
    }
    index -= facts.package_files.len();
    plain!(releases, Release, |e| vec![entity(&**e)]);
    plain!(autoscalers, Autoscaler, |e| vec![entity(&**e), maybe(joined(facts, |w| has(&w.autoscalers, e)))]);
    plain!(services, Service, |e| vec![entity(&**e), maybe(joined(facts, |w| has(&w.services, e)))]);
    plain!(routes, Route, |e| vec![entity(&**e), maybe(joined(facts, |w| has(&w.routes, e)))]);
    plain!(budgets, Budget, |e| vec![entity(&**e), maybe(joined(facts, |w| has(&w.budgets, e)))]);
    if let Some(object) = facts.objects.get(index) {
        let kind = object.kind.get().map_or("", String::as_str);
        let name = object.name.get().map_or("", String::as_str);
        let mut asked = one(
            Subject::Object,
            vec![entity(&**object), maybe(object.body.as_ref())],
            object.span,
            format!("{kind}/{name}"),
        );
        asked[0].kind = Some(kind);
        return asked;
    }
    index -= facts.objects.len();
    let resource = &facts.resources[index];
    let kind = resource.r#type.get().map_or("", String::as_str);
    let name = format!("{kind}.{}", resource.name.get().map_or("", String::as_str));
    let mut asked =
        one(Subject::Resource, vec![entity(&**resource), maybe(resource.body.as_ref())], resource.span, name);
    asked[0].kind = Some(kind);
    asked
}

fn one<'a>(subject: Subject, variables: Vec<Value<'a>>, span: Span, name: String) -> Vec<Asked<'a>> {
    vec![Asked { subject, kind: None, variables, span, name }]
}

fn has<T>(list: &[Arc<T>], wanted: &Arc<T>) -> bool {
    list.iter().any(|item| Arc::ptr_eq(item, wanted))
}

fn joined(facts: &Facts, is: impl Fn(&Workload) -> bool) -> Option<&Workload> {
    facts.workloads.iter().find(|w| is(w))
}

fn about_workload(workload: &Workload) -> Vec<Asked<'_>> {
    let text = |fact: &crate::known::Fact<String>| fact.get().cloned();
    let name = [text(&workload.kind), text(&workload.namespace), text(&workload.name)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("/");
    let mut out = one(Subject::Workload, vec![entity(workload)], workload.span, name.clone());
    for pod in &workload.pods {
        let node = maybe(pod.node.as_ref());
        let variables = vec![entity(workload), entity(pod), node.clone()];
        out.extend(one(Subject::Pod, variables.clone(), pod.span, name.clone()));
        for container in pod.containers.iter().chain(&pod.init_containers) {
            let mut variables = variables.clone();
            variables.extend([
                entity(container),
                entity(&container.image),
                maybe(container.launch.as_ref()),
                maybe(container.software.as_ref()),
            ]);
            let container_name = container.name.get().map(|n| format!("{name} container {n}"));
            out.extend(one(Subject::Container, variables, container.span, container_name.unwrap_or(name.clone())));
        }
    }
    out
}

/// Asks one rule about one entity (or about each element of its list).
fn ask<'a>(rule: &'a Rule, asked: &Asked<'a>, context: &'a Context<'a>, out: &mut Evaluation) {
    let mut eval = Eval::new(context, &rule.params, &rule.lets, rule.slots);
    for (slot, value) in asked.variables.iter().enumerate() {
        eval.set(slot, value.clone());
    }
    match &rule.each {
        None => decide(rule, asked, &mut eval, out),
        Some((slot, list)) => {
            let (list, _) = eval.run(list);
            for item in elements(&list) {
                eval.forget_lets();
                eval.set(*slot, item);
                decide(rule, asked, &mut eval, out);
            }
        }
    }
}

fn decide<'a>(rule: &'a Rule, asked: &Asked<'a>, eval: &mut Eval<'a>, out: &mut Evaluation) {
    if let Some(when) = &rule.when
        && truth(eval.run(when).0) != Truth::True
    {
        return;
    }
    let (verdict, used) = eval.run(&rule.forbid);
    match truth(verdict) {
        Truth::True => out.findings.push(finding(rule, asked, eval, used)),
        Truth::Unknown(Value { data: Data::Unknown(why), span }) => out.undecided.push(Undecided {
            pack: rule.pack.clone(),
            confidence: rule.confidence,
            rule: rule.id.clone(),
            span: span.unwrap_or(asked.span),
            why: why.to_string(),
            entity: asked.name.clone(),
        }),
        Truth::Unknown(_) | Truth::False => {}
    }
}

fn finding<'a>(rule: &'a Rule, asked: &Asked<'a>, eval: &mut Eval<'a>, used: Vec<Used>) -> Finding {
    let span = rule.at.as_ref().and_then(|at| eval.run(at).0.span).unwrap_or(asked.span);
    let mut related: Vec<Label> = Vec::new();
    for (at, text) in &rule.labels {
        if let Some(place) = eval.run(at).0.span {
            related.push(Label { span: place, text: render(text, eval) });
        }
    }
    if rule.labels.is_empty() {
        related.extend(used.iter().map(|u| Label { span: u.span, text: told(u) }));
    }
    related.retain(|label| label.span != span && !label.text.is_empty());
    let mut seen = Vec::new();
    related.retain(|label| {
        !seen.contains(&label.span) && {
            seen.push(label.span);
            true
        }
    });
    related.truncate(MOST_LABELS);
    if let Some(place) = eval.facts().use_of(span, asked.span) {
        related.push(Label { span: place, text: "used here".to_owned() });
    }
    let fix = rule.fix.as_ref().and_then(|(at, replacement, safe)| {
        let place = eval.run(at).0.span?;
        Some(Fix { span: place, replacement: render(replacement, eval), safe: *safe })
    });
    Finding {
        rule: rule.id.clone(),
        pack: rule.pack.clone(),
        severity: rule.severity,
        confidence: rule.confidence,
        span,
        message: render(&rule.message, eval),
        label: String::new(),
        related,
        help: Some(render(&rule.help, eval)).filter(|h| !h.is_empty()),
        url: None,
        entity: asked.name.clone(),
        values: Vec::new(),
        fix,
    }
}

/// A deciding fact in words: `tensor parallel: 4`.
fn told(used: &Used) -> String {
    let name = used.path.rsplit('.').next().unwrap_or(&used.path).replace('_', " ");
    let name = name.split(['[', '(']).next().unwrap_or("").trim().to_owned();
    if name.is_empty() { used.shown.clone() } else { format!("{name}: {}", used.shown) }
}

fn render<'a>(template: &'a Template, eval: &mut Eval<'a>) -> String {
    template
        .0
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(typed) => eval.run(typed).0.to_string(),
        })
        .collect()
}
