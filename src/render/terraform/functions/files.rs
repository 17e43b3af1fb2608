//! Functions on files of the run, on paths and on text in the syntaxes of files.

use super::{Call, Found};
use crate::known::Why;
use crate::parse::hcl::Place;
use crate::parse::{Dialect, yaml};
use crate::paths;
use crate::render::terraform::eval::Scope;
use crate::render::terraform::rope::Style;
use crate::render::terraform::value::{Fail, Val, Value, failed, of_node, too_large};
use crate::source::{SourceId, Span, Traced};
use hcl_edit::template::{Element, Template};
use std::rc::Rc;

/// Templates with more variables are not rendered.
const MAX_VARIABLES: usize = 256;

impl Call<'_> {
    pub(super) fn files(&self) -> Option<Found> {
        Some(match self.name {
            "file" | "filebase64" => self.read().map(|(source, text)| {
                let whole = Span::new(source, 0..text.len());
                self.val(Value::Str(Rc::new(Traced::verbatim(text, whole, 0)))).from(Some(whole))
            }),
            // A file that is not here may still be there when Terraform runs.
            "fileexists" => self.read().map(|_| self.val(Value::Bool(true))),
            "templatefile" => self.template_file(),
            "yamldecode" => self.yaml_decode(),
            "basename" => self.string(0).map(|path| self.text(paths::name(path.trim_end_matches('/')))),
            "dirname" => self.string(0).map(|path| match paths::directory(path.trim_end_matches('/')) {
                "" => self.text("."),
                directory => self.text(directory),
            }),
            _ => return None,
        })
    }

    /// The file that the first argument names, as seen from the directory of the root.
    fn read(&self) -> Result<(SourceId, &str), Fail> {
        let path = self.string(0)?;
        let registry = self.eval.registry;
        let found = paths::join_inside(registry.root, &path).and_then(|path| registry.workspace.text(&path));
        found.ok_or_else(|| Fail::Unknown(Why::Remote(format!("{}({path})", self.name).into())))
    }

    fn template_file(&self) -> Found {
        let (source, text) = self.read()?;
        self.eval.pay(text.len())?;
        let Ok(template) = text.parse::<Template>() else { return failed("not a template") };
        let whole = Span::new(source, 0..text.len());
        // Names that are not given are no names at all, so the template sees nothing else.
        let outer = self.eval.elsewhere(Place { source, text, base: 0, json: false });
        let variables = match self.args.get(1) {
            Some(variables) => variables.entries()?,
            None => &[],
        };
        if variables.len() > MAX_VARIABLES {
            return Err(too_large());
        }
        let elements: Vec<&Element> = template.iter().collect();
        let value = with_variables(&outer, variables, &|eval| eval.template(&elements, Style::File, whole))?;
        if let Value::Str(text) | Value::Partial(text, _) = &value {
            self.eval.registry.workspace.keep_rendered(source, text);
        }
        Ok(self.val(value).from(Some(whole)))
    }

    fn yaml_decode(&self) -> Found {
        let text = match &self.arg(0)?.value {
            Value::Str(text) | Value::Partial(text, _) => text,
            // What `yamlencode` was given is passed on as it is.
            _ => return self.arg(0).cloned(),
        };
        let tree = yaml::parse_traced(text, Dialect::Core);
        match (&tree.documents[..], &tree.problems[..]) {
            (&[root], []) => {
                Ok(self.val(of_node(tree.node(root), &self.eval.registry.share).value).from(Some(text.whole())))
            }
            _ => failed("not one YAML document"),
        }
    }
}

/// Calls `f` with some names bound.
fn with_variables<T>(eval: &super::Eval<'_>, variables: &[(Rc<Traced>, Val)], f: &dyn Fn(&super::Eval<'_>) -> T) -> T {
    match variables.split_first() {
        None => f(eval),
        Some(((name, value), rest)) => {
            let scope = Scope { name: name.text(), value: value.clone(), parent: eval.scope };
            with_variables(&eval.with(&scope), rest, f)
        }
    }
}
