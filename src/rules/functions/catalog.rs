//! Functions over the catalog.

use super::*;

pub(super) const FUNCTIONS: &[Function] = &[];
