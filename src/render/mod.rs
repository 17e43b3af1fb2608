//! Templates and modules into documents, offline: every piece of what is rendered leads back to what was written. Knows
//! template languages and the layouts of their tools; knows neither Kubernetes nor GPUs.

pub mod ansible;
pub mod bake;
pub mod class;
mod collections;
pub mod compose;
pub mod fill;
pub mod flux;
pub mod gotemplate;
pub mod helm;
pub mod kustomize;
pub mod openshift;
mod pattern;
pub mod terraform;
pub mod text;
pub mod value;
