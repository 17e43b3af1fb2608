//! Outputs: one file per format over the same findings. Knows findings and sources; knows neither facts nor
//! syntaxes.

pub mod human;
pub mod json;
pub mod sarif;
mod source_code;
