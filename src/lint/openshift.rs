//! Templates of OpenShift with the values of their own parameters.

use super::Repository;
use super::filled::{self, Filled};
use crate::render::openshift::Parameters;

/// Puts the values of parameters into the templates that state them.
pub fn fill(here: &Repository<'_>) -> Filled {
    filled::fill(here, |_, tree| Some(Box::new(Parameters::of(tree)?) as _))
}
