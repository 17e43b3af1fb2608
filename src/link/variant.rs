//! Variants: documents that are deployed together, under a name, instead of those of other forms of the same thing.

use crate::facts::Facts;
use crate::source::{SourceId, Span};

/// Places of values, sorted, each with the expression of a template that brought the value in.
pub type Routes = Vec<(Span, Span)>;

/// A chart with one set of values, a kustomization, a profile of a Compose project, or the plain files of a repository.
#[derive(Debug, Default)]
pub struct Variant {
    /// What reports call it.
    pub name: String,
    /// What its documents state.
    pub facts: Facts,
    /// The `Chart.yaml` or `kustomization.yaml` that all forms of one thing have in common, of which one is deployed. The
    /// plain files have none, and need not be deployed together.
    pub thing: Option<SourceId>,
    /// Whether this form stands for the others where something else looks at the thing.
    pub first: bool,
    /// What reports call the form that is told about first, where this is another one.
    pub beside: Option<String>,
    /// Whether it differs by what the cluster offers alone: what the form beside it shows too is not told of it.
    pub elsewhere: bool,
    /// The file of values, where nothing says that it is installed.
    pub example: Option<SourceId>,
    /// Places of values, each with the expression that brought the value in.
    pub routes: Routes,
}

impl Variant {
    /// The plain files of a repository.
    pub fn plain(facts: Facts) -> Self {
        Self { facts, first: true, ..Self::default() }
    }

    /// Whether these are the plain files.
    pub fn is_plain(&self) -> bool {
        self.thing.is_none()
    }
}
