//! The modules of a run: which directory is a module, which one calls which, and all of them evaluated from the
//! roots down. Knows `module` blocks and where Terraform looks for files.

use super::Block;
use super::emit::{self, Uses};
use super::eval::Eval;
use super::module::Registry;
use crate::budget::Share;
use crate::parse::Problem;
use crate::parse::hcl::Hcl;
use crate::paths;
use crate::source::{SourceId, Traced};
use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Files of values that only a command line can name, which are tried.
const MAX_ALTERNATIVES: usize = 32;

/// Forms of one template that are kept.
const MAX_FORMS: usize = 64;

/// A file of a module.
#[derive(Debug)]
pub struct ModuleFile {
    /// Display path.
    pub path: String,
    /// Its syntax.
    pub hcl: Hcl,
    /// Whether it only gives values to variables.
    pub values: bool,
}

/// The files of one directory, and those of them that give values by name.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub files: Vec<Hcl>,
    pub values: Vec<Hcl>,
}

impl Directory {
    /// Bytes of its texts.
    pub fn len(&self) -> usize {
        self.files.iter().chain(&self.values).map(Hcl::len).sum()
    }
}

/// The Terraform files of a run, by the directory they stand in.
#[derive(Debug, Default)]
pub struct Workspace<'t> {
    directories: BTreeMap<String, Directory>,
    alternatives: Vec<Alternative>,
    texts: BTreeMap<&'t str, (SourceId, &'t str)>,
    read: RefCell<BTreeSet<SourceId>>,
    rendered: RefCell<BTreeMap<SourceId, Vec<Rc<Traced>>>>,
}

/// A root with every module that it calls.
#[derive(Debug)]
pub struct Evaluated {
    /// Blocks of the root, then those of its modules, each in the order written.
    pub blocks: Vec<Block>,
    /// Expressions that use a value which is written elsewhere, by the place of that value.
    pub uses: Uses,
    /// Whether it lies among modules for others to call, and nobody here does.
    pub library: bool,
    /// From where on it is not evaluated, as too much is made of it.
    pub cut: Option<Problem>,
    /// The file of values that somebody may name on the command line, where it is evaluated with one.
    pub with: Option<String>,
}

/// A file of values that only a command line can name.
#[derive(Debug)]
struct Alternative {
    path: String,
    hcl: Hcl,
}

impl<'t> Workspace<'t> {
    /// The modules among some files. `texts` are all files of the run by path: what `file()` and its like read.
    pub fn new(files: Vec<ModuleFile>, texts: impl Iterator<Item = (&'t str, SourceId, &'t str)>) -> Self {
        let mut directories: BTreeMap<String, Directory> = BTreeMap::new();
        let mut values: Vec<(String, Hcl)> = vec![];
        for ModuleFile { path, hcl, values: gives } in files {
            if gives {
                values.push((path, hcl));
            } else {
                directories.entry(paths::directory(&path).to_owned()).or_default().files.push(hcl);
            }
        }
        // What is to be copied and filled in stands for what nobody committed.
        let draft = |path: &str| !path.trim_end_matches(".json").ends_with(".tfvars");
        let stated: BTreeSet<String> =
            values.iter().filter(|(path, _)| !draft(path)).map(|(path, _)| paths::directory(path).to_owned()).collect();
        values.retain(|(path, _)| !draft(path) || !stated.contains(paths::directory(path)));
        // Only these are read without being named on Terraform's command line; a lone file is named there.
        let plain = |path: &str| paths::name(path).trim_end_matches(".json") == "terraform.tfvars";
        let read = |path: &str| plain(path) || path.trim_end_matches(".json").ends_with(".auto.tfvars");
        let mut beside: BTreeMap<String, usize> = BTreeMap::new();
        for (path, _) in &values {
            *beside.entry(paths::directory(path).to_owned()).or_default() += 1;
        }
        let lone = |path: &str| beside.get(paths::directory(path)) == Some(&1);
        let applied = |path: &str| (read(path) || lone(path)) && directories.contains_key(paths::directory(path));
        let (mut values, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|(path, _)| applied(path));
        let alternatives = others.into_iter().map(|(path, hcl)| Alternative { path, hcl }).collect();
        values.sort_by_key(|(path, _)| (!plain(path), path.clone()));
        for (path, hcl) in values {
            directories.entry(paths::directory(&path).to_owned()).or_default().values.push(hcl);
        }
        let texts = texts.map(|(path, id, text)| (path, (id, text))).collect();
        Self { directories, alternatives, texts, read: RefCell::default(), rendered: RefCell::default() }
    }

    /// Evaluates every root. A module that is called is evaluated where it is called, and not on its own.
    pub fn evaluate(&self) -> Vec<Evaluated> {
        let called: BTreeSet<&str> = self.directories.keys().flat_map(|directory| self.calls(directory)).collect();
        let names = || self.directories.keys().map(String::as_str);
        let roots: Vec<&str> = names().filter(|name| !called.contains(name)).collect();
        let mut reached = BTreeSet::new();
        roots.iter().for_each(|root| self.reach(root, &mut reached));
        let forms = self.alternatives.iter().filter_map(|one| Some((self.root_of(one, &roots)?, one)));
        let forms: Vec<(&str, &Alternative)> = forms.take(MAX_ALTERNATIVES).collect();
        let count = roots.len() + forms.len();
        let mut out: Vec<Evaluated> = roots.into_iter().filter_map(|root| self.root((root, None), count)).collect();
        out.extend(forms.into_iter().filter_map(|(root, with)| self.root((root, Some(with)), count)));
        // Modules that only call each other.
        for name in names() {
            if !reached.contains(name) {
                self.reach(name, &mut reached);
                out.extend(self.root((name, None), self.directories.len()));
            }
        }
        out
    }

    /// The root that a file of values is for: the nearest one above it, where that declares all that the file sets.
    fn root_of<'m>(&'m self, values: &Alternative, roots: &[&'m str]) -> Option<&'m str> {
        let mut above = paths::directory(&values.path);
        let (root, files) = loop {
            if let Some((root, files)) = self.directories.get_key_value(above).filter(|(_, d)| !d.files.is_empty()) {
                break (root.as_str(), files);
            }
            above = if above.is_empty() { return None } else { paths::directory(above) };
        };
        let bodies = files.files.iter().flat_map(Hcl::places).flat_map(|(_, body)| body.blocks());
        let of_variable = bodies.filter(|block| block.ident.as_str() == "variable");
        let declared: BTreeSet<&str> =
            of_variable.filter_map(|block| block.labels.first()).map(|label| label.as_str()).collect();
        let mut set = values.hcl.places().flat_map(|(_, body)| body.attributes()).map(|a| a.key.as_str()).peekable();
        (roots.contains(&root) && set.peek().is_some() && set.all(|name| declared.contains(name))).then_some(root)
    }

    /// Adds a module and those that it calls.
    fn reach<'m>(&'m self, directory: &'m str, reached: &mut BTreeSet<&'m str>) {
        let mut open = vec![directory];
        while let Some(at) = open.pop() {
            if reached.insert(at) {
                open.extend(self.calls(at));
            }
        }
    }

    fn root<'m>(&'m self, (directory, with): (&'m str, Option<&'m Alternative>), count: usize) -> Option<Evaluated> {
        let files = self.directories.get(directory)?;
        let called: BTreeSet<&str> = self.calls(directory).collect();
        let called = called.into_iter().filter_map(|name| self.directory(name));
        let share = Share::of(count, files.len() + called.map(Directory::len).sum::<usize>());
        let mut registry = Registry::new(self, (directory, directory), files, Rc::new(share));
        registry.set_by(&files.values);
        if let Some(with) = with {
            registry.set_by(std::slice::from_ref(&with.hcl));
        }
        let module = directory.split('/').any(|part| part == "modules") && !registry.variables.is_empty();
        let needs = registry.variables.values().any(|variable| variable.default.is_none());
        let applied = is_applied(files) || with.is_some();
        if !applied && (needs || module) {
            // What a caller or a command line gives is not known, and need not leave anything out.
            registry.variables.values_mut().for_each(|variable| variable.default = None);
        }
        let library = !applied && module;
        let with = with.map(|with| with.path.clone());
        let mut out = Evaluated { blocks: vec![], uses: Uses::default(), library, cut: None, with };
        emit_tree(&registry, files, "", &mut out);
        Some(out)
    }

    /// The directories of the local modules that a module calls.
    fn calls(&self, directory: &str) -> impl Iterator<Item = &str> {
        let files = self.directory(directory).into_iter().flat_map(|d| &d.files);
        let sources = files.flat_map(Hcl::places).flat_map(|(_, body)| {
            body.blocks().filter(|block| block.ident.as_str() == "module").filter_map(|block| source(&block.body))
        });
        sources.filter_map(|source| self.local(directory, source)).map(|(name, _)| name).collect::<Vec<_>>().into_iter()
    }

    fn directory(&self, name: &str) -> Option<&Directory> {
        self.directories.get(name)
    }

    /// The directory of a module that is called by a path.
    pub(super) fn local(&self, from: &str, source: &str) -> Option<(&str, &Directory)> {
        let path = source.starts_with("./") || source.starts_with("../") || matches!(source, "." | "..");
        let (name, directory) = self.directories.get_key_value(&paths::join_inside(from, source)?)?;
        (path && !directory.files.is_empty()).then_some((name.as_str(), directory))
    }

    /// Where files stand.
    pub fn paths(&self) -> BTreeMap<SourceId, &'t str> {
        self.texts.iter().map(|(path, (id, _))| (*id, *path)).collect()
    }

    /// The file at a path.
    pub(super) fn text(&self, path: &str) -> Option<(SourceId, &'t str)> {
        let found = self.texts.get(path).copied();
        self.read.borrow_mut().extend(found.map(|(id, _)| id));
        found
    }

    /// The files that functions have read.
    pub fn read(&self) -> BTreeSet<SourceId> {
        self.read.borrow().clone()
    }

    /// Keeps what a template was rendered to.
    pub(super) fn keep_rendered(&self, template: SourceId, text: &Rc<Traced>) {
        let mut rendered = self.rendered.borrow_mut();
        let forms = rendered.entry(template).or_default();
        if forms.len() < MAX_FORMS && !forms.iter().any(|form| form.text() == text.text()) {
            forms.push(Rc::clone(text));
        }
    }

    /// What each template was rendered to, with different values.
    pub fn rendered(&self) -> BTreeMap<SourceId, Vec<Traced>> {
        let texts = |forms: &Vec<Rc<Traced>>| forms.iter().map(|text| Traced::clone(text)).collect();
        self.rendered.borrow().iter().map(|(id, forms)| (*id, texts(forms))).collect()
    }

    /// Paths of files below a directory (with `/` at its end, unless it is empty).
    pub(super) fn below<'p>(&'p self, directory: &'p str) -> impl Iterator<Item = &'p str> {
        let from = self.texts.range(directory..).map(|(path, _)| *path);
        from.take_while(move |path| path.starts_with(directory))
    }
}

/// The blocks of a module and of those that it calls.
fn emit_tree(registry: &Registry<'_>, files: &Directory, address: &str, out: &mut Evaluated) {
    emit::blocks(&files.files, registry, address, out);
    for (name, call) in &registry.calls {
        let eval = Eval::new(registry, call.place);
        for instance in emit::instances(&eval, call.body) {
            let scope = instance.scope();
            let key = instance.key.map_or(String::new(), |key| format!("[{key:?}]"));
            let address = format!("{address}{}module.{name}{key}", if address.is_empty() { "" } else { "." });
            let eval = scope.as_ref().map_or(eval, |scope| eval.with(scope));
            if out.cut.is_none()
                && let Some((child, files)) = eval.child(call.body)
            {
                emit_tree(&child, files, &address, out);
            }
        }
    }
}

/// Whether a module that nobody calls is applied as it stands: it states a provider or where its state is kept, or a file
/// gives values to its variables.
fn is_applied(files: &Directory) -> bool {
    let mut blocks = files.files.iter().flat_map(Hcl::places).flat_map(|(_, body)| body.blocks());
    let state = |body: &Body| {
        let in_json = ["backend", "cloud"].iter().any(|name| body.get_attribute(name).is_some());
        in_json || body.blocks().any(|block| matches!(block.ident.as_str(), "backend" | "cloud"))
    };
    !files.values.is_empty()
        || blocks.any(|block| match block.ident.as_str() {
            "provider" => true,
            "terraform" => state(&block.body),
            _ => false,
        })
}

/// The literal source of a `module` block.
pub(super) fn source(body: &Body) -> Option<&str> {
    match &body.get_attribute("source")?.value {
        Expression::String(text) => Some(text.as_str()),
        _ => None,
    }
}
