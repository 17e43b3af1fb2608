//! Tokens into nodes.

use super::lexer::{Kind, Segment, Token};
use super::{Branch, Choice, Command, Expr, ExprKind, Fault, Node, Pipe, Template};
use std::ops::Range;

/// Deepest nesting of blocks and of parentheses.
const MAX_NESTING: usize = 100;

/// Puts the segments of a template together.
pub(super) fn template(segments: Vec<Segment>) -> Result<Template, Fault> {
    let mut parser = Parser {
        segments: segments.into_iter(),
        defined: Vec::new(),
        variables: vec![String::new()],
        loops: 0,
        nesting: 0,
    };
    let (body, end) = parser.list()?;
    match end {
        Stop::Text => Ok(Template { body, defined: parser.defined }),
        Stop::End(at) => fault(at, "unexpected {{end}}"),
        Stop::Else(_, at) => fault(at, "unexpected {{else}}"),
    }
}

fn fault<T>(at: Range<usize>, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { at, message: message.into(), ours: false })
}

/// What ended a list of nodes.
enum Stop {
    Text,
    End(Range<usize>),
    /// The tokens after `else`.
    Else(Tokens, Range<usize>),
}

struct Parser {
    segments: std::vec::IntoIter<Segment>,
    defined: Vec<(String, Vec<Node>)>,
    /// Variables in scope, without `$`; the first is `$` itself.
    variables: Vec<String>,
    loops: usize,
    nesting: usize,
}

impl Parser {
    /// Nodes up to `end`, `else` or the end of the text.
    fn list(&mut self) -> Result<(Vec<Node>, Stop), Fault> {
        let mut nodes = Vec::new();
        while let Some(segment) = self.segments.next() {
            let (tokens, at) = match segment {
                Segment::Text(range) => {
                    nodes.push(Node::Text(range));
                    continue;
                }
                Segment::Action(tokens, at) => (tokens, at),
            };
            let mut tokens = Tokens::new(tokens, at.end);
            let keyword = tokens.keyword();
            match keyword.as_deref() {
                Some("end") => {
                    tokens.finish("end")?;
                    return Ok((nodes, Stop::End(at)));
                }
                Some("else") => return Ok((nodes, Stop::Else(tokens, at))),
                Some("if") => nodes.push(Node::If(self.choice("if", tokens, at)?)),
                Some("with") => nodes.push(Node::With(self.choice("with", tokens, at)?)),
                Some("range") => nodes.push(Node::Range(self.branch(tokens, at)?)),
                Some("define") => self.define(tokens, at)?,
                Some("block") => nodes.push(self.block(tokens, at)?),
                Some("template") => {
                    let name = tokens.name("template")?;
                    let pipe = if tokens.peek().is_some() { Some(self.pipe(&mut tokens, "template")?) } else { None };
                    nodes.push(Node::Template { name, pipe, at });
                }
                Some(word @ ("break" | "continue")) => {
                    if self.loops == 0 {
                        return fault(at, format!("{{{{{word}}}}} outside {{{{range}}}}"));
                    }
                    tokens.finish(word)?;
                    nodes.push(if word == "break" { Node::Break } else { Node::Continue });
                }
                _ => {
                    if let Some((word, meant)) = tokens.borrowed() {
                        return fault(at, format!("function \"{word}\" not defined: Go templates write {meant}"));
                    }
                    let mut pipe = self.pipe(&mut tokens, "command")?;
                    pipe.at = at;
                    nodes.push(Node::Action(pipe));
                }
            }
        }
        Ok((nodes, Stop::Text))
    }

    fn deeper<T>(&mut self, at: &Range<usize>, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.nesting == MAX_NESTING {
            return Err(Fault { at: at.clone(), message: "nested too deeply".to_owned(), ours: true });
        }
        self.nesting += 1;
        let out = inner(self);
        self.nesting -= 1;
        out
    }

    /// The condition of a block, and the nodes up to what ends them.
    fn arm(&mut self, name: &str, mut tokens: Tokens, at: &Range<usize>) -> Result<((Pipe, Vec<Node>), Stop), Fault> {
        let mut pipe = self.pipe(&mut tokens, name)?;
        pipe.at = at.clone();
        let in_loop = usize::from(name == "range");
        self.loops += in_loop;
        let (body, end) = self.deeper(at, Self::list)?;
        self.loops -= in_loop;
        Ok(((pipe, body), end))
    }

    /// What stands after a last `else`.
    fn last(&mut self, name: &str, tokens: &mut Tokens, at: &Range<usize>) -> Result<Vec<Node>, Fault> {
        tokens.finish("else")?;
        match self.deeper(at, Self::list)? {
            (otherwise, Stop::End(_)) => Ok(otherwise),
            (_, Stop::Else(_, at)) => fault(at, "expected {{end}}; found {{else}}"),
            (_, Stop::Text) => fault(at.clone(), format!("{{{{{name}}}}} has no {{{{end}}}}")),
        }
    }

    fn branch(&mut self, tokens: Tokens, at: Range<usize>) -> Result<Branch, Fault> {
        let scope = self.variables.len();
        let ((pipe, body), end) = self.arm("range", tokens, &at)?;
        let otherwise = match end {
            Stop::Text => return fault(at, "{{range}} has no {{end}}"),
            Stop::End(_) => Vec::new(),
            Stop::Else(mut tokens, place) => match tokens.keyword() {
                Some(word) => return fault(place, format!("unexpected {word} after else")),
                None => self.last("range", &mut tokens, &at)?,
            },
        };
        self.variables.truncate(scope);
        Ok(Branch { pipe, body, otherwise })
    }

    /// `else if` and `else with` share the `end` of what they stand in.
    fn choice(&mut self, name: &str, mut tokens: Tokens, mut at: Range<usize>) -> Result<Choice, Fault> {
        let scope = self.variables.len();
        let mut arms = Vec::new();
        let otherwise = loop {
            let (arm, end) = self.arm(name, tokens, &at)?;
            arms.push(arm);
            match end {
                Stop::Text => return fault(at, format!("{{{{{name}}}}} has no {{{{end}}}}")),
                Stop::End(_) => break Vec::new(),
                Stop::Else(mut next, place) => match next.keyword().as_deref() {
                    Some(word) if word == name => (tokens, at) = (next, place),
                    Some(word) => return fault(place, format!("unexpected {word} after else")),
                    None => break self.last(name, &mut next, &at)?,
                },
            }
        };
        self.variables.truncate(scope);
        Ok(Choice { arms, otherwise })
    }

    /// Nodes up to `end`, which see none of the variables outside.
    fn definition(&mut self, at: &Range<usize>) -> Result<Vec<Node>, Fault> {
        let outside = std::mem::replace(&mut self.variables, vec![String::new()]);
        let loops = std::mem::take(&mut self.loops);
        let (body, end) = self.deeper(at, Self::list)?;
        self.variables = outside;
        self.loops = loops;
        match end {
            Stop::End(_) => Ok(body),
            Stop::Else(_, at) => fault(at, "unexpected {{else}} in a definition"),
            Stop::Text => fault(at.clone(), "the definition has no {{end}}"),
        }
    }

    fn define(&mut self, mut tokens: Tokens, at: Range<usize>) -> Result<(), Fault> {
        if self.nesting > 0 {
            return fault(at, "unexpected {{define}}");
        }
        let name = tokens.name("define")?;
        tokens.finish("define")?;
        let body = self.definition(&at)?;
        self.defined.push((name, body));
        Ok(())
    }

    fn block(&mut self, mut tokens: Tokens, at: Range<usize>) -> Result<Node, Fault> {
        let name = tokens.name("block")?;
        let pipe = self.pipe(&mut tokens, "block")?;
        let body = self.definition(&at)?;
        self.defined.push((name.clone(), body));
        Ok(Node::Template { name, pipe: Some(pipe), at })
    }

    /// A pipeline up to the end of the action.
    fn pipe(&mut self, tokens: &mut Tokens, context: &str) -> Result<Pipe, Fault> {
        let pipe = self.pipeline(tokens, context)?;
        match tokens.next() {
            None => Ok(pipe),
            Some(token) => fault(token.at, format!("unexpected token in {context}")),
        }
    }

    /// A pipeline up to a closing parenthesis or the end of the action.
    fn pipeline(&mut self, tokens: &mut Tokens, context: &str) -> Result<Pipe, Fault> {
        tokens.skip_space();
        let start = tokens.place();
        let (variables, assigns) = tokens.declarations(context)?;
        let mut commands: Vec<Command> = Vec::new();
        loop {
            let operands = self.operands(tokens)?;
            let (Some(first), Some(last)) = (operands.first(), operands.last()) else {
                return fault(tokens.place(), format!("missing value for {context}"));
            };
            let literal = |e: &Expr| {
                !matches!(
                    e.kind,
                    ExprKind::Field(_)
                        | ExprKind::Variable(..)
                        | ExprKind::Function(_)
                        | ExprKind::Pipe(_)
                        | ExprKind::Chain(..)
                )
            };
            let at = first.at.start..last.at.end;
            if !commands.is_empty() && literal(first) {
                return fault(at, format!("non executable command in pipeline stage {}", commands.len() + 1));
            }
            commands.push(Command { at, operands });
            tokens.skip_space();
            if tokens.peek() != Some(&Kind::Pipe) {
                break;
            }
            tokens.next();
        }
        // Declared names are in scope only after their pipeline.
        if assigns {
            variables.iter().try_for_each(|name| self.known(name, &start))?;
        } else {
            self.variables.extend(variables.iter().cloned());
        }
        let end = commands.last().map_or(start.end, |c| c.at.end);
        Ok(Pipe { variables, assigns, commands, at: start.start..end })
    }

    fn known(&self, name: &str, at: &Range<usize>) -> Result<(), Fault> {
        if self.variables.iter().any(|variable| variable == name) {
            return Ok(());
        }
        fault(at.clone(), format!("undefined variable \"${name}\""))
    }

    /// Operands with space between them.
    fn operands(&mut self, tokens: &mut Tokens) -> Result<Vec<Expr>, Fault> {
        let mut out = Vec::new();
        loop {
            tokens.skip_space();
            let Some(operand) = self.operand(tokens)? else { return Ok(out) };
            out.push(operand);
            match tokens.peek() {
                None | Some(Kind::Space | Kind::Pipe | Kind::Close) => {}
                Some(_) => return fault(tokens.place(), "unexpected token in operand"),
            }
        }
    }

    fn operand(&mut self, tokens: &mut Tokens) -> Result<Option<Expr>, Fault> {
        let Some(mut expr) = self.term(tokens)? else { return Ok(None) };
        let mut names = Vec::new();
        let mut end = expr.at.end;
        while let Some(Kind::Field(name)) = tokens.peek() {
            names.push(name.clone());
            end = tokens.place().end;
            tokens.next();
        }
        if names.is_empty() {
            return Ok(Some(expr));
        }
        let at = expr.at.start..end;
        expr.kind = match expr.kind {
            ExprKind::Field(mut fields) => {
                fields.append(&mut names);
                ExprKind::Field(fields)
            }
            ExprKind::Variable(name, mut fields) => {
                fields.append(&mut names);
                ExprKind::Variable(name, fields)
            }
            kind @ (ExprKind::Function(_) | ExprKind::Pipe(_)) => {
                ExprKind::Chain(Box::new(Expr { kind, at: expr.at }), names)
            }
            _ => return fault(at, "unexpected . after a constant"),
        };
        expr.at = at;
        Ok(Some(expr))
    }

    fn term(&mut self, tokens: &mut Tokens) -> Result<Option<Expr>, Fault> {
        let at = tokens.place();
        let kind = match tokens.peek() {
            Some(Kind::Dot) => ExprKind::Dot,
            Some(Kind::Int(value)) => ExprKind::Int(*value),
            Some(Kind::Float(value)) => ExprKind::Float(*value),
            Some(Kind::String(text)) => ExprKind::String(text.clone()),
            Some(Kind::Field(name)) => ExprKind::Field(vec![name.clone()]),
            Some(Kind::Variable(name)) => {
                self.known(name, &at)?;
                ExprKind::Variable(name.clone(), Vec::new())
            }
            Some(Kind::Word(word)) => match word.as_str() {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "nil" => ExprKind::Nil,
                name => ExprKind::Function(name.to_owned()),
            },
            Some(Kind::Open) => {
                tokens.next();
                let pipe = self.deeper(&at, |parser| parser.pipeline(tokens, "parenthesized pipeline"))?;
                if tokens.peek() != Some(&Kind::Close) {
                    return fault(tokens.place(), "expected a closing parenthesis");
                }
                let at = at.start..tokens.place().end;
                tokens.next();
                return Ok(Some(Expr { kind: ExprKind::Pipe(Box::new(pipe)), at }));
            }
            _ => return Ok(None),
        };
        tokens.next();
        Ok(Some(Expr { kind, at }))
    }
}

/// The tokens of one action.
struct Tokens {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
}

impl Tokens {
    fn new(tokens: Vec<Token>, end: usize) -> Self {
        Self { tokens, next: 0, end }
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.next).map(|t| &t.kind)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.next).cloned();
        self.next += 1;
        token
    }

    /// Where the next token stands.
    fn place(&self) -> Range<usize> {
        self.tokens.get(self.next).map_or(self.end.saturating_sub(2)..self.end, |t| t.at.clone())
    }

    fn skip_space(&mut self) {
        while self.peek() == Some(&Kind::Space) {
            self.next += 1;
        }
    }

    /// Takes a keyword, if one comes next.
    fn keyword(&mut self) -> Option<String> {
        const KEYWORDS: &[&str] =
            &["if", "else", "end", "range", "with", "define", "block", "template", "break", "continue"];
        self.skip_space();
        let Some(Kind::Word(word)) = self.peek() else { return None };
        let word = word.clone();
        KEYWORDS.contains(&word.as_str()).then(|| {
            self.next += 1;
            self.skip_space();
            word
        })
    }

    /// A keyword of other template languages that comes next, with what stands for it in this one.
    fn borrowed(&self) -> Option<(&str, &'static str)> {
        const OTHERS: [(&str, &str); 7] = [
            ("elif", "else if"),
            ("elseif", "else if"),
            ("elsif", "else if"),
            ("endif", "end"),
            ("endfor", "end"),
            ("endwith", "end"),
            ("endrange", "end"),
        ];
        let Some(Kind::Word(word)) = self.peek() else { return None };
        OTHERS.iter().find(|(other, _)| other == word).map(|(_, meant)| (word.as_str(), *meant))
    }

    /// Takes the name of a template.
    fn name(&mut self, context: &str) -> Result<String, Fault> {
        self.skip_space();
        let at = self.place();
        match self.next().map(|t| t.kind) {
            Some(Kind::String(name)) => {
                self.skip_space();
                Ok(name)
            }
            _ => fault(at, format!("{context} needs a name in quotes")),
        }
    }

    /// Nothing but space is left.
    fn finish(&mut self, context: &str) -> Result<(), Fault> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => fault(self.place(), format!("unexpected token in {context}")),
        }
    }

    /// `$a :=`, `$a, $b :=` (in `range`), `$a =`.
    fn declarations(&mut self, context: &str) -> Result<(Vec<String>, bool), Fault> {
        let start = self.next;
        let mut names = Vec::new();
        while let Some(Kind::Variable(name)) = self.peek() {
            names.push(name.clone());
            self.next += 1;
            self.skip_space();
            match self.peek() {
                Some(Kind::Comma) if context == "range" && names.len() == 1 => {
                    self.next += 1;
                    self.skip_space();
                }
                Some(kind @ (Kind::Declare | Kind::Assign)) => {
                    let assigns = *kind == Kind::Assign;
                    self.next += 1;
                    self.skip_space();
                    return Ok((names, assigns));
                }
                _ => break,
            }
        }
        self.next = start;
        Ok((Vec::new(), false))
    }
}
