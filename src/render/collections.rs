//! What holds values: mappings, shared and mutable, and lists. Knows values; knows no template language.

use super::class::Class;
use super::value::{Data, Value};
use crate::source::Span;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

/// A value under a key, and where the key was written.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// The key.
    pub key: Option<Span>,
    /// The value.
    pub value: Value,
    /// Takes note of whoever asks for it.
    pub watch: Option<Rc<Cell<bool>>>,
}

impl Entry {
    fn asked(&self) {
        if let Some(watch) = &self.watch {
            watch.set(true);
        }
    }
}

/// A mapping in the order of its keys. Clones are the same mapping. It may come to hold itself: walk with a bound.
#[derive(Debug, Clone, Default)]
pub struct Map(Rc<RefCell<Entries>>, Class);

#[derive(Debug, Clone, Default)]
struct Entries(BTreeMap<String, Entry>);

/// The items of a list, what Go calls their type, and whether it was never made: Go writes `null` of such a list.
#[derive(Debug, Clone)]
pub struct Items(Vec<Value>, &'static str, bool);

/// The type of items that may be anything.
pub const ANYTHING: &str = "interface {}";

impl Items {
    /// Items of a type.
    pub fn of(items: Vec<Value>, element: &'static str) -> Self {
        Self(items, element, false)
    }

    /// Items that a function of Go appended to a list that it never made: without any there is none.
    pub fn appended(items: Vec<Value>, element: &'static str) -> Self {
        let is_nil = items.is_empty();
        Self(items, element, is_nil)
    }

    /// The same kind of list with other items.
    pub fn with(&self, items: Vec<Value>) -> Self {
        Self(items, self.1, self.2)
    }

    /// Whether it was never made.
    pub fn is_nil(&self) -> bool {
        self.2
    }

    /// What Go calls their type.
    pub fn element(&self) -> &'static str {
        self.1
    }
}

impl From<Vec<Value>> for Items {
    fn from(items: Vec<Value>) -> Self {
        Self(items, ANYTHING, false)
    }
}

impl Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        unravel(self.0.drain(..));
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        unravel(std::mem::take(&mut self.0).into_values().map(|entry| entry.value));
    }
}

/// Drops values one by one: templates can nest them deeper than the stack is.
fn unravel(values: impl Iterator<Item = Value>) {
    let container = |value: &Value| matches!(value.data, Data::List(_) | Data::Map(_));
    let mut left: Vec<Value> = values.filter(container).collect();
    while let Some(value) = left.pop() {
        match value.data {
            Data::List(items) => {
                if let Ok(mut items) = Rc::try_unwrap(items) {
                    left.extend(items.0.drain(..).filter(container));
                }
            }
            Data::Map(map) => {
                if let Ok(entries) = Rc::try_unwrap(map.0) {
                    let entries = std::mem::take(&mut entries.borrow_mut().0);
                    left.extend(entries.into_values().map(|entry| entry.value).filter(container));
                }
            }
            _ => {}
        }
    }
}

impl Map {
    /// An empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same mapping as Go sees it elsewhere.
    pub fn as_class(&self, class: Class) -> Self {
        Self(Rc::clone(&self.0), class)
    }

    /// What it is in Go.
    pub fn class(&self) -> Class {
        self.1
    }

    /// Takes note in `watch` of whoever asks for a key that is there.
    pub fn watch(&self, key: &str, watch: &Rc<Cell<bool>>) {
        if let Some(entry) = self.0.borrow_mut().0.get_mut(key) {
            entry.watch = Some(Rc::clone(watch));
        }
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<Value> {
        let entries = self.0.borrow();
        let entry = entries.0.get(key)?;
        entry.asked();
        Some(entry.value.clone())
    }

    /// Puts a value under a key; `place` is where the key was written. A key that is there keeps its place.
    pub fn insert(&self, key: &str, place: Option<Span>, value: Value) {
        let mut entries = self.0.borrow_mut();
        match entries.0.get_mut(key) {
            Some(entry) => {
                let old = std::mem::replace(&mut entry.value, value);
                drop(entries);
                drop(old);
            }
            None => {
                entries.0.insert(key.to_owned(), Entry { key: place, value, watch: None });
            }
        }
    }

    /// Takes a key away.
    pub fn remove(&self, key: &str) {
        let old = self.0.borrow_mut().0.remove(key);
        drop(old);
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.0.borrow().0.contains_key(key)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.borrow().0.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().0.is_empty()
    }

    /// Keys and values as they are now.
    pub fn entries(&self) -> Vec<(String, Entry)> {
        let entries = self.0.borrow();
        entries.0.iter().inspect(|(_, entry)| entry.asked()).map(|(key, entry)| (key.clone(), entry.clone())).collect()
    }

    /// Keys and values of another mapping, those that are shared included.
    pub fn copy(&self) -> Map {
        Map(Rc::new(RefCell::new(self.0.borrow().clone())), self.1)
    }

    /// Whether nobody else has it.
    pub fn is_alone(&self) -> bool {
        Rc::strong_count(&self.0) == 1
    }

    /// Whether both are the same mapping.
    pub fn is(&self, other: &Map) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<K: AsRef<str>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let map = Map::new();
        entries.into_iter().for_each(|(key, value)| map.insert(key.as_ref(), None, value));
        map
    }
}
