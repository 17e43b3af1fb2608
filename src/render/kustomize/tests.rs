//! Builds of small kustomizations.
