//! An object against a schema, three-valued: what is not known breaks nothing, and neither does what depends on it.

use super::cel::{self, Verdict};
use super::pack::{self, Node, flags, types};
use super::value::{against, is_null, wrong_value};
use super::{Breach, blocks, repeated};
use crate::budget::{NODE, STEP, Share, Spent};
use crate::catalog::are_distinct;
use crate::facts::BreachClass as Class;
use crate::known::Known;
use crate::parse::{Shape, View, placeholder};
use crate::source::Span;
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

/// Where a value stands in its object: the path of its field, and those of the objects around it with their schemas.
struct Place {
    path: String,
    above: Vec<(String, u32)>,
}

/// How a document comes to its schema.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Whether it is an object of Kubernetes, with apiVersion, kind and metadata.
    pub of_kubernetes: bool,
    /// Whether it comes to the schema of a definition as it is written, as no webhook writes it anew before: then what is
    /// empty or null is not as good as nothing.
    pub as_written: bool,
    /// Whether it is a block of Terraform.
    pub blocks: bool,
}

/// Where the keys of an object stand.
type Keys<'t> = HashMap<&'t str, Span>;

struct Judge<'s> {
    share: &'s Share,
    /// How it comes to the schema.
    manner: Manner,
    /// The fields that are looked at, where it is not all.
    only: Option<BTreeSet<&'s str>>,
    found: Vec<Breach>,
    /// Rules that cannot be answered.
    unanswered: Vec<Breach>,
}

/// What of a value breaks a schema, an object of Kubernetes or another document; of `only` where that is given: what another
/// release takes is asked no more.
///
/// # Errors
/// The share is spent.
pub fn breaches(
    object: View<'_>,
    (root, manner): (u32, Manner),
    only: Option<&[Breach]>,
    share: &Share,
) -> Result<Vec<Breach>, Spent> {
    let only = only.map(|only| only.iter().map(|breach| breach.field.as_str()).collect());
    let mut judge = Judge { share, manner, only, found: Vec::new(), unanswered: Vec::new() };
    judge.value(object, root, &mut Place { path: String::new(), above: Vec::new() })?;
    // The API server asks no rules of an object where something is missing or of a wrong type.
    let wrong = |breach: &Breach| matches!(breach.class, Class::ValueNotAllowed | Class::RequiredFieldMissing);
    if !judge.found.iter().any(wrong) {
        judge.found.append(&mut judge.unanswered);
    }
    Ok(judge.found)
}

impl Judge<'_> {
    fn tell(&mut self, class: Class, place: Span, field: &str, says: String) -> Result<(), Spent> {
        self.share.make(NODE + field.len() + says.len())?;
        self.found.push(Breach {
            class,
            place,
            field: field.to_owned(),
            says,
            meant: None,
            other: None,
            instead: None,
            unknown: None,
        });
        Ok(())
    }

    /// Whether something is asked of a field, or below it.
    fn asks(&self, path: &str) -> bool {
        let below =
            |field: &&str| field.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let Some(only) = &self.only else { return true };
        path.is_empty()
            || only
                .range::<str, _>((Bound::Included(path), Bound::Unbounded))
                .take_while(|field| field.starts_with(path))
                .any(below)
    }

    /// Whether something is asked of a field itself.
    fn asks_of(&self, path: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(path))
    }

    fn value(&mut self, view: View<'_>, number: u32, at: &mut Place) -> Result<(), Spent> {
        // null is as good as nothing to kubectl and to the API server, where it is not a value.
        if !view.is_some() || view.unknown().is_some() || !self.asks(&at.path) {
            return Ok(());
        }
        self.share.work(NODE)?;
        let schema = pack::node(number);
        // How many blocks there are is not known where one may be there.
        let counts = !self.manner.blocks || view.items().all(|item| item.unknown().is_none());
        if let Some(says) = wrong_value(view, schema, &at.path, self.manner).filter(|_| counts) {
            return self.tell(Class::ValueNotAllowed, view.place(), &at.path, says);
        }
        let asked = self.asks_of(&at.path);
        if asked {
            self.together(view, number, at)?;
        }
        for rule in schema.rules.iter().filter(|_| asked) {
            let verdict = cel::ask(rule.rule, view, number, self.share)?;
            // What a webhook writes anew may have what is asked for.
            if verdict == Verdict::Taken || verdict == Verdict::Unanswered && !self.manner.as_written {
                continue;
            }
            let says =
                if rule.message.is_empty() { format!("{} has to hold", rule.rule) } else { rule.message.to_owned() };
            let says = if at.path.is_empty() { says } else { format!("{}: {says}", at.path) };
            let says = match verdict {
                Verdict::Unanswered => format!("{says} (what is asked for is missing, or cannot be read)"),
                _ => says,
            };
            self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
            if verdict == Verdict::Unanswered {
                self.unanswered.extend(self.found.pop());
            }
        }
        match view.node().map(|node| node.kind()) {
            Some(Shape::Map(_)) => self.object(view, number, at),
            Some(Shape::Seq(_)) => self.list(view, schema, at),
            _ => Ok(()),
        }
    }

    fn list(&mut self, view: View<'_>, schema: &Node<'static>, at: &mut Place) -> Result<(), Spent> {
        let Some(items) = schema.items else { return Ok(()) };
        let whole = at.path.len();
        let alone = schema.has(flags::BLOCK) && view.items().nth(1).is_none();
        for (index, item) in view.items().enumerate() {
            if !alone {
                at.path += &format!("[{index}]");
            }
            if self.manner.as_written
                && is_null(item)
                && pack::node(items).types != 0
                && !pack::node(items).has(flags::NULLABLE)
            {
                let says = format!("{} is null, and has to be {}", at.path, pack::node(items).wanted());
                self.tell(Class::ValueNotAllowed, item.place(), &at.path, says)?;
            }
            self.value(item, items, at)?;
            at.path.truncate(whole);
        }
        let field = at.path.rsplit('.').next().unwrap_or_default();
        let refused = self.manner.as_written || self.manner.of_kubernetes && are_distinct(field, &schema.keys);
        if refused && self.asks_of(&at.path) {
            for (item, first) in repeated::items(view, schema, self.share)? {
                let says = match schema.keys.as_slice() {
                    [] => format!("{0}[{item}] is the same as {0}[{first}]", at.path),
                    keys => format!("{0}[{item}] has the same {1} as {0}[{first}]", at.path, keys.join(" and ")),
                };
                let place = view.items().nth(item).map_or(view.place(), View::place);
                self.tell(Class::ContractViolated, place, &at.path, says)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, view: View<'_>, number: u32, at: &mut Place) -> Result<(), Spent> {
        let schema = pack::node(number);
        at.above.push((at.path.clone(), number));
        let whole = at.path.len();
        let mut keys = None;
        for (key, value) in view.entries() {
            let child = field(schema, key);
            if at.path.is_empty() && self.manner.of_kubernetes || schema.has(flags::EMBEDDED) {
                // Every object has these.
                if matches!(key, "apiVersion" | "kind") || key == "metadata" && child.is_none() {
                    continue;
                }
            }
            push(&mut at.path, key);
            if self.manner.blocks
                && let Some(child) = child
                && let Some((own, class, says)) = blocks::misplaced(view, key, pack::node(child), &at.path)
            {
                self.tell(class, own, &at.path, says)?;
                at.path.truncate(whole);
                continue;
            }
            match child {
                Some(child) => self.value(value, metadata(child), at)?,
                None if schema.has(flags::EXTENSIONS) && key.starts_with("x-") => {}
                None if is_closed(schema) && !key.starts_with('$') => self.unknown_field((view, &mut keys), key, at)?,
                None => {}
            }
            at.path.truncate(whole);
        }
        let nullable = |name: &str| field(schema, name).is_some_and(|child| pack::node(child).has(flags::NULLABLE));
        let counts = |name: &str| !self.manner.as_written || !is_null(view.get(name)) || nullable(name);
        let stated = |name: &str| view.node().is_some_and(|node| node.get(name).is_some()) && counts(name);
        let by_default = |name: &str| field(schema, name).is_some_and(|child| pack::node(child).default.is_some());
        let root = at.path.is_empty() && self.manner.of_kubernetes;
        let every = |name: &str| root && name == "metadata";
        let lacks = |name: &&str| !(stated(name) || by_default(name) || every(name));
        let missing: Vec<&str> = schema.required.iter().copied().filter(lacks).collect();
        for name in missing.into_iter().filter(|_| is_whole(view)) {
            push(&mut at.path, name);
            let says = format!("{} is missing", at.path);
            self.tell(Class::RequiredFieldMissing, view.place(), &at.path.clone(), says)?;
            at.path.truncate(whole);
        }
        at.above.pop();
        Ok(())
    }

    /// `keys` are those of the object, which are listed when the first one is not known.
    fn unknown_field<'t>(
        &mut self,
        (object, keys): (View<'t>, &mut Option<Keys<'t>>),
        key: &str,
        at: &Place,
    ) -> Result<(), Spent> {
        let listed = || object.node().into_iter().flat_map(|node| node.entries());
        let keys =
            keys.get_or_insert_with(|| listed().filter_map(|(key, _)| Some((key.text()?, key.span()))).collect());
        let Some(own) = keys.get(key) else { return Ok(()) };
        let what = if self.manner.blocks { blocks::word(object, key) } else { "field" };
        self.tell(Class::UnknownField, *own, &at.path, format!("there is no {what} {}", at.path))?;
        self.share.make(at.above.iter().map(|(path, _)| NODE + path.len()).sum())?;
        if let Some(last) = self.found.last_mut() {
            last.unknown = Some((key.to_owned(), at.above.clone()));
        }
        Ok(())
    }

    /// What has to hold of a value beside its parts.
    fn together(&mut self, view: View<'_>, number: u32, at: &Place) -> Result<(), Spent> {
        let schema = pack::node(number);
        for part in &schema.all_of {
            if holds(view, *part, Some(number), self.share)? == Some(false) {
                let says =
                    of_forms(&[*part], "must be set").unwrap_or_else(|| format!("{} is not as it has to be", name(at)));
                self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
            }
        }
        for (forms, one) in [(&schema.one_of, true), (&schema.any_of, false)] {
            if forms.is_empty() {
                continue;
            }
            let mut answers = Vec::new();
            for form in forms {
                answers.push(holds(view, *form, Some(number), self.share)?);
            }
            let yes = answers.iter().filter(|answer| **answer == Some(true)).count();
            let says = if answers.iter().all(|answer| *answer == Some(false)) {
                of_forms(
                    forms,
                    if one { "must be set, exactly one of them" } else { "must be set, at least one of them" },
                )
                .unwrap_or_else(|| format!("{} has none of the forms that are allowed", name(at)))
            } else if one && yes > 1 {
                of_forms(forms, "exclude each other")
                    .unwrap_or_else(|| format!("{} has several forms that exclude each other", name(at)))
            } else {
                continue;
            };
            let says = if at.path.is_empty() { says } else { format!("{}: {says}", at.path) };
            self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
        }
        if let Some(not) = schema.not
            && holds(view, not, Some(number), self.share)? == Some(true)
        {
            let says = of_forms(&[not], "must not be set together")
                .unwrap_or_else(|| format!("{} is as it must not be", name(at)));
            self.tell(Class::ContractViolated, view.place(), &at.path, says)?;
        }
        Ok(())
    }
}

fn name(at: &Place) -> &str {
    if at.path.is_empty() { "the object" } else { &at.path }
}

/// The fields that forms of an object ask for, with what is to be said of them; nothing where they ask for more.
fn of_forms(forms: &[u32], says: &str) -> Option<String> {
    let mut names = Vec::new();
    for form in forms {
        let form = pack::node(*form);
        let only = Node { required: form.required.clone(), types: form.types, ..Node::default() };
        if form.required.is_empty() || *form != only {
            return None;
        }
        names.push(form.required.join(" and "));
    }
    Some(format!("{} {says}", names.join(", ")))
}

/// Appends a field to a path.
fn push(path: &mut String, field: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(field);
}

/// The schema of a field.
fn field(schema: &Node<'_>, name: &str) -> Option<u32> {
    let at = schema.properties.binary_search_by_key(&name, |(known, _)| known).ok();
    let other = || schema.properties.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    let at = at.or_else(|| schema.has(flags::CASELESS).then(other).flatten());
    at.map(|at| schema.properties[at].1).or(schema.additional)
}

/// The metadata of objects is what Kubernetes says it is.
fn metadata(child: u32) -> u32 {
    if pack::node(child).has(flags::METADATA) { pack::METADATA } else { child }
}

/// Whether an object may have the named fields only: others are dropped or refused.
fn is_closed(schema: &Node<'_>) -> bool {
    let named = !schema.properties.is_empty() || schema.has(flags::CLOSED);
    named && schema.types & types::OBJECT != 0 && schema.additional.is_none() && !schema.has(flags::PRESERVE)
}

/// Whether all fields of an object are written here.
fn is_whole(view: View<'_>) -> bool {
    let written = view.node().map_or(0, |node| node.entries().len());
    view.rest().is_none() && view.open().is_none() && view.entries().len() == written
}

/// Whether a value has a form; unknown where what decides it is not known. The form is one of `whole`, which has the defaults.
fn holds(view: View<'_>, number: u32, whole: Option<u32>, share: &Share) -> Result<Option<bool>, Spent> {
    share.work(NODE)?;
    let schema = pack::node(number);
    if view.unknown().is_some() {
        return Ok(None);
    }
    let text = view.node().and_then(|node| node.text());
    if text.is_some_and(|text| placeholder(text).is_some()) {
        return Ok(None);
    }
    if against(view, schema, "").is_some() {
        return Ok(Some(false));
    }
    let below = |name: &str| whole.and_then(|whole| field(pack::node(whole), name));
    let by_default =
        |name: &str| !view.get(name).is_some() && below(name).is_some_and(|child| pack::node(child).default.is_some());
    let mut known = true;
    for name in &schema.required {
        share.work(STEP)?;
        match view.has(name) {
            _ if by_default(name) => {}
            // It is dropped, unless it is a value there.
            _ if is_null(view.get(name)) => known = false,
            Known::Value(true) => {}
            Known::Unknown(_) => known = false,
            _ if is_whole(view) => return Ok(Some(false)),
            _ => known = false,
        }
    }
    known &= !schema.properties.iter().any(|(name, _)| by_default(name));
    let mut parts: Vec<_> = schema.all_of.iter().map(|part| (view, *part, whole)).collect();
    let stated = schema.properties.iter().map(|(name, child)| (view.get(name), *child, below(name)));
    parts.extend(stated.filter(|(value, _, _)| value.is_some()));
    let of_items = whole.and_then(|whole| pack::node(whole).items);
    parts.extend(schema.items.into_iter().flat_map(|items| view.items().map(move |item| (item, items, of_items))));
    for (value, part, whole) in parts {
        match holds(value, part, whole, share)? {
            Some(true) => {}
            Some(false) => return Ok(Some(false)),
            None => known = false,
        }
    }
    if let Some(not) = schema.not {
        match holds(view, not, whole, share)? {
            Some(true) => return Ok(Some(false)),
            Some(false) => {}
            None => known = false,
        }
    }
    for (forms, one) in [(&schema.one_of, true), (&schema.any_of, false)] {
        let mut answers = Vec::new();
        for form in forms {
            answers.push(holds(view, *form, whole, share)?);
        }
        let yes = answers.iter().filter(|answer| **answer == Some(true)).count();
        if !forms.is_empty() && (answers.iter().all(|a| *a == Some(false)) || one && yes > 1) {
            return Ok(Some(false));
        }
        known &= forms.is_empty() || yes > 0 && (!one || !answers.contains(&None));
    }
    Ok(known.then_some(true))
}
