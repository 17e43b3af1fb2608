//! Conditions that several rules about the same thing share, and those of rules that are asked about each element of a list. A
//! rule is not asked about a thing of which one of them does not hold, so each is asked once for all of its rules, and no list
//! is made for nothing.

#[allow(dead_code)]
#[path = "../src/parse/expression.rs"]
mod expression;

use expression::{Expr, Kind, Op};
use serde_yaml::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The conditions, each with what it is asked about, and for each rule those without which it does not fire.
#[derive(Default)]
pub struct Gates {
    found: BTreeMap<(String, String), Vec<usize>>,
    of_lists: BTreeSet<usize>,
    rules: usize,
}

impl Gates {
    /// Takes the parts of a rule's `when` that nothing but the subject decides.
    pub fn add(&mut self, subject: &str, rule: &Value) {
        let names = |key: &str| rule.get(key).and_then(Value::as_mapping).into_iter().flatten();
        let own: BTreeSet<&str> =
            ["each", "let", "params"].into_iter().flat_map(names).filter_map(|(name, _)| name.as_str()).collect();
        if let Some(when) = rule.get("when").and_then(Value::as_str) {
            let parsed = expression::expression(when).unwrap_or_else(|fault| panic!("{when}: {}", fault.message));
            let mut parts = Vec::new();
            conjuncts(&parsed, &mut parts);
            let closed = parts.into_iter().filter(|part| !names_one(part, &own));
            let texts: BTreeSet<String> = closed.map(|part| when[part.range.clone()].to_owned()).collect();
            for text in texts {
                self.found.entry((subject.to_owned(), text)).or_default().push(self.rules);
            }
        }
        self.of_lists.extend(rule.get("each").map(|_| self.rules));
        self.rules += 1;
    }

    /// Of all of them a table, and for each rule, in the order in which they were added, which.
    pub fn all(self) -> (Vec<(String, String)>, Vec<Vec<usize>>) {
        let (mut table, mut of_rules) = (Vec::new(), vec![Vec::new(); self.rules]);
        let of_lists = self.of_lists;
        let counts = |rules: &[usize]| rules.len() > 1 || rules.iter().any(|rule| of_lists.contains(rule));
        for (gate, rules) in self.found.into_iter().filter(|(_, rules)| counts(rules)) {
            rules.into_iter().for_each(|rule| of_rules[rule].push(table.len()));
            table.push(gate);
        }
        (table, of_rules)
    }
}

fn conjuncts<'e>(expr: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &expr.kind {
        Kind::Binary(Op::And, a, b) => [a, b].into_iter().for_each(|part| conjuncts(part, out)),
        _ => out.push(expr),
    }
}

/// Whether an expression uses one of some names.
fn names_one(expr: &Expr, names: &BTreeSet<&str>) -> bool {
    let any = |all: &[Expr]| all.iter().any(|part| names_one(part, names));
    match &expr.kind {
        Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Str(_) => false,
        Kind::Ident(name) => name == "params" || names.contains(name.as_str()),
        Kind::List(items) => any(items),
        Kind::Field(base, _) | Kind::Not(base) | Kind::Negative(base) => names_one(base, names),
        Kind::Index(a, b) | Kind::Binary(_, a, b) => names_one(a, names) || names_one(b, names),
        Kind::Cond(a, b, c) => [a, b, c].into_iter().any(|part| names_one(part, names)),
        Kind::Call { target, args, .. } => target.as_ref().is_some_and(|target| names_one(target, names)) || any(args),
    }
}
