//! Outputs: one file per format over the same findings. Knows findings and sources; knows neither facts nor
//! syntaxes.

pub mod human;
pub mod json;
mod source_code;
