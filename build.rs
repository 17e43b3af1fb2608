//! Reads the rule files once, at build time.

fn main() {}
