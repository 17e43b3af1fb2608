//! Helm charts: which files make one, and what it renders to. Knows Helm's layout and rules of values; knows neither
//! Kubernetes nor GPUs.

pub mod chart;
mod ignore;
pub mod install;
pub mod sets;
pub mod values;
