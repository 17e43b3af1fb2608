//! The `gpulint` binary.

fn main() {}
