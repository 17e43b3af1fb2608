//! gpulint tells, before anything is deployed, whether a GPU workload will schedule, start, fit in memory,
//! talk fast enough, scale, stay up and stay private.
//!
//! ```text
//! discover -> parse -> extract -> FACTS -> link -> evaluate -> FINDINGS -> judge -> VERDICT -> report
//! paths       spanned   per        what    joined   rules x     what is     config,  shown /     human, json,
//! + kind      trees     format     is so   facts    catalog     wrong       ignores  waived /    sarif
//!                                                                                    stale
//! ```
//!
//! Arrows go one way; `tests/it/architecture.rs` holds the table of who may use whom.

pub mod budget;
pub mod catalog;
pub mod changes;
pub mod cli;
pub mod config;
pub mod contract;
pub mod costs;
pub mod discover;
pub mod evaluate;
pub mod evidence;
pub mod extract;
pub mod facts;
pub mod finding;
pub mod judge;
pub mod known;
pub mod language;
pub mod link;
pub mod lint;
pub mod lsp;
pub mod mend;
pub mod names;
pub mod parse;
pub mod paths;
pub mod quantity;
pub mod render;
pub mod report;
pub mod rules;
pub mod shelf;
pub mod source;
pub mod suggest;
pub mod version;
pub mod vram;
pub mod words;
