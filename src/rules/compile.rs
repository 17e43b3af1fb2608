//! Rule texts into checked rules: every name resolved, every type checked, all faults at once.

use super::lang::check::{Const, Scope, Typed, Variable, accepts};
use super::lang::open::Openness;
use super::load;
use super::text::{FixText, ParamText, RuleText, Words};
use crate::facts::value::Type;
use crate::facts::{Subject, is_joined, subjects};
use crate::finding::{Confidence, Severity};
use crate::language::Language;
use crate::parse::expression::{self as ast, Fault, Piece};
use crate::source::SourceId;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Names that a rule may bind: each may use the one before it, and what is nested is walked into.
const MOST_LETS: usize = 100;

/// A checked rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Noun phrase naming the fault.
    pub id: String,
    /// Pack it belongs to.
    pub pack: String,
    /// How bad, after overrides.
    pub severity: Severity,
    /// Whether a configuration says how bad, so that it is so with or without proof.
    pub configured: bool,
    /// How sure.
    pub confidence: Confidence,
    /// What it is asked about.
    pub subject: &'static Subject,
    /// Kinds of raw documents; empty for every other subject.
    pub kinds: Vec<String>,
    /// Slot and list of `each`.
    pub each: Option<(usize, Typed)>,
    /// Slots and expressions of bindings.
    pub lets: Vec<(usize, Typed)>,
    /// Values of parameters, after overrides.
    pub params: Vec<Const>,
    /// Names and types of parameters.
    pub param_types: Vec<(String, Type)>,
    /// Precondition.
    pub when: Option<Typed>,
    /// What must not be so.
    pub forbid: Typed,
    /// How many slots an evaluation needs.
    pub slots: usize,
    /// Whether it is none of the built-in ones.
    pub added: bool,
    /// What could be said better.
    pub advice: Vec<RuleFault>,
    told: OnceLock<Told>,
    /// What it takes to read what it says.
    unread: Option<Box<Unread>>,
}

/// What it takes to read what a rule says.
#[derive(Debug, Clone)]
struct Unread {
    text: RuleText,
    scope: Scope,
    /// The file that has its words in Chinese, where they are wanted.
    chinese: Option<Cow<'static, str>>,
}

impl Unread {
    /// The texts in the language that is wanted. The page of a rule is not read for less.
    fn told(&self) -> Option<RuleText> {
        let (loaded, _) = load::load(SourceId(0), self.chinese.as_deref()?);
        let page = loaded.into_iter().find(|loaded| loaded.text.id == self.text.id)?.page;
        Some(self.text.told(&page.zh))
    }
}

/// What a rule says where it fires.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// What has to hold for the severity; else it is one lower.
    pub proof: Option<Typed>,
    /// Primary place.
    pub at: Option<Typed>,
    /// Explicit labels.
    pub labels: Vec<(Typed, Template)>,
    /// The language that it is said in.
    pub language: Language,
    /// What is wrong.
    pub message: Template,
    /// The same in English, where that is another text.
    pub meaning: Option<Template>,
    /// What to do.
    pub help: Template,
    /// Suggested change.
    pub fix: Option<Mending>,
    /// How many slots that takes.
    pub slots: usize,
}

/// A suggested change: where, what, and whether it keeps the meaning of everything else.
#[derive(Debug, Clone)]
pub struct Mending {
    /// A place, or several.
    pub at: Typed,
    /// What is done there.
    pub change: Change,
    /// Whether it keeps the meaning of everything else.
    pub safe: bool,
}

/// What a fix does at a place.
#[derive(Debug, Clone)]
pub enum Change {
    /// Writes another text.
    Replace(Template),
    /// Gives the entry another key.
    Rename(Template),
    /// Leaves the entry out.
    Remove,
    /// Writes a key, by its path, and its value beside the entry.
    Set(Vec<String>, Template),
}

impl Rule {
    /// What it says; of a built-in rule it is read when it first fires.
    pub fn told(&self) -> &Told {
        self.told.get_or_init(|| {
            let Some(unread) = self.unread.as_deref() else { return Told::default() };
            let Unread { text, scope, .. } = unread;
            let mut compiler = Compiler { scope: scope.clone(), ..Compiler::default() };
            match unread.told() {
                None => compiler.told(text),
                Some(chinese) => {
                    let meaning = Some(compiler.template("message", &text.message));
                    Told { meaning, language: Language::Chinese, ..compiler.told(&chinese) }
                }
            }
        })
    }
}

/// A message with values in it.
#[derive(Debug, Clone, Default)]
pub struct Template(pub Vec<Part>);

/// A part of a message.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// A value to show.
    Value(Typed),
}

/// A fault of a rule: which text, where in it, what.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFault {
    /// Dotted path of the text in the rule file: `forbid`, `let.need`, `labels.0.text`.
    pub field: String,
    /// Bytes of that text; the whole of it when `None`.
    pub range: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
}

#[derive(Default)]
struct Compiler {
    scope: Scope,
    /// How many of its variables the subject binds.
    given: usize,
    faults: Vec<RuleFault>,
}

/// Checks a rule's texts, and its words in Chinese.
///
/// # Errors
/// Every fault of every text of the rule.
pub fn compile(text: &RuleText, zh: &Words) -> Result<Rule, Vec<RuleFault>> {
    let mut compiler = Compiler::default();
    if let Some(mut rule) = compiler.asked(text) {
        rule.told = OnceLock::from(compiler.told(text));
        compiler.words(zh, text.labels.len());
        compiler.unused(&text.lets);
        rule.advice = rule.when.as_ref().and_then(|when| compiler.beyond_scope(when, &rule.lets)).into_iter().collect();
        if compiler.faults.is_empty() {
            return Ok(rule);
        }
    }
    Err(compiler.faults)
}

/// A rule that was checked before: what it says is read when it fires, as most rules never do; `chinese` is its file, where
/// it shall be told in Chinese.
pub fn checked(text: RuleText, chinese: Option<Cow<'static, str>>) -> Option<Rule> {
    let mut compiler = Compiler::default();
    compiler.scope.checked = true;
    let rule = compiler.asked(&text)?;
    Some(Rule { unread: Some(Box::new(Unread { text, scope: compiler.scope, chinese })), ..rule })
}

/// A condition about a subject that needs no names of a rule, and how many slots an evaluation needs.
pub fn condition(subject: &str, text: &str) -> Option<(Typed, usize)> {
    let mut compiler = Compiler::default();
    let (_, variables) = subjects().iter().find(|(known, _)| known.name == subject)?;
    for (name, ty) in variables {
        compiler.scope.declare(name, ty.clone());
    }
    let typed = compiler.condition("when", text);
    compiler.faults.is_empty().then_some((typed, compiler.scope.variables.len()))
}

impl Compiler {
    fn fault(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.faults.push(RuleFault { field: field.into(), range: None, message: message.into() });
    }

    fn take_faults(&mut self, field: &str) {
        let faults = std::mem::take(&mut self.scope.faults);
        self.faults.extend(faults.into_iter().map(|Fault { range, message }| RuleFault {
            field: field.to_owned(),
            range: Some(range),
            message,
        }));
    }

    fn expression(&mut self, field: &str, text: &str) -> Typed {
        let typed = match ast::expression(text) {
            Ok(expr) => self.scope.check(&expr, text),
            Err(fault) => {
                self.scope.faults.push(fault);
                Typed::null()
            }
        };
        self.take_faults(field);
        typed
    }

    fn condition(&mut self, field: &str, text: &str) -> Typed {
        let typed = self.expression(field, text);
        if !accepts(&Type::Bool, &typed.ty) {
            self.fault(field, format!("must be true or false, not a {}", typed.ty));
        }
        typed
    }

    fn template(&mut self, field: &str, text: &str) -> Template {
        let parts = match ast::template(text) {
            Ok(pieces) => pieces
                .into_iter()
                .map(|piece| match piece {
                    Piece::Text(text) => Part::Text(text),
                    Piece::Expr(expr) => Part::Value(self.scope.check(&expr, text)),
                })
                .collect(),
            Err(fault) => {
                self.scope.faults.push(fault);
                Vec::new()
            }
        };
        self.take_faults(field);
        Template(parts)
    }

    /// What is asked, and of what.
    fn asked(&mut self, text: &RuleText) -> Option<Rule> {
        let severity = Severity::parse(&text.severity);
        if severity.is_none() {
            self.fault("severity", "must be error, warning or info");
        }
        let confidence = Confidence::parse(&text.confidence);
        if confidence.is_none() {
            self.fault("confidence", "must be high, medium or low");
        }
        let subjects = subjects();
        let Some((subject, variables)) = subjects.iter().find(|(subject, _)| subject.name == text.applies_to) else {
            let known = subjects.iter().map(|(subject, _)| subject.name);
            let hint = crate::suggest::did_you_mean(&text.applies_to, known);
            self.fault("applies_to", format!("unknown entity `{}`{hint}", text.applies_to));
            return None;
        };
        for (name, ty) in variables {
            self.scope.declare(name, ty.clone());
        }
        self.given = self.scope.variables.len();
        let params = self.params(&text.params);
        let each = text.each.as_ref().map(|(name, list)| {
            let list = self.expression(&format!("each.{name}"), list);
            let item = match &list.ty {
                Type::List(item) | Type::Map(item) => (**item).clone(),
                _ => Type::Dyn,
            };
            (self.scope.open_loop(name, item), list)
        });
        let lets = self.lets(&text.lets)?;
        let when = text.when.as_ref().map(|w| self.condition("when", w));
        let forbid = self.condition("forbid", &text.forbid);
        Some(Rule {
            id: text.id.clone(),
            pack: text.pack.clone(),
            severity: severity?,
            configured: false,
            confidence: confidence?,
            subject,
            kinds: text.kinds.clone(),
            each,
            lets,
            params,
            param_types: self.scope.params.iter().map(|p| (p.name.clone(), p.ty.clone())).collect(),
            when,
            forbid,
            slots: self.scope.variables.len(),
            added: false,
            advice: Vec::new(),
            told: OnceLock::new(),
            unread: None,
        })
    }

    /// What it says where it fires.
    fn told(&mut self, text: &RuleText) -> Told {
        let at = text.at.as_ref().map(|a| self.expression("at", a));
        let labels = self.labels(&text.labels);
        let message = self.template("message", &text.message);
        let help = self.template("help", &text.help);
        let fix = text.fix.as_ref().and_then(|fix| self.fix(fix));
        let proof = text.proof.as_ref().map(|proof| self.condition("proof", proof));
        let slots = self.scope.variables.len();
        Told { at, labels, message, help, fix, proof, slots, ..Told::default() }
    }

    fn fix(&mut self, fix: &FixText) -> Option<Mending> {
        let at = self.expression("fix.at", &fix.at);
        let change = match (&fix.replace, &fix.rename, fix.remove, &fix.set) {
            (Some(text), None, false, None) => Change::Replace(self.template("fix.replace", text)),
            (None, Some(key), false, None) => Change::Rename(self.template("fix.rename", key)),
            (None, None, true, None) => Change::Remove,
            (None, None, false, Some((key, value))) => {
                let value = self.template(&format!("fix.set.{key}"), value);
                match path(key) {
                    Some(path) => Change::Set(path, value),
                    None => {
                        self.fault("fix.set", "the key is a path like `spec.replicas` or `labels[\"a.b/c\"]`");
                        return None;
                    }
                }
            }
            _ => {
                self.fault("fix", "a fix has one of `replace`, `rename`, `remove: true` and `set`");
                return None;
            }
        };
        Some(Mending { at, change, safe: fix.safe })
    }

    /// Checks the words of another language.
    fn words(&mut self, words: &Words, labels: usize) {
        let texts = [("message", &words.message), ("help", &words.help)];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((format!("zh.{key}"), text.as_ref()?)));
        let of_labels = words.labels.iter().enumerate().map(|(i, text)| (format!("zh.labels.{i}"), text));
        texts.chain(of_labels).for_each(|(field, text)| drop(self.template(&field, text)));
        if ![0, labels].contains(&words.labels.len()) {
            self.fault("zh.labels", format!("one text for each of the {labels} labels"));
        }
    }

    fn lets(&mut self, lets: &[(String, String)]) -> Option<Vec<(usize, Typed)>> {
        if lets.len() > MOST_LETS {
            self.fault("let", format!("more than {MOST_LETS} names"));
            return None;
        }
        let mut bound = Vec::with_capacity(lets.len());
        for (name, expr) in lets {
            let typed = self.expression(&format!("let.{name}"), expr);
            bound.push((self.scope.bind(name, &typed), typed));
        }
        Some(bound)
    }

    fn labels(&mut self, labels: &[(String, String)]) -> Vec<(Typed, Template)> {
        let label = |(i, (at, text)): (usize, &(String, String))| {
            (self.expression(&format!("labels.{i}.at"), at), self.template(&format!("labels.{i}.text"), text))
        };
        labels.iter().enumerate().map(label).collect()
    }

    /// Faults of names and parameters that nothing uses.
    fn unused(&mut self, lets: &[(String, String)]) {
        let unused = |all: &[Variable]| -> Vec<String> {
            all.iter().filter(|one| !one.used).map(|one| one.name.clone()).collect()
        };
        let names = unused(&self.scope.variables[self.given..]);
        for name in names.iter().filter(|name| lets.iter().any(|(bound, _)| bound == *name)) {
            self.fault(format!("let.{name}"), format!("`{name}` is never used"));
        }
        for name in unused(&self.scope.params) {
            self.fault(format!("params.{name}"), format!("the parameter `{name}` is never used"));
        }
    }

    /// The part of a scope that may be unknown, where it should be told at once whether a rule is asked.
    fn beyond_scope(&self, when: &Typed, lets: &[(usize, Typed)]) -> Option<RuleFault> {
        let variables = self.scope.variables.iter().enumerate();
        let joined = variables.filter(|(_, variable)| is_joined(&variable.name)).map(|(slot, _)| slot).collect();
        let part = Openness::new(joined, lets).of(when)?;
        let why = "may be unknown although the file at hand was read whole: move it to `forbid`";
        let range = Some(part.start..part.start + part.text.len());
        Some(RuleFault { field: "when".to_owned(), range, message: format!("`{}` {why}", part.text) })
    }

    fn params(&mut self, params: &[ParamText]) -> Vec<Const> {
        params
            .iter()
            .map(|param| {
                let (ty, value) = match parameter(&param.ty, &param.default) {
                    Ok(found) => found,
                    Err(message) => {
                        self.fault(format!("params.{}", param.name), message);
                        (Type::Dyn, Const::Null)
                    }
                };
                self.scope.params.push(Variable { name: param.name.clone(), ty, used: false, loops: 0, asks: false });
                value
            })
            .collect()
    }
}

/// The keys of a path: `a.b["c.d"]`.
fn path(text: &str) -> Option<Vec<String>> {
    let (mut out, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (key, behind) = match rest.strip_prefix("[\"") {
            Some(quoted) => quoted.split_once("\"]")?,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        out.push(Some(key.to_owned()).filter(|key| !key.is_empty())?);
        rest = behind.strip_prefix('.').unwrap_or(behind);
    }
    (!out.is_empty()).then_some(out)
}

/// Reads a parameter's type and value.
///
/// # Errors
/// The type is not one of those that parameters have, or the value is not of it.
pub fn parameter(ty: &str, value: &[String]) -> Result<(Type, Const), String> {
    let one = value.first().map_or("", String::as_str);
    let wrong = || format!("{one:?} is no {ty}");
    Ok(match ty {
        "int" => (Type::Int, Const::Int(one.parse().map_err(|_| wrong())?)),
        "double" => (Type::Float, Const::Float(one.parse().map_err(|_| wrong())?)),
        "bool" => (Type::Bool, Const::Bool(one.parse().map_err(|_| wrong())?)),
        "string" => (Type::Str, Const::Str(one.to_owned())),
        "list(string)" => {
            (Type::List(Box::new(Type::Str)), Const::List(value.iter().cloned().map(Const::Str).collect()))
        }
        _ => return Err(format!("unknown type `{ty}`: int, double, bool, string or list(string)")),
    })
}
