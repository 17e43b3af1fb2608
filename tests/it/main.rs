//! What gpulint promises its users, as one test binary: it links once.

mod architecture;
mod boundaries;
mod builds;
mod catalog;
mod catalog_facts;
mod charts;
mod cli;
mod compose;
mod configuration;
mod docs;
mod formats;
mod gate;
mod guides;
mod invariants;
mod languages;
mod releases;
mod reports;
mod robustness;
mod schemas;
mod supply_chain;
mod syntax;
mod templates;
mod terraform;
mod text_syntaxes;
mod training;
mod vram;
