//! `config.pbtxt`: how Triton serves a model.
//! https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/model_configuration.html

use super::{TextFile, embedded};
use crate::facts::{Document, Facts};
use crate::parse::{Raw, Tree, pbtxt};
use crate::source::{SourceId, Traced};
use std::sync::Arc;

/// Reads a file.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let tree = Arc::new(pbtxt::parse(id, text));
    document(&tree, path, facts);
    // A template may fill in anything, anywhere.
    let problems = if text.contains("{{") || text.contains("{%") { Vec::new() } else { tree.problems.clone() };
    TextFile { problems, comments: tree.comments.clone(), ..TextFile::default() }
}

/// Reads a text in another document.
pub fn embedded(text: &Traced, at: &str, facts: &mut Facts) {
    let mut tree = pbtxt::parse(text.whole().source, text.text());
    tree.retrace(text);
    document(&Arc::new(tree), at, facts);
}

fn document(tree: &Arc<Tree>, path: &str, facts: &mut Facts) {
    for root in tree.roots() {
        facts.objects.push(Arc::new(embedded::object(tree, root, "TritonModelConfig", path)));
        facts.documents.push(Document::new("triton", Raw::new(tree, root.view())));
    }
}
