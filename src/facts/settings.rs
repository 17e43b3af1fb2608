//! Settings of launches and training runs by their names in the catalog: how a text states one, and how it reads.

use crate::known::{Fact, Known, Why};

/// A value that a text states.
pub(super) trait Setting: Sized {
    /// Reads it.
    fn read(text: &str) -> Option<Self>;
}

impl Setting for String {
    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl Setting for bool {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Setting for i64 {
    fn read(text: &str) -> Option<Self> {
        text.replace('_', "").parse().ok()
    }
}

impl Setting for f64 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// The value in a text; a text that is no value of the setting leaves it unknown.
pub(super) fn read<T: Setting>(fact: Fact<String>) -> Fact<T> {
    fact.and_then(|text| T::read(&text).map_or_else(|| Known::Unknown(Why::Malformed(text.into())), Known::Value))
}

/// What a setting keeps, unless it is absent; then what another one states.
pub(super) fn fill<T>(mine: &mut Fact<T>, other: &mut Fact<T>) {
    if mine.is_absent() && !other.is_absent() {
        std::mem::swap(mine, other);
    }
}

/// Reaches the settings of an entity by their names.
macro_rules! settings {
    ($entity:ident: $($field:ident)*) => {
        impl $entity {
            /// States a setting by its name and a text; hands the text back when there is no such setting.
            fn state(&mut self, setting: &str, fact: Fact<String>) -> Option<Fact<String>> {
                match setting {
                    $(stringify!($field) => self.$field = super::settings::read(fact),)*
                    _ => return Some(fact),
                }
                None
            }

            /// A setting by its name, as text; absent when there is no such setting.
            pub fn setting(&self, name: &str) -> Fact<String> {
                match name {
                    $(stringify!($field) => self.$field.clone().map(|value| value.to_string()),)*
                    _ => Fact::absent(self.span),
                }
            }

            /// Takes over the settings that `other` states and this one does not.
            pub fn fill(&mut self, mut other: $entity) {
                $(super::settings::fill(&mut self.$field, &mut other.$field);)*
            }
        }
    };
}
pub(super) use settings;
