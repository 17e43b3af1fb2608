//! Writes a tree to measure on: `cargo run --example tree -- manifests|mixed|repositories COUNT DIRECTORY`.

#[path = "../benches/trees/mod.rs"]
mod trees;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shape, count, directory] = &arguments[..] else { return Err("tree SHAPE COUNT DIRECTORY".into()) };
    let count = count.parse()?;
    let files = match shape.as_str() {
        "manifests" => trees::manifests(count),
        "mixed" => trees::mixed(count),
        "repositories" => trees::repositories(count),
        _ => return Err("a tree is one of manifests, mixed, repositories".into()),
    };
    for (path, text) in files {
        let path = Path::new(directory).join(path);
        fs::create_dir_all(path.parent().ok_or("a folder")?)?;
        fs::write(path, text)?;
    }
    Ok(())
}
