//! The rule language: CEL's syntax over typed, three-valued facts. Knows the reflection of facts; knows
//! neither formats nor output.

pub mod check;
pub mod eval;
pub mod open;
pub mod values;
