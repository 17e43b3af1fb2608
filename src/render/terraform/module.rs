//! What the files of a module declare: variables with their types, locals, outputs, calls of other modules.

use super::emit::{self, Instance};
use super::eval::{Eval, Written};
use super::value::{MAX_ITEMS, Val, Value, failed, too_large};
use super::workspace::{self, Directory, Workspace};
use crate::budget::{STEP, Share};
use crate::known::{Known, Why};
use crate::parse::hcl::Hcl;
use crate::parse::hcl::Place;
use crate::source::{Span, Traced};
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Block, BlockLabel, Body};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Modules that call each other deeper are not followed.
const MAX_NESTING: u32 = 12;

/// A declared variable.
#[derive(Debug, Default)]
pub(super) struct Variable<'m> {
    pub kind: Option<Written<'m>>,
    pub default: Option<Written<'m>>,
    /// The line of the last `.tfvars` file that sets it.
    pub set: Option<Written<'m>>,
    /// `nullable`: whether null is a value of it; else it stands for the default.
    pub nullable: Option<Written<'m>>,
}

/// A block and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared<'m> {
    pub place: Place<'m>,
    pub body: &'m Body,
}

/// What the files of a module declare, and what has been evaluated of it.
#[derive(Debug)]
pub(super) struct Registry<'m> {
    pub workspace: &'m Workspace<'m>,
    /// Directory of the root that the module belongs to, and its own.
    pub root: &'m str,
    pub directory: &'m str,
    pub variables: BTreeMap<&'m str, Variable<'m>>,
    pub locals: BTreeMap<&'m str, Written<'m>>,
    pub outputs: BTreeMap<&'m str, Written<'m>>,
    /// `module` blocks by name.
    pub calls: BTreeMap<&'m str, Declared<'m>>,
    /// Resources by type and name; data sources by `data.` and type.
    pub resources: BTreeMap<(Cow<'m, str>, &'m str), Declared<'m>>,
    /// Values of variables given by a call of the module.
    inputs: Option<BTreeMap<String, Val>>,
    /// Named values, by `var.name` or `local.name`; `None` while they are being evaluated.
    cache: RefCell<BTreeMap<String, Option<Val>>>,
    /// What is left for the root and its modules.
    pub share: Rc<Share>,
    nesting: u32,
}

impl<'m> Registry<'m> {
    /// What the files of a directory declare. `at` is the directory of the root, and the module's own.
    pub fn new(
        workspace: &'m Workspace<'m>,
        (root, directory): (&'m str, &'m str),
        files: &'m Directory,
        share: Rc<Share>,
    ) -> Self {
        let mut out = Self {
            workspace,
            root,
            directory,
            variables: BTreeMap::new(),
            locals: BTreeMap::new(),
            outputs: BTreeMap::new(),
            calls: BTreeMap::new(),
            resources: BTreeMap::new(),
            inputs: None,
            cache: RefCell::default(),
            share,
            nesting: 0,
        };
        for (place, body) in files.files.iter().flat_map(Hcl::places) {
            body.blocks().for_each(|block| out.declare(place, block));
        }
        out
    }

    fn declare(&mut self, place: Place<'m>, block: &'m Block) {
        let written = |name: &str| block.body.get_attribute(name).map(|a| Written { place, expr: &a.value });
        let declared = Declared { place, body: &block.body };
        let mut labels = block.labels.iter().map(BlockLabel::as_str);
        match (block.ident.as_str(), labels.next(), labels.next()) {
            ("variable", Some(name), _) => {
                let variable = self.variables.entry(name).or_default();
                variable.kind = written("type");
                variable.default = written("default");
                variable.nullable = written("nullable");
            }
            ("locals", ..) => {
                let locals = block.body.attributes();
                self.locals.extend(locals.map(|a| (a.key.as_str(), Written { place, expr: &a.value })));
            }
            ("output", Some(name), _) => self.outputs.extend(written("value").map(|value| (name, value))),
            ("module", Some(name), _) => drop(self.calls.insert(name, declared)),
            ("resource", Some(kind), Some(name)) => {
                self.resources.insert((kind.into(), name), declared);
            }
            ("data", Some(kind), Some(name)) => {
                self.resources.insert((format!("data.{kind}").into(), name), declared);
            }
            _ => {}
        }
    }

    /// Takes over what `.tfvars` files set, the last one winning.
    pub fn set_by(&mut self, values: &'m [Hcl]) {
        for (place, body) in values.iter().flat_map(Hcl::places) {
            for attribute in body.attributes() {
                let variable = self.variables.entry(attribute.key.as_str()).or_default();
                variable.set = Some(Written { place, expr: &attribute.value });
            }
        }
    }
}

/// Data sources that join parts of what cloud-init reads.
const CLOUD_INIT: &[&str] = &["data.cloudinit_config", "data.template_cloudinit_config"];

/// Arguments of a `module` block that are no variables of the module.
const META: &[&str] = &["source", "version", "count", "for_each", "providers", "depends_on"];

impl<'e> Eval<'e> {
    /// The local module that a `module` block calls, with its arguments as the values of its variables.
    pub fn child(&self, call: &Body) -> Option<(Registry<'e>, &'e Directory)> {
        let registry = self.registry;
        let (directory, files) = registry.workspace.local(registry.directory, workspace::source(call)?)?;
        if registry.nesting >= MAX_NESTING {
            return None;
        }
        registry.share.work(files.len()).ok()?;
        let mut out = Registry::new(registry.workspace, (registry.root, directory), files, Rc::clone(&registry.share));
        let arguments = call.attributes().filter(|a| !META.contains(&a.key.as_str()));
        out.inputs = Some(arguments.map(|a| (a.key.as_str().to_owned(), self.eval(&a.value))).collect());
        out.nesting = registry.nesting + 1;
        Some((out, files))
    }

    /// The value of `var.name`, `local.name` or `module.name`.
    pub fn named(&self, root: &str, name: &str, span: Span) -> Val {
        self.once(&format!("{root}.{name}"), span, || match root {
            "local" => self.registry.locals.get(name).map(|&written| self.written(written)),
            "module" => self.outputs(name, span),
            _ => self.variable(name),
        })
    }

    /// A value by its name, which is evaluated once.
    fn once(&self, id: &str, span: Span, value: impl FnOnce() -> Option<Val>) -> Val {
        if let Some(known) = self.registry.cache.borrow().get(id) {
            return match known {
                Some(value) => value.clone(),
                // Modules may use each other's outputs; those are told apart by name only.
                None if id.starts_with("module.") => Val::unknown(Why::Remote(id.into()), span),
                None => Val::result(failed(format!("{id} refers to itself")), span),
            };
        }
        self.registry.cache.borrow_mut().insert(id.to_owned(), None);
        let value = value().unwrap_or_else(|| {
            let why = match id.strip_prefix("var.") {
                Some(name) => Why::Variable(name.into()),
                None => Why::Remote(id.into()),
            };
            Val::unknown(why, span)
        });
        self.registry.cache.borrow_mut().insert(id.to_owned(), Some(value.clone()));
        value
    }

    fn written(&self, written: Written<'e>) -> Val {
        self.elsewhere(written.place).eval(written.expr)
    }

    fn variable(&self, name: &str) -> Option<Val> {
        let variable = self.registry.variables.get(name)?;
        let given = match &self.registry.inputs {
            Some(inputs) => inputs.get(name).cloned(),
            None => variable.set.map(|written| self.written(written)),
        };
        let replaced = |value: &Val| {
            value.is_null() && variable.nullable.is_some_and(|n| self.written(n).boolean().is_ok_and(|b| !b))
        };
        let given = given.filter(|value| !replaced(value));
        let value = given.or_else(|| variable.default.map(|written| self.written(written)))?;
        Some(match variable.kind {
            Some(kind) => self.elsewhere(kind.place).conform(value, kind.expr),
            None => value,
        })
    }

    /// The outputs of a local module that is called here: those of one instance, or of each by its key.
    fn outputs(&self, name: &str, span: Span) -> Option<Val> {
        let call = self.registry.calls.get(name)?;
        let eval = self.elsewhere(call.place);
        let repeated = |name: &str| call.body.get_attribute(name).is_some();
        let mut instances = emit::instances(&eval, call.body);
        if repeated("count") {
            let one = instances.pop()?;
            let Known::Value(count) = one.count else { return None };
            let count = usize::try_from(count).ok()?.min(MAX_ITEMS);
            let value = self.outputs_of(&one, call, span)?;
            return Some(Val::new(Value::list(vec![value; count]), span));
        }
        if !repeated("for_each") {
            return self.outputs_of(instances.first()?, call, span);
        }
        let entry = |one: &Instance| {
            let key = Rc::new(Traced::opaque(one.key.as_deref()?, span));
            Some((key, self.outputs_of(one, call, span)?))
        };
        Some(Val::new(Value::map(instances.iter().map(entry).collect::<Option<Vec<_>>>()?), span))
    }

    fn outputs_of(&self, instance: &Instance, call: &Declared<'e>, span: Span) -> Option<Val> {
        let scope = instance.scope();
        let eval = self.elsewhere(call.place);
        let eval = scope.as_ref().map_or(eval, |scope| eval.with(scope));
        let (child, _) = eval.child(call.body)?;
        let value = |(name, written): (&&str, &Written<'_>)| {
            let value = Eval::new(&child, written.place).eval(written.expr);
            (Rc::new(Traced::opaque(*name, value.span)), value)
        };
        Some(Val::new(Value::map(child.outputs.iter().map(value)), span))
    }

    /// An argument of a resource or data source of this module, when it is known: what `kind.name.argument` refers to,
    /// with the key of an instance.
    pub fn argument(&self, (kind, name): (&str, &str), key: Option<&Val>, argument: &str) -> Option<Val> {
        let declared = self.registry.resources.get(&(Cow::Borrowed(kind), name))?;
        let attribute = declared.body.get_attribute(argument);
        let joins = argument == "rendered" && CLOUD_INIT.contains(&kind);
        if attribute.is_none() && !joins {
            return None;
        }
        let eval = self.elsewhere(declared.place);
        let shown = key.map(Val::string).transpose().ok()?;
        let id = format!("{kind}.{name}[{shown:?}].{argument}");
        let value = self.once(&id, declared.place.span(None), || {
            let repeated = ["count", "for_each"].iter().any(|name| declared.body.get_attribute(name).is_some());
            if repeated != key.is_some() {
                return None;
            }
            let instances = emit::instances(&eval, declared.body);
            let instance = instances.iter().find(|i| i.key.is_none() || i.key == shown)?;
            let scope = instance.scope();
            let eval = scope.as_ref().map_or(eval, |scope| eval.with(scope));
            match attribute {
                Some(attribute) => Some(eval.eval(&attribute.value)),
                None => eval.joined_parts(declared),
            }
        });
        (joins || value.known().is_ok()).then_some(value)
    }

    /// The parts that a data source of cloud-init joins, as the machine takes them apart: whether they are packed on their
    /// way does not matter to it.
    fn joined_parts(&self, declared: &Declared<'e>) -> Option<Val> {
        const BOUNDARY: &str = "--MIMEBOUNDARY\n\n";
        let place = declared.place.span(None);
        let mut texts = vec![Traced::opaque("Content-Type: multipart/mixed; boundary=\"MIMEBOUNDARY\"\n\n", place)];
        let mut open = None;
        for block in declared.body.blocks() {
            let content = match block.ident.as_str() {
                "part" => block.body.get_attribute("content").map(|content| self.eval(&content.value)),
                _ => None,
            };
            let why = match content.map(|content| content.value) {
                Some(Value::Str(text)) => {
                    texts.extend([Traced::opaque(BOUNDARY, place), (*text).clone(), Traced::opaque("\n", place)]);
                    continue;
                }
                Some(Value::Partial(text, why)) => {
                    texts.extend([Traced::opaque(BOUNDARY, place), (*text).clone(), Traced::opaque("\n", place)]);
                    why
                }
                Some(Value::Unknown(why)) => why,
                _ => Why::Remote("a part of cloud-init".into()),
            };
            open = open.or(Some(why));
        }
        self.pay(texts.iter().map(|text| text.text().len()).sum()).ok()?;
        let text = Rc::new(Traced::concat(texts, place));
        Some(Val::new(open.map_or(Value::Str(Rc::clone(&text)), |why| Value::Partial(text, why)), place))
    }

    /// A value under a type constraint: optional attributes are filled in.
    fn conform(&self, value: Val, kind: &Expression) -> Val {
        let Expression::FuncCall(call) = kind else { return value };
        let Some(inner) = call.args.get(0) else { return value };
        let (span, origin) = (value.span, value.origin);
        let keep = |value: Value| Val::new(value, span).from(origin);
        match (&value.value, call.name.name.as_str(), inner) {
            (Value::List(items), "list" | "set", kind) => {
                keep(Value::list(items.iter().map(|item| self.conform(item.clone(), kind)).collect()))
            }
            (Value::Map(entries), "map", kind) => {
                keep(Value::map(entries.iter().map(|(k, v)| (Rc::clone(k), self.conform(v.clone(), kind)))))
            }
            (Value::Map(entries), "object", Expression::Object(object)) => {
                let mut out = entries.to_vec();
                for (key, value) in object.iter() {
                    let Some(name) = attribute_name(key) else { continue };
                    // Each attribute of the type is looked for among all that are given.
                    if self.pay(STEP + out.len()).is_err() {
                        return Val::result(Err(too_large()), span);
                    }
                    let (kind, default) = match value.expr() {
                        Expression::FuncCall(call) if call.name.name.as_str() == "optional" => {
                            (call.args.get(0), Some(call.args.get(1)))
                        }
                        kind => (Some(kind), None),
                    };
                    let found = out.iter_mut().find(|(k, _)| k.text() == name);
                    match (found, default) {
                        (Some((_, value)), default) => {
                            if let (true, Some(Some(default))) = (value.is_null(), default) {
                                *value = self.eval(default);
                            }
                            if let Some(kind) = kind {
                                *value = self.conform(value.clone(), kind);
                            }
                        }
                        (None, Some(default)) => {
                            let value = default.map_or(Val::new(Value::Null, span), |d| self.eval(d));
                            let value = kind.map_or(value.clone(), |kind| self.conform(value, kind));
                            out.push((Rc::new(Traced::opaque(name, span)), value));
                        }
                        (None, None) => {}
                    }
                }
                keep(Value::map(out))
            }
            _ => value,
        }
    }
}

fn attribute_name(key: &ObjectKey) -> Option<&str> {
    match key {
        ObjectKey::Ident(name) => Some(name.as_str()),
        ObjectKey::Expression(Expression::Variable(name)) => Some(name.as_str()),
        ObjectKey::Expression(Expression::String(name)) => Some(name.as_str()),
        ObjectKey::Expression(_) => None,
    }
}
