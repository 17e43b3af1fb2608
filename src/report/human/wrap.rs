//! Text in lines that fit a terminal. Knows columns, nothing of what the text says.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Signs that no line of a text without blanks begins with.
const CLOSING: &str = "，。、；：！？）》」』】’”…";

/// A text of one line in lines of at most `width` columns, as far as its words allow that; all but the first are indented.
/// A word is never broken, so that addresses and paths can be copied, but for text that is written without blanks.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let (mut out, mut column) = (String::with_capacity(text.len() + 8), 0);
    for (blank, piece) in pieces(text) {
        let size = piece.width();
        if column > indent && column + usize::from(blank) + size > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if blank {
            out.push(' ');
            column += 1;
        }
        out.push_str(piece);
        column += size;
    }
    out
}

/// What a line may end behind: words, and parts of those that are written in wide characters. With each, whether a blank
/// stands before it.
fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split(' ').enumerate().flat_map(|(i, word)| {
        let (mut cuts, mut before) = (vec![0], None);
        for (at, c) in word.char_indices() {
            let wide = |c: char| c.width() == Some(2);
            if before.is_some_and(|before| wide(before) || wide(c)) && !CLOSING.contains(c) {
                cuts.push(at);
            }
            before = Some(c);
        }
        cuts.push(word.len());
        let parts: Vec<&str> = cuts.windows(2).map(|cut| &word[cut[0]..cut[1]]).collect();
        parts.into_iter().enumerate().map(move |(part, piece)| (i > 0 && part == 0, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_or_wide_characters() {
        assert_eq!(wrapped("a bb ccc dddd", 6, 2), "a bb\n  ccc\n  dddd");
        assert_eq!(wrapped("https://a.example/b c", 8, 2), "https://a.example/b\n  c");
        assert_eq!(wrapped("节点没有驱动，容器", 8, 0), "节点没有\n驱动，容\n器");
        assert_eq!(wrapped("节点没有，动", 8, 0), "节点没\n有，动");
        assert_eq!(wrapped("", 8, 2), "");
    }
}
