//! The language that people read, and gpulint's own sentences in it: everything that no rule file says. Knows texts;
//! nothing of what they are about.

use std::borrow::Cow;
use std::sync::OnceLock;

/// A language that findings and pages are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// What every text is written in.
    #[default]
    English,
    /// What is not written in it is told in English.
    Chinese,
}

impl Language {
    /// What an environment asks for: the first of its variables for messages that is set decides.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
        let set = names.into_iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
        if set.is_some_and(|value| value.starts_with("zh")) { Self::Chinese } else { Self::English }
    }

    /// A sentence of gpulint in this language; one that has no other words, and a text that is none of its own, as it is.
    pub fn say<'t>(self, sentence: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
        let sentence = sentence.into();
        match self {
            Self::English => sentence,
            Self::Chinese => sentences().iter().find_map(|one| one.said(&sentence)).map_or(sentence, Cow::Owned),
        }
    }
}

/// A piece of a sentence.
#[derive(Debug, PartialEq)]
enum Piece {
    Text(&'static str),
    /// What stands in a sentence from case to case, by its number.
    Hole(usize),
}

/// A sentence in English and in Chinese.
#[derive(Debug)]
struct Sentence {
    english: Vec<Piece>,
    chinese: Vec<Piece>,
}

impl Sentence {
    /// How much of it is the same in every case, in bytes.
    fn fixed(&self) -> usize {
        let size = |piece: &Piece| if let Piece::Text(text) = piece { text.len() } else { 0 };
        self.english.iter().map(size).sum()
    }

    /// The Chinese for a text that is this sentence. What stands in its holes is said in Chinese, too.
    fn said(&self, text: &str) -> Option<String> {
        let mut holes: [&str; 10] = [""; 10];
        fill(&self.english, text, &mut holes)?;
        let told = self.chinese.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(*text),
            Piece::Hole(number) => Language::Chinese.say(holes[*number]),
        });
        Some(told.collect())
    }
}

/// Fills the holes of a sentence with what stands there in a text: as little as there may, the last one the rest.
fn fill<'t>(pieces: &[Piece], text: &'t str, holes: &mut [&'t str; 10]) -> Option<()> {
    match pieces {
        [] => text.is_empty().then_some(()),
        [Piece::Text(own), rest @ ..] => fill(rest, text.strip_prefix(own)?, holes),
        [Piece::Hole(number)] => {
            holes[*number] = text;
            (!text.is_empty()).then_some(())
        }
        [Piece::Hole(number), rest @ ..] => {
            let [Piece::Text(next), ..] = rest else { return None };
            text.match_indices(next).filter(|(at, _)| *at > 0).find_map(|(at, _)| {
                holes[*number] = &text[..at];
                fill(rest, &text[at..], holes)
            })
        }
    }
}

/// `the variable {0} has no value`, in pieces.
fn pieces(text: &'static str) -> Vec<Piece> {
    let mut out = Vec::new();
    for (i, part) in text.split('{').enumerate() {
        let hole = part.split_once('}').filter(|_| i > 0);
        let (number, plain) = hole.map_or((None, part), |(number, plain)| (number.parse().ok(), plain));
        out.extend(number.map(Piece::Hole));
        out.extend((!plain.is_empty()).then_some(Piece::Text(plain)));
    }
    out
}

fn sentences() -> &'static [Sentence] {
    static SENTENCES: OnceLock<Vec<Sentence>> = OnceLock::new();
    SENTENCES.get_or_init(|| {
        let all = pairs().map(|(a, b)| Sentence { english: pieces(a), chinese: pieces(b) });
        let mut all: Vec<Sentence> = all.collect();
        // Of two that a text can be, it is the one that says more of it.
        all.sort_by_key(|sentence| std::cmp::Reverse(sentence.fixed()));
        all
    })
}

/// Each sentence and its Chinese: a line for either, and an empty one behind them.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("zh.txt").split("\n\n").filter_map(|block| block.trim_end().split_once('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
            Language::of(value)
        };
        assert_eq!(of(&[]), Language::English);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8")]), Language::Chinese);
        assert_eq!(of(&[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW"), ("LANG", "C")]), Language::Chinese);
        assert_eq!(of(&[("LC_ALL", "C.UTF-8"), ("LANG", "zh_CN.UTF-8")]), Language::English);
    }

    #[test]
    fn sentences_are_said_with_what_stands_in_them() {
        let said = |text: &'static str| Language::Chinese.say(text).into_owned();
        assert_eq!(said("not linted: the variable X has no value here"), "未检查：变量 X 在这里没有值");
        assert_eq!(said("the driver of the node is not stated in these files"), "这些文件没有写明节点的驱动版本");
        assert_eq!(said("some name"), "some name", "what nobody wrote stays as it is");
        assert_eq!(Language::English.say("used here"), "used here");
    }

    /// Everything that Rust files say, with the sentences of tests.
    fn code(directory: &Path, out: &mut String) {
        for entry in std::fs::read_dir(directory).expect("src is readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                code(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                *out += &std::fs::read_to_string(path).expect("a Rust file");
            }
        }
    }

    #[test]
    fn every_pair_says_the_same_and_is_of_the_code() {
        let mut text = String::new();
        code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
        let mut seen = BTreeSet::new();
        for (english, chinese) in pairs() {
            let holes = |text| -> BTreeSet<usize> {
                let hole = |piece| if let Piece::Hole(number) = piece { Some(number) } else { None };
                pieces(text).into_iter().filter_map(hole).collect()
            };
            assert_eq!(holes(english), holes(chinese), "{english}");
            assert!(!chinese.is_ascii(), "{english}: {chinese}");
            assert!(seen.insert(english), "twice: {english}");
            let words = english.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 2);
            let known = |word: &str| text.contains(word.trim_end_matches('s'));
            words.for_each(|word| assert!(known(word), "nothing in src says `{word}` of `{english}`"));
        }
    }
}
