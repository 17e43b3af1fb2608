//! Closed vocabularies: sets of words that are complete, as enums whose values have a text. Knows nothing of what
//! the words are about.

/// A closed vocabulary: what it is called, what its words say, and every word with its meaning.
#[derive(Debug)]
pub struct Words {
    /// Name of the vocabulary, `Intent`.
    pub name: &'static str,
    /// What its words say.
    pub doc: &'static str,
    /// Every word as rules and reports write it, and its meaning.
    pub words: &'static [(&'static str, &'static str)],
}

impl Words {
    /// Whether it has a word.
    pub fn has(&self, text: &str) -> bool {
        self.words.iter().any(|(word, _)| *word == text)
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A word of a closed vocabulary.
pub trait Word: Copy + 'static {
    /// Its vocabulary.
    const WORDS: &'static Words;

    /// How it is written.
    fn text(self) -> &'static str;

    /// The word that a text spells.
    fn parse(text: &str) -> Option<Self>;
}

/// Declares closed vocabularies: an enum, the texts of its values and their meanings, from one text.
macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $wdoc:literal])+ $word:ident = $text:literal,)+ })+) => { $(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $wdoc])+ $word,)+
        }

        impl $crate::words::Word for $name {
            const WORDS: &'static $crate::words::Words = &$crate::words::Words {
                name: stringify!($name),
                doc: concat!($($doc),+),
                words: &[$(($text, concat!($($wdoc),+)),)+],
            };

            fn text(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)+
                }
            }

            fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$word),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::words::Word::text(*self))
            }
        }
    )+ };
}
pub(crate) use words;
