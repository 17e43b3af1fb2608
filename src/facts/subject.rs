//! What rules are asked about, as data: the lists of entities, the parts of their entities, and the variables that
//! a rule about each of them has.

use super::value::{Entity, EntityType, Type};
use super::{Facts, LISTS, Workload};
use std::sync::{Arc, OnceLock};

/// A list of entities: a field of [`Facts`], and the function of the rule language that gives all of them.
#[derive(Debug)]
pub struct List {
    /// Its name, `pools`.
    pub name: &'static str,
    /// What it holds.
    pub doc: &'static str,
    /// Whether any deployment may be joined with its entities.
    pub shared: bool,
    /// What a rule about one of its entities is asked about.
    pub subject: &'static Subject,
    /// Its entities.
    pub entities: for<'f> fn(&'f Facts) -> Vec<&'f dyn Entity>,
}

/// What a rule is asked about.
#[derive(Debug)]
pub struct Subject {
    /// Its name in `applies_to`.
    pub name: &'static str,
    /// Its type.
    pub entity: &'static EntityType,
    /// The variable that holds it.
    pub variable: &'static str,
    /// Further variables: fields of it.
    pub short: &'static [(&'static str, &'static str)],
    /// Whether the workload that it is joined with is a variable too.
    pub of_workload: bool,
    /// Fields that make up its name in reports.
    pub named: &'static [&'static str],
    /// What stands between them.
    pub joint: &'static str,
    /// The field that tells kinds of raw documents apart: rules are asked about some kinds only.
    pub kind: Option<&'static str>,
    /// Parts of it, which rules are asked about as well: the fields that hold them.
    pub parts: &'static [(&'static [&'static str], &'static Subject)],
}

/// A subject that is called and held as it is named.
pub(super) const fn subject(name: &'static str, entity: &'static EntityType) -> Subject {
    Subject {
        name,
        entity,
        variable: name,
        short: &[],
        of_workload: false,
        named: &["name"],
        joint: "/",
        kind: None,
        parts: &[],
    }
}

/// A variable of a rule: its name and its type.
pub type Variable = (&'static str, Type);

impl Subject {
    /// The variables that it adds to those of what it is a part of, in slot order.
    fn own_variables(&self) -> impl Iterator<Item = Variable> {
        let short = self
            .short
            .iter()
            .map(|(name, field)| (*name, self.entity.field(field).map_or(Type::Dyn, |(_, f)| (f.ty)())));
        let workload = self.of_workload.then_some(("workload", Type::Entity(Workload::TYPE)));
        std::iter::once((self.variable, Type::Entity(self.entity))).chain(short).chain(workload)
    }
}

/// Every subject with all its variables in slot order, parts after what they are parts of.
pub fn subjects() -> &'static [(&'static Subject, Vec<Variable>)] {
    fn add(subject: &'static Subject, around: &[Variable], out: &mut Vec<(&'static Subject, Vec<Variable>)>) {
        let variables: Vec<Variable> = around.iter().cloned().chain(subject.own_variables()).collect();
        out.push((subject, variables.clone()));
        subject.parts.iter().for_each(|(_, part)| add(part, &variables, out));
    }
    static ALL: OnceLock<Vec<(&Subject, Vec<Variable>)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut out = Vec::new();
        LISTS.iter().for_each(|list| add(list.subject, &[], &mut out));
        out
    })
}

/// Whether a variable stands for a field that other files or the catalog decide.
pub fn is_joined(variable: &str) -> bool {
    let joined = |subject: &Subject, field: &str| subject.entity.field(field).is_some_and(|(_, field)| field.joined);
    let short =
        |subject: &Subject| subject.short.iter().any(|(name, field)| *name == variable && joined(subject, field));
    subjects().iter().any(|(subject, _)| short(subject))
}

/// The list of a name.
pub fn list(name: &str) -> Option<&'static List> {
    LISTS.iter().find(|list| list.name == name)
}

/// What stands in a list: entities, on their own or shared.
pub(super) trait Listed {
    fn entity(&self) -> &dyn Entity;
}

impl<E: Entity> Listed for E {
    fn entity(&self) -> &dyn Entity {
        self
    }
}

impl<E: Entity> Listed for Arc<E> {
    fn entity(&self) -> &dyn Entity {
        &**self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_name_fields_that_their_entities_have() {
        for (subject, _) in subjects() {
            let parts = subject.parts.iter().flat_map(|(fields, _)| *fields);
            let fields = subject.short.iter().map(|(_, field)| field).chain(subject.named).chain(parts);
            for field in fields.chain(&subject.kind) {
                assert!(subject.entity.field(field).is_some(), "{} has no field {field}", subject.name);
            }
        }
        for list in LISTS.iter().filter(|list| list.subject.of_workload) {
            assert!(Workload::TYPE.field(list.name).is_some(), "workloads hold no {}", list.name);
        }
    }
}
