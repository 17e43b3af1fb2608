//! Replacements: the value of one field copied to others. Knows the paths that name fields.

use super::doc::{Doc, List, Value};
use super::resource::Resource;
use super::select::Selector;
use crate::budget::{STEP, Share};
use crate::parse::Problem;
use crate::render::pattern::Pattern;
use crate::source::{Span, Traced};

/// Applies one replacement. `partial` says that resources or data of generators are missing, so that a source may be too.
///
/// # Errors
/// A source or a field that is not there.
pub fn apply(resources: &mut [Resource], replacement: &Doc, (share, partial): (&Share, bool)) -> Result<(), Problem> {
    let value = match (replacement.get("source"), replacement.get("sourceValue")) {
        (Some(source), _) => match find(resources, source, share) {
            Ok(value) => value,
            Err(_) if partial => return Ok(()),
            Err(problem) => return Err(problem),
        },
        (None, Some(value)) => value.clone(),
        (None, None) => return Err(problem(replacement.span, "the replacement has no source")),
    };
    let targets = replacement.get("targets").map(Doc::items).unwrap_or_default();
    for target in targets {
        let Some(select) = target.get("select") else {
            return Err(problem(target.span, "the target of this replacement selects nothing"));
        };
        let selector = Selector::read(select);
        let rejected: Vec<Selector> =
            target.get("reject").map(Doc::items).unwrap_or_default().iter().map(Selector::read).collect();
        let refused = |resource: &Resource| {
            rejected
                .iter()
                .any(|r| r.has_labels() && r.selects_labels(resource, share) || r.has_id() && r.names(resource))
        };
        for resource in resources.iter_mut() {
            if share.work(STEP * (4 + rejected.len())).is_err() {
                return Ok(());
            }
            if selector.names(resource) && selector.selects_labels(resource, share) && !refused(resource) {
                set(resource, target, (&value, share))?;
            }
        }
    }
    Ok(())
}

fn problem(span: Span, message: &str) -> Problem {
    Problem { span, message: message.to_owned() }
}

/// The value of a source.
fn find(resources: &[Resource], source: &Doc, share: &Share) -> Result<Doc, Problem> {
    let selector = Selector::read(source);
    // What is spent is told where the build ends.
    let _ = share.work(4 * STEP * resources.len());
    let mut meant = resources.iter().filter(|resource| selector.names(resource));
    let Some(resource) = meant.next() else {
        return Err(problem(source.span, "the source of this replacement is not in the build"));
    };
    if meant.next().is_some() {
        return Err(problem(source.span, "several resources may be the source of this replacement"));
    }
    let path = source.text_at(&["fieldPath"]).unwrap_or("metadata.name");
    let mut copy = resource.doc.clone();
    let mut found = Vec::new();
    visit(&mut copy, &parts(path), (None, share), &mut |doc| found.push(doc.clone()));
    let missing = || problem(source.span, &format!("`{path}` is not in the source of this replacement"));
    let mut value = found.into_iter().find(|doc| !doc.is_null()).ok_or_else(missing)?;
    if let Some(delimiter) = source.text_at(&["options", "delimiter"]).filter(|d| !d.is_empty()) {
        let text = value.text().unwrap_or_default();
        let _ = share.work(text.len());
        let part = text.split(delimiter).nth(index(source).unsigned_abs()).ok_or_else(missing)?;
        value.value = Value::Scalar { text: Traced::opaque(part, value.span), plain: false };
    }
    Ok(value)
}

fn index(holder: &Doc) -> isize {
    holder.text_at(&["options", "index"]).and_then(|index| index.parse().ok()).unwrap_or(0)
}

fn set(resource: &mut Resource, target: &Doc, (value, share): (&Doc, &Share)) -> Result<(), Problem> {
    let create = target.at(&["options", "create"]).is_some_and(Doc::is_true);
    let delimiter = target.text_at(&["options", "delimiter"]).filter(|d| !d.is_empty());
    let default = [Doc::string("metadata.name", target.span)];
    let paths = target.get("fieldPaths").map_or(default.as_slice(), Doc::items);
    for path in paths {
        let Some(text) = path.text() else { continue };
        let (mut count, parts) = (0, parts(text));
        visit(&mut resource.doc, &parts, (create.then_some(value), share), &mut |doc| {
            count += 1;
            if value.measure(share, parts.len() + 1).is_ok()
                && share.make(value.text().map_or(0, str::len) + doc.text().map_or(0, str::len)).is_ok()
            {
                put(doc, value, delimiter.map(|delimiter| (delimiter, index(target))));
            }
        });
        if count == 0 && !resource.open && share.spent().is_none() {
            return Err(problem(path.span, &format!("`{text}` is not in a target of this replacement")));
        }
    }
    Ok(())
}

fn put(doc: &mut Doc, value: &Doc, part: Option<(&str, isize)>) {
    let (Value::Scalar { text: new, .. }, Some(old)) = (&value.value, doc.text().map(str::to_owned)) else {
        *doc = value.clone();
        return;
    };
    let Some((delimiter, index)) = part else { return doc.set_text(new.clone()) };
    let mut parts: Vec<&str> = old.split(delimiter).collect();
    match usize::try_from(index) {
        Err(_) => parts.insert(0, new.text()),
        Ok(index) if index < parts.len() => parts[index] = new.text(),
        Ok(_) => parts.push(new.text()),
    }
    doc.set_text(Traced::opaque(parts.join(delimiter), value.span));
}

/// The parts of a path with dots: `\.` is a dot in a key, brackets keep theirs.
pub fn parts(path: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut bracket = false;
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'.') => part.extend(chars.next()),
            '[' if part.is_empty() => {
                bracket = true;
                part.push(c);
            }
            ']' if bracket && matches!(chars.peek(), None | Some('.')) => {
                bracket = false;
                part.push(c);
            }
            '.' if !bracket => out.push(std::mem::take(&mut part)),
            _ => part.push(c),
        }
    }
    out.push(part);
    let plain = |part: String| match part.strip_prefix('[').and_then(|p| p.strip_suffix(']')) {
        Some(inner) if !inner.contains('=') => inner.to_owned(),
        _ => part,
    };
    out.into_iter().map(plain).filter(|part| !part.is_empty()).collect()
}

/// Hands every field at a path to `change`; missing ones are made for a value that is given.
fn visit(doc: &mut Doc, path: &[String], (create, share): (Option<&Doc>, &Share), change: &mut dyn FnMut(&mut Doc)) {
    let Some((part, rest)) = path.split_first() else { return change(doc) };
    if share.nest(path.len()).is_err() || doc.open(share).is_err() {
        return;
    }
    let condition = part.strip_prefix('[').and_then(|p| p.strip_suffix(']')).and_then(|p| p.split_once('='));
    if let Some((key, wanted)) = condition {
        let Ok(pattern) = Pattern::new(wanted, share) else { return };
        let meant = |item: &Doc| {
            let text = if key.is_empty() { item.text() } else { item.text_at(&[key]) };
            text.is_some_and(|text| pattern.is_match(text.trim(), share))
        };
        if let (Some(value), false) = (create, doc.items().iter().any(meant)) {
            let span = value.span;
            let named = Doc::string(wanted, span);
            let mut item = if key.is_empty() { named.clone() } else { Doc::map(span) };
            if !key.is_empty() {
                item.set(Doc::string(key, span), named);
            }
            push(doc, item);
        }
        if let Value::Seq(items) = &mut doc.value {
            items.iter_mut().filter(|item| meant(item)).for_each(|item| visit(item, rest, (create, share), change));
        }
        return;
    }
    if let (Value::Seq(items), "*") = (&mut doc.value, part.as_str()) {
        items.iter_mut().for_each(|item| visit(item, rest, (create, share), change));
        return;
    }
    if let Ok(at) = part.parse::<usize>()
        && !matches!(doc.value, Value::Map(_))
    {
        if let Some(value) = create.filter(|_| doc.items().len() == at) {
            push(doc, Doc::null(value.span));
        }
        if let Value::Seq(items) = &mut doc.value
            && let Some(item) = items.get_mut(at)
        {
            visit(item, rest, (create, share), change);
        }
        return;
    }
    let next = match create {
        Some(value) => doc.entry(part, value.span),
        None => doc.get_mut(part),
    };
    if let Some(next) = next {
        visit(next, rest, (create, share), change);
    }
}

fn push(doc: &mut Doc, item: Doc) {
    if doc.is_null() {
        doc.value = Value::Seq(List::default());
    }
    if let Value::Seq(items) = &mut doc.value {
        items.push(item);
    }
}
