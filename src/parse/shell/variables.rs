//! Variables that a script sets itself, put in where it uses them: texts, arrays, arguments of `set --`. What a branch sets
//! is known within the branch and open behind it. Runs nothing.

use super::arms::{Arms, Place, Places};
use super::effects::{ANY, Sets};
use super::words::expansions;
use super::{Script, Word, expand, is_name, parse};
use crate::budget::{NODE, Share};
use crate::source::{SourceId, Span, Traced};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Longest text and longest list that are put in.
const MAX_TEXT: usize = 1 << 16;
const MAX_WORDS: usize = 4096;
/// How what only a shell can tell stands in a text that is put in elsewhere.
const OPEN: &str = "$(…)";
/// What a variable holds.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(Traced),
    /// Parts cannot be told, and stand in it as they are written.
    Partly(Traced),
    List(Vec<Word>),
}

/// What is known of a variable at a command.
pub(super) enum Found<'v> {
    Known(&'v Value),
    Open,
    Unset,
}

/// What is set outside of a script, by its name; what is not written anywhere stands where it is used.
pub(super) type Outside<'o> = &'o dyn Fn(&str, Span) -> Option<Traced>;

/// The variables of a script, command by command.
pub struct Variables<'o> {
    pub(super) set: BTreeMap<String, Places<Value>>,
    /// Which ones are handed on to what is run.
    pub(super) exported: BTreeMap<String, Places<bool>>,
    /// Whether all that is set is.
    pub(super) exports_all: Places<bool>,
    /// Where any of them may have been set.
    pub(super) opened: Places<()>,
    pub(super) sets: Sets,
    pub(super) outside: Outside<'o>,
    /// Whether what a variable holds is put in already where it is used.
    pub(super) resolved: bool,
    /// How many commands were followed.
    pub(super) at: usize,
    /// What may be put in: a name is short, and what it stands for is not.
    pub(super) share: Share,
}

/// A script with the variables put in that it sets itself, or that are set `outside` of it. A word that cannot be told
/// stays as it is written.
pub(super) fn resolved(script: &Script, outside: Outside) -> Script {
    let mut variables = Variables::new(script, outside, false);
    let (mut commands, mut heredocs) = (Vec::new(), Vec::new());
    let mut waiting = script.heredocs.iter().peekable();
    for command in &script.commands {
        commands.push(variables.command(command));
        while let Some(heredoc) = waiting.next_if(|heredoc| heredoc.commands <= commands.len()) {
            let value = |text: &str| variables.expanded(text, &command.arms, command.span);
            let paid = || variables.share.make(heredoc.text.text().len()).is_ok();
            heredocs.push(if heredoc.expands && paid() { heredoc.with(&value) } else { heredoc.clone() });
        }
    }
    heredocs.extend(waiting.cloned());
    Script { commands, heredocs, ..script.clone() }
}

impl Variables<'_> {
    /// What an assignment sets, as far as it can be told.
    pub(super) fn one(&self, value: &Word, arms: &Arms) -> Word {
        match self.expanded(value.text(), arms, value.span()).filter(|_| value.expands) {
            Some(text) => Word { text: Traced::opaque(text, value.span()), expands: false, quoted: true },
            None => value.clone(),
        }
    }

    pub(super) fn record(&mut self, name: &str, arms: &Arms, value: Option<Value>, behind: Option<Value>) {
        let fits = |value: &Value| match value {
            Value::Text(text) | Value::Partly(text) => text.text().len() <= MAX_TEXT,
            Value::List(words) => words.len() <= MAX_WORDS,
        };
        let (value, behind) = (value.filter(fits), behind.filter(fits));
        let places = self.set.entry(name.to_owned()).or_default();
        places.record(Place { arms: arms.clone(), value, behind, at: self.at });
    }

    pub(super) fn assign(&mut self, name: &str, value: &Word, arms: &Arms) {
        let text = value.text();
        let (name, appends) = match name.strip_suffix('+') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let of_itself = [format!("${name}"), format!("${{{name}}}")];
        let rest =
            of_itself.iter().find_map(|own| text.strip_prefix(own.as_str())).filter(|rest| rest.starts_with(' '));
        if text.starts_with('(') && text.ends_with(')') && !value.quoted {
            let inner = parse(&value.text.slice(1..text.len() - 1));
            let words: Vec<Word> =
                inner.commands.iter().flat_map(|c| &c.words).flat_map(|word| self.word(word, arms)).collect();
            let base = if appends { self.list(name, arms) } else { Some(vec![]) };
            return self.record_list(name, arms, base, words);
        }
        if let Some(rest) = rest.filter(|_| !appends) {
            let added = value.text.slice(text.len() - rest.len()..text.len());
            let words: Vec<Word> = split(&added, value.expands).iter().flat_map(|word| self.word(word, arms)).collect();
            return self.record_list(name, arms, self.list(name, arms), words);
        }
        let added = match value.expands {
            true => self.put(&value.text, arms, |_| OPEN.to_owned()),
            false => Some(Value::Text(value.text.clone())),
        };
        let value = if appends { added.and_then(|added| self.appended(name, added, arms)) } else { added };
        self.record(name, arms, value, None);
    }

    /// What a variable holds with a text put behind it.
    fn appended(&self, name: &str, added: Value, arms: &Arms) -> Option<Value> {
        let (added, open) = match added {
            Value::Text(added) => (added, false),
            Value::Partly(added) => (added, true),
            Value::List(_) => return None,
        };
        let own = match self.find(name, arms) {
            Found::Known(Value::Partly(own)) => own.clone(),
            _ => Traced::opaque(self.text(name, arms, added.whole())?, added.whole()),
        };
        if open || own.text().contains('$') {
            let whole = added.whole();
            return Some(Value::Partly(Traced::concat([own, added], whole)));
        }
        Some(Value::Text(Traced::opaque(own.text().to_owned() + added.text(), added.whole())))
    }

    /// Sets a list to what it was and more. Behind the branch the rest may be there or not.
    fn record_list(&mut self, name: &str, arms: &Arms, base: Option<Vec<Word>>, added: Vec<Word>) {
        let behind = base.clone().map(|base| Value::List([base, optional(&added, name)].concat()));
        let value = base.map(|base| Value::List([base, added].concat()));
        self.record(name, arms, value, behind);
    }

    pub(super) fn find(&self, name: &str, arms: &Arms) -> Found<'_> {
        let seen = self.set.get(name).and_then(|places| places.find(arms, &self.share));
        // What is handed to a script by name is for it, whatever else is read.
        let given = || seen.is_none() && (self.outside)(name, Span::new(SourceId(0), 0..0)).is_some();
        let (at, depth) = seen.as_ref().map_or((None, 0), |seen| (Some(seen.at), seen.depth));
        let changes = |name: &str| self.sets.changes(name, (self.at, arms), depth);
        let opened = || self.opened.find(arms, &self.share).is_some_and(|opened| at.is_none_or(|at| opened.at > at));
        if changes(name) || ((opened() || changes(ANY)) && !given()) {
            return Found::Open;
        }
        seen.map_or(Found::Unset, |seen| seen.value.map_or(Found::Open, Found::Known))
    }

    /// Whether so many words may still be put in.
    fn paid(&self, words: usize) -> bool {
        self.share.make(words.saturating_mul(NODE)).is_ok()
    }

    fn text(&self, name: &str, arms: &Arms, place: Span) -> Option<String> {
        let value = match self.find(name, arms) {
            Found::Known(Value::Text(text)) => text.text().to_owned(),
            Found::Known(Value::List(words)) => words.first().filter(|w| !w.expands)?.text().to_owned(),
            Found::Known(Value::Partly(_)) | Found::Open => return None,
            // What is known of it in part only has its own variables.
            Found::Unset => (self.outside)(name, place).filter(|text| !text.text().contains('$'))?.text().to_owned(),
        };
        self.share.make(value.len()).is_ok().then_some(value)
    }

    /// A text with what is known of its variables, as what a variable holds. What cannot be told stands in it as `open`
    /// writes it.
    fn put(&self, text: &Traced, arms: &Arms, open: fn(&str) -> String) -> Option<Value> {
        let whole = text.text();
        let known = self.expanded(whole, arms, text.whole());
        // The words of a command line have places of their own.
        let plain = known.as_ref().is_some_and(|known| !known.contains(char::is_whitespace));
        if let Some(known) = known.as_ref().filter(|_| plain) {
            return Some(Value::Text(Traced::opaque(known.as_str(), text.whole())));
        }
        let (mut parts, mut at) = (Vec::new(), 0);
        for range in expansions(whole) {
            parts.push(text.slice(at..range.start));
            parts.push(self.part(&whole[range.clone()], text.span(range.clone()), arms, open)?);
            at = range.end;
        }
        parts.push(text.slice(at..whole.len()));
        let length = parts.iter().map(|part| part.text().len()).sum();
        let fits = length <= MAX_TEXT && self.share.make(length).is_ok();
        let out = fits.then(|| Traced::concat(parts, text.whole()))?;
        Some(if known.is_some() { Value::Text(out) } else { Value::Partly(out) })
    }

    /// What one expansion gives, as far as it can be told.
    fn part(&self, written: &str, place: Span, arms: &Arms, open: fn(&str) -> String) -> Option<Traced> {
        let alone = lone_name(written);
        if let Some(Found::Known(Value::Partly(text) | Value::Text(text))) = alone.map(|name| self.find(name, arms)) {
            return Some(text.clone());
        }
        if let Some(known) = self.expanded(written, arms, place) {
            return Some(Traced::opaque(known, place));
        }
        let Some(name) = alone else { return Some(Traced::opaque(open(written), place)) };
        let as_written = || Traced::opaque(format!("${{{name}}}"), place);
        match self.find(name, arms) {
            Found::Known(Value::List(words)) => {
                let texts = words.iter().flat_map(|word| [Traced::opaque(" ", place), word.text.clone()]).skip(1);
                self.paid(words.len()).then(|| Traced::concat(texts, place))
            }
            Found::Unset if is_name(name) => Some((self.outside)(name, place).unwrap_or_else(as_written)),
            _ => Some(as_written()),
        }
    }

    fn list(&self, name: &str, arms: &Arms) -> Option<Vec<Word>> {
        match self.find(name, arms) {
            Found::Known(Value::List(words)) => self.paid(words.len()).then(|| words.clone()),
            Found::Known(Value::Text(text)) => self.paid(text.text().len() / 8).then(|| split(text, false)),
            Found::Known(Value::Partly(text)) => self.paid(text.text().len() / 8).then(|| split(text, true)),
            Found::Open => None,
            Found::Unset => Some(vec![]),
        }
    }

    /// A text with its variables; `None` when one of them is open.
    pub(super) fn expanded(&self, text: &str, arms: &Arms, place: Span) -> Option<String> {
        let open = Cell::new(false);
        let lookup = |name: &str| {
            let value = self.text(name, arms, place);
            let given = || (self.outside)(name, place).is_some();
            open.set(open.get() || (value.is_none() && (matches!(self.find(name, arms), Found::Open) || given())));
            value
        };
        expand(text, &lookup).filter(|_| !open.get())
    }

    /// The words that a word stands for.
    pub(super) fn word(&self, word: &Word, arms: &Arms) -> Vec<Word> {
        if !word.expands {
            return vec![word.clone()];
        }
        let alone = lone_name(word.text());
        match alone.map(|name| self.find(name, arms)) {
            Some(Found::Known(Value::List(words))) if self.paid(words.len()) => return words.clone(),
            Some(Found::Known(Value::Text(text))) if !word.quoted && self.paid(text.text().len() / 8) => {
                return split(text, false);
            }
            Some(Found::Known(Value::Partly(text))) if !word.quoted && self.paid(text.text().len() / 8) => {
                return split(text, true);
            }
            Some(Found::Open) => return vec![word.clone()],
            Some(Found::Unset) if alone.is_some_and(|name| (self.outside)(name, word.span()).is_none()) => {
                return vec![word.clone()];
            }
            _ => {}
        }
        match self.put(&word.text, arms, str::to_owned) {
            Some(Value::Text(text)) if word.quoted || !text.text().contains(char::is_whitespace) => {
                vec![Word { text, expands: false, quoted: true }]
                    .into_iter()
                    .filter(|w| word.quoted || !w.text().is_empty())
                    .collect()
            }
            Some(Value::Text(text)) => split(&text, false),
            Some(Value::Partly(text)) if word.quoted => vec![Word { text, expands: true, quoted: true }],
            // White space of a command of its own stands within it.
            Some(Value::Partly(text)) if !word.text().contains(['(', '`']) => split(&text, true),
            _ => vec![word.clone()],
        }
    }
}

/// The variable that a word is and nothing else: `$A`, `${A}`, `${A[@]}`, `$@`.
pub(super) fn lone_name(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('$')?;
    let inner = inner.strip_prefix('{').and_then(|i| i.strip_suffix('}')).unwrap_or(inner);
    let inner = inner.strip_suffix("[@]").or_else(|| inner.strip_suffix("[*]")).unwrap_or(inner);
    match inner {
        "@" | "*" => Some("@"),
        name => is_name(name).then_some(name),
    }
}

/// The words of a text at its white space.
fn split(text: &Traced, expands: bool) -> Vec<Word> {
    let whole = text.text();
    let mut out = vec![];
    let mut at = 0;
    for part in whole.split(char::is_whitespace) {
        if !part.is_empty() {
            let word = text.slice(at..at + part.len());
            out.push(Word { expands: expands && part.contains(['$', '`']), text: word, quoted: false });
        }
        at += part.len() + whole[at + part.len()..].chars().next().map_or(0, char::len_utf8);
    }
    out
}

/// Words that may be there: options keep their names, and their values are open.
fn optional(words: &[Word], name: &str) -> Vec<Word> {
    let open = |word: &Word| {
        let option = word.text().split('=').next().filter(|text| text.starts_with('-'));
        let text = option.map_or(format!("${{{name}}}"), |option| format!("{option}=${{{name}}}"));
        Word { text: Traced::opaque(text, word.span()), expands: true, quoted: false }
    };
    words.iter().filter(|word| word.text().starts_with('-')).map(open).collect()
}

#[cfg(test)]
mod tests {
    use crate::parse::shell::parse;
    use crate::source::{SourceId, Span, Traced};

    /// The last command of a script with its variables put in.
    fn last(text: &str) -> String {
        let script = parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0));
        let outside = |name: &str| (name == "HOME").then(|| "/root".to_owned());
        let resolved = script.resolved(&outside);
        let words = resolved.commands.last().expect("a command").words.iter();
        words.map(|w| w.text().to_owned()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn what_a_script_sets_is_known_where_it_is_used() {
        for (script, expected) in [
            ("A=1\nrun $A \"$A:$A\" ${B:-2} $HOME/x", "run|1|1:1|2|/root/x"),
            ("export A='x y'; run $A \"$A\"", "run|x|y|x y"),
            ("N=2 G=4\nrun --tp $((N * G + 1))", "run|--tp|9"),
            ("ARGS=(--tp 2 \\\n --dtype half) # why\nrun \"${ARGS[@]}\" m", "run|--tp|2|--dtype|half|m"),
            ("A=(a)\nA+=(b \"c d\")\nrun \"${A[@]}\"", "run|a|b|c d"),
            ("A=x\nA+=y\nrun $A", "run|xy"),
            ("A=--x\nA=\"$A --y 1\"\nrun $A", "run|--x|--y|1"),
            ("set -- a b\nrun \"$@\"", "run|a|b"),
            ("A=''\nrun $A m", "run|m"),
            ("A=$B\nrun $A '$A'", "run|${B}|$A"),
            ("A=$(nproc)\nrun $A", "run|$(…)"),
            ("A=\"run --n $(id -u) --h $H --tp 2\"\nB=--x; $A $B", "run|--n|$(…)|--h|${H}|--tp|2|--x"),
            ("A=(--tp 2 --h $H)\nB=\"run ${A[@]} ${C:-1 2}\"; B+=\" y\"\n$B", "run|--tp|2|--h|$H|1|2|y"),
            ("A=\"x $B\"\nrun \"$A z\" $(f $A)", "run|x ${B} z|$(f $A)"),
            ("[ -z \"$X\" ] && X=1; run ${X:-2}", "run|${X:-2}"),
            ("cd /x && A=1 && run $A", "run|1"),
            ("A=1\n(A=2; run $A)\nrun $A", "run|1"),
            ("A=1\n(A=2; run $A)", "run|2"),
            ("f() { local A=2; B=3; run $A; }\nA=1\nrun $A", "run|1"),
            ("A=1\nf() { run $A; }", "run|1"),
            ("f() { A=1; run $A; }", "run|1"),
            ("[ x ] && { B=1\nA=2\nrun $A; }", "run|2"),
            ("A=1\n. venv/bin/activate\nrun $A", "run|1"),
            ("source env.sh\nA=1\nrun $A", "run|1"),
            ("for i in 1 2; do A=1; run $A; done", "run|1"),
        ] {
            assert_eq!(last(script), expected, "{script}");
        }
    }

    #[test]
    fn what_a_branch_sets_is_open_behind_it() {
        for (script, expected) in [
            ("A=1\nif x; then A=2; fi\nrun $A", "run|$A"),
            ("if x; then A=2; run $A; fi", "run|2"),
            ("if x; then A=1; else A=2\nrun $A; fi", "run|2"),
            ("case $x in a) A=1;; b) A=2; run $A;; esac", "run|2"),
            ("case $x in a) A=1;; *) A=2;; esac\nrun $A", "run|$A"),
            ("for i in 1 2; do A=$i; done\nrun ${A:-1}", "run|${A:-1}"),
            ("if x; then A=2; fi\nA=3\nrun $A", "run|3"),
            ("A=1\ngrep -q x f && A=2\nrun $A", "run|$A"),
            ("A=1\ngrep -q x f || A=2\nrun $A", "run|$A"),
            ("a || A=1 && run $A", "run|$A"),
            ("[ x ] && { B=1\nA=2; }\nrun ${A:-1}", "run|${A:-1}"),
            ("A=1\ncat f | while read x; do A=2; done\nrun $A", "run|$A"),
            ("A=1\ncat f | while read x; do B=3\nA=2; run $A; done", "run|2"),
            ("f() { A=2; }\nA=1\nf\nrun $A", "run|$A"),
            ("g() { A=2; }\nf() { g; }\nA=1\n\"$@\"\nrun $A", "run|$A"),
            ("A=1\nf() { run $A; }\nA=2\nf x", "f|x"),
            ("set -- a b\nf() { run \"$@\"; }", "run|$@"),
            ("for A in 1 2; do run ${A:-1}; done", "run|${A:-1}"),
            ("A=1\nfor i in 1 2; do if x; then A=2; else run $A; fi; done", "run|$A"),
            ("A=1\n((A *= 2))\nrun $A", "run|$A"),
            ("A=1\nlet A=2\nrun $A", "run|$A"),
            ("A=1\nsource env.sh\nrun $A ${B:-2}", "run|$A|${B:-2}"),
            ("A=(--x 1)\nif x; then A+=(--tp 4); fi\nrun \"${A[@]}\"", "run|--x|1|--tp=${A}"),
            ("A=--x\n[ -n \"$Y\" ] && A=\"$A --tp $Y\"\nrun $A", "run|--x|--tp=${A}"),
        ] {
            assert_eq!(last(script), expected, "{script}");
        }
    }

    #[test]
    fn growth_is_bounded() {
        for text in ["xxxxxxxx", "xxxx $B"] {
            let grown = last(&format!("A=\"{text}\"\n{}run $A", "A=\"$A$A\"\n".repeat(64)));
            assert!(grown.len() <= super::MAX_TEXT, "{} of {text}", grown.len());
        }
    }
}
