//! Which commands of a script run in the background: those of a list that `&` ends, with all that stands within it.

use super::Command;

/// The lists that are open, each within the one before, by the command that it begins at.
#[derive(Default)]
pub(super) struct Lists {
    outer: Vec<usize>,
    from: usize,
    /// What `&` ended.
    background: Vec<(usize, usize)>,
}

impl Lists {
    /// Something with lists of its own begins: `(`, `{`, `if`, a loop.
    pub(super) fn open(&mut self, at: usize) {
        self.outer.push(self.from);
        self.from = at;
    }

    /// It ends, and is part of the list that it began in.
    pub(super) fn close(&mut self) {
        self.from = self.outer.pop().unwrap_or(self.from);
    }

    /// The list at hand ends.
    pub(super) fn end(&mut self, at: usize, background: bool) {
        if background {
            self.background.push((self.from, at));
        }
        self.from = at;
    }

    /// Tells the commands that run in the background.
    pub(super) fn mark(self, commands: &mut [Command]) {
        let mut steps = vec![0_i64; commands.len() + 1];
        for (from, to) in self.background {
            steps[from] += 1;
            steps[to] -= 1;
        }
        let mut within = 0;
        for (command, step) in commands.iter_mut().zip(steps) {
            within += step;
            command.background = within > 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::shell::parse;
    use crate::source::{SourceId, Span, Traced};

    #[test]
    fn what_an_ampersand_ends_runs_in_the_background() {
        for (text, expected) in [
            ("a & b", "a"),
            ("a; b & c", "b"),
            ("a && b | c >x 2>&1 &\nd &>y", "abc"),
            ("(a; b) & c", "ab"),
            ("for x in 1 2; do a; b; done & c", "ab"),
            ("for x in 1 2; do\n  a\n  b &\ndone\nc", "b"),
            ("if a; then b & else c; fi\nd", "b"),
            ("f() { a; b & }\nc", "b"),
            ("case x in (y) a & ;; z) b;; esac\n{ c\nd; } & e", "acd"),
            (") a & done b &", "ab"),
        ] {
            let script = parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
            let background = script.commands.iter().filter(|command| command.background);
            let names: String = background.map(|command| command.words[0].text()).collect();
            assert_eq!(names, expected, "{text}");
        }
    }
}
