//! Functions of CloudFormation: what stands for their values. Knows their names and arguments, and fills nothing in.

use crate::known::Why;
use crate::parse::{Entry, Node, NodeId, NodeKind, Shape, Tree};
use crate::source::{Span, Traced};

/// The unknown that a function of CloudFormation stands for, by its short name; a reference keeps its name.
pub(super) fn function(name: &str, argument: &str) -> Option<NodeKind> {
    let why = match name {
        // CloudFormation's word for a property that is left out.
        "Ref" if argument == "AWS::NoValue" => return Some(NodeKind::Null),
        "Ref" => Why::Variable(argument.into()),
        "If" | "GetAtt" | "FindInMap" | "Select" | "Join" | "Split" | "ImportValue" | "GetAZs" | "Cidr" => {
            Why::Remote(format!("!{name} {argument}").trim_end().into())
        }
        "Sub" if argument.is_empty() => Why::Remote("!Sub".into()),
        _ => return None,
    };
    Some(NodeKind::Unknown(why))
}

/// What a function makes of its arguments: one that chooses between something and nothing may give nothing.
pub(super) fn either(tree: &Tree, arguments: &[NodeId], kind: Option<NodeKind>) -> NodeKind {
    match kind {
        Some(NodeKind::Unknown(why)) if arguments.iter().any(|&id| tree.node(id).is_null()) => {
            NodeKind::Unknown(why.perhaps())
        }
        kind => kind.unwrap_or(NodeKind::Null),
    }
}

/// The same for the long form: a mapping of one key, `Ref` or `Fn::…`. `Ref` is a plain key outside of templates.
pub(super) fn long_function(template: bool, tree: &Tree, entries: &[Entry], span: Span) -> Option<NodeKind> {
    let [Entry { key, value }] = entries else { return None };
    let (name, argument) = (tree.node(*key).text()?, tree.node(*value).text().unwrap_or(""));
    if let Some(short) = name.strip_prefix("Fn::") {
        let items: Vec<NodeId> = tree.node(*value).items().map(Node::id).collect();
        let only = [*value];
        if let Some(text) = text(tree, short, if items.is_empty() { &only } else { &items }, span) {
            return Some(text);
        }
    }
    match name.strip_prefix("Fn::") {
        Some("If") => {
            let arguments: Vec<NodeId> = tree.node(*value).items().map(Node::id).collect();
            Some(either(tree, &arguments, function("If", "")))
        }
        Some(_) if argument.contains("${") => Some(NodeKind::Unknown(Why::Remote(name.into()))),
        Some(short) => function(short, argument),
        None if name == "Ref" && !argument.is_empty() && template => function(name, argument),
        None => None,
    }
}

/// The text that a function puts together, with the names of what it fills in where that stands, or the place in a map that
/// it looks up; none for other functions, and for arguments that are no texts.
pub(super) fn text(tree: &Tree, name: &str, arguments: &[NodeId], whole: Span) -> Option<NodeKind> {
    let first = tree.node(*arguments.first()?);
    let text = match name {
        "Base64" => first.traced()?,
        "Sub" => named(first.traced()?, arguments.get(1).map(|&names| tree.node(names)))?,
        "FindInMap" => return looked_up(tree, arguments),
        "GetAtt" => {
            let parts: Option<Vec<&str>> = arguments.iter().map(|&id| tree.node(id).text()).collect();
            return Some(NodeKind::Unknown(Why::Remote(format!("!GetAtt {}", parts?.join(".")).into())));
        }
        "Join" => joined(first.traced()?, tree.node(*arguments.get(1)?), whole)?,
        _ => return None,
    };
    Some(NodeKind::Scalar { text, plain: false })
}

/// A text with what the names of its own stand for, which hide parameters that are called so: a text, or the name that is
/// referred to. None where one of them cannot be told.
fn named(text: Traced, names: Option<Node<'_>>) -> Option<Traced> {
    let Some(names) = names else { return Some(text) };
    let (whole, mut parts, mut at) = (text.text(), vec![], 0);
    let mut size = whole.len();
    while let Some(from) = whole[at..].find("${").map(|from| at + from) {
        let Some(end) = whole[from..].find('}').map(|end| from + end) else { break };
        let part = match names.get(&whole[from + 2..end]) {
            None => text.slice(from..end + 1),
            Some(value) => filled_in(value)?,
        };
        size += part.text().len();
        if size > MOST_JOINED {
            return None;
        }
        parts.extend([text.slice(at..from), part]);
        at = end + 1;
    }
    parts.push(text.slice(at..whole.len()));
    Some(Traced::concat(parts, text.whole()))
}

/// What stands in a text for a value that is filled in.
fn filled_in(value: Node<'_>) -> Option<Traced> {
    match value.kind() {
        Shape::Unknown(Why::Variable(name)) => Some(Traced::opaque(format!("${{{name}}}"), value.span())),
        Shape::Unknown(_) => Some(Traced::opaque("${}", value.span())),
        _ => value.traced(),
    }
}

/// A value of a map as `!FindInMap Map ${Parameter} Key`.
fn looked_up(tree: &Tree, arguments: &[NodeId]) -> Option<NodeKind> {
    let part = |id: &NodeId| match tree.node(*id).kind() {
        Shape::Unknown(Why::Variable(name)) => Some(format!("${{{name}}}")),
        Shape::Scalar { text, .. } => Some(text.to_owned()),
        _ => None,
    };
    let parts: Vec<String> = arguments.iter().map(part).collect::<Option<_>>()?;
    let path = (parts.len() == 3 && parts.iter().all(|part| !part.contains(' '))).then(|| parts.join(" "))?;
    Some(NodeKind::Unknown(Why::Remote(format!("!FindInMap {path}").into())))
}

/// Longest text that is put together: aliases may multiply what it consists of.
const MOST_JOINED: usize = 1 << 20;

/// Texts with a sign between them.
fn joined(between: Traced, list: Node<'_>, whole: Span) -> Option<Traced> {
    let (mut parts, mut size) = (vec![], 0);
    for item in list.is_seq().then(|| list.items())? {
        let part = filled_in(item)?;
        size += part.text().len() + between.text().len();
        if size > MOST_JOINED {
            return None;
        }
        if !parts.is_empty() {
            parts.push(Traced::opaque(between.text(), between.whole()));
        }
        parts.push(part);
    }
    Some(Traced::concat(parts, whole))
}
