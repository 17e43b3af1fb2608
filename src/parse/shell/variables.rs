//! Variables that a script sets itself, put in where it uses them: texts, arrays, arguments of `set --`. What a branch sets
//! is known within the branch and open behind it. Runs nothing.

use super::words::expansions;
use super::{Command, Script, Word, expand, is_name, parse};
use crate::budget::{NODE, Share};
use crate::source::{Span, Traced};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Longest text and longest list that are put in.
const MAX_TEXT: usize = 1 << 16;
const MAX_WORDS: usize = 4096;
/// How what only a shell can tell stands in a text that is put in elsewhere.
const OPEN: &str = "$(…)";
/// Places that set one variable in branches; set in more it is open.
const MAX_PLACES: usize = 256;

/// One branch of a construct (`if`, `case`, a loop, what stands behind `&&` of a test): the number of the construct, and
/// which of its branches.
pub type Arm = (u32, u32);

/// What a variable holds.
#[derive(Debug, Clone)]
enum Value {
    Text(Traced),
    /// Parts cannot be told, and stand in it as they are written.
    Partly(Traced),
    List(Vec<Word>),
}

#[derive(Debug)]
struct Assigned {
    /// The branches that it stands in.
    arms: Vec<Arm>,
    /// What it is within them.
    value: Option<Value>,
    /// What it may be behind them.
    behind: Option<Value>,
}

/// What is known of a variable at a command.
enum Found<'v> {
    Known(&'v Value),
    Open,
    Unset,
}

/// What is set outside of a script, by its name; what is not written anywhere stands where it is used.
type Outside<'o> = &'o dyn Fn(&str, Span) -> Option<Traced>;

struct Variables<'o> {
    set: BTreeMap<String, Vec<Assigned>>,
    outside: Outside<'o>,
    /// What may be put in: a name is short, and what it stands for is not.
    share: Share,
}

/// A script with the variables put in that it sets itself, or that are set `outside` of it. A word that cannot be told
/// stays as it is written.
pub(super) fn resolved(script: &Script, outside: Outside) -> Script {
    let length = script.commands.iter().map(|command| command.span.range().len()).sum();
    let mut variables = Variables { set: BTreeMap::new(), outside, share: Share::least(length) };
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
    fn command(&mut self, command: &Command) -> Command {
        let words: Vec<Word> = command.words.iter().flat_map(|word| self.word(word, &command.arms)).collect();
        let program = words.first().map_or("", Word::text);
        match program {
            "" => command.assignments.iter().for_each(|(name, value)| self.assign(name, value, &command.arms)),
            "export" | "local" | "declare" | "readonly" | "typeset" => {
                for (name, value) in command.words.iter().filter_map(Word::assignment) {
                    self.assign(&name, &value, &command.arms);
                }
            }
            "set" if words.get(1).is_some_and(|word| word.text() == "--") => {
                self.record("@", &command.arms, Some(Value::List(words[2..].to_vec())), None);
            }
            "shift" => self.record("@", &command.arms, None, None),
            "read" | "mapfile" | "readarray" | "unset" | "getopts" | "printf" => {
                for name in words[1..].iter().map(Word::text).filter(|name| is_name(name)) {
                    self.record(name, &command.arms, None, None);
                }
            }
            _ => {}
        }
        let assignments =
            command.assignments.iter().map(|(name, value)| (name.clone(), self.one(value, &command.arms)));
        Command { words, assignments: assignments.collect(), ..command.clone() }
    }

    /// What an assignment sets, as far as it can be told.
    fn one(&self, value: &Word, arms: &[Arm]) -> Word {
        match self.expanded(value.text(), arms, value.span()).filter(|_| value.expands) {
            Some(text) => Word { text: Traced::opaque(text, value.span()), expands: false, quoted: true },
            None => value.clone(),
        }
    }

    fn record(&mut self, name: &str, arms: &[Arm], value: Option<Value>, behind: Option<Value>) {
        let fits = |value: &Value| match value {
            Value::Text(text) | Value::Partly(text) => text.text().len() <= MAX_TEXT,
            Value::List(words) => words.len() <= MAX_WORDS,
        };
        let assigned = Assigned { arms: arms.to_vec(), value: value.filter(fits), behind: behind.filter(fits) };
        let all = self.set.entry(name.to_owned()).or_default();
        // What is set at the same place again is gone.
        all.retain(|earlier| !earlier.arms.starts_with(arms));
        if all.len() >= MAX_PLACES {
            *all = vec![Assigned { arms: vec![], value: None, behind: None }];
            return;
        }
        all.push(assigned);
    }

    fn assign(&mut self, name: &str, value: &Word, arms: &[Arm]) {
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
    fn appended(&self, name: &str, added: Value, arms: &[Arm]) -> Option<Value> {
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
    fn record_list(&mut self, name: &str, arms: &[Arm], base: Option<Vec<Word>>, added: Vec<Word>) {
        let behind = base.clone().map(|base| Value::List([base, optional(&added, name)].concat()));
        let value = base.map(|base| Value::List([base, added].concat()));
        self.record(name, arms, value, behind);
    }

    fn find(&self, name: &str, arms: &[Arm]) -> Found<'_> {
        for assigned in self.set.get(name).into_iter().flatten().rev() {
            let value = if arms.starts_with(&assigned.arms) {
                &assigned.value
            } else if exclusive(&assigned.arms, arms) {
                continue;
            } else {
                &assigned.behind
            };
            return value.as_ref().map_or(Found::Open, Found::Known);
        }
        Found::Unset
    }

    /// Whether so many words may still be put in.
    fn paid(&self, words: usize) -> bool {
        self.share.make(words.saturating_mul(NODE)).is_ok()
    }

    fn text(&self, name: &str, arms: &[Arm], place: Span) -> Option<String> {
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
    fn put(&self, text: &Traced, arms: &[Arm], open: fn(&str) -> String) -> Option<Value> {
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
    fn part(&self, written: &str, place: Span, arms: &[Arm], open: fn(&str) -> String) -> Option<Traced> {
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

    fn list(&self, name: &str, arms: &[Arm]) -> Option<Vec<Word>> {
        match self.find(name, arms) {
            Found::Known(Value::List(words)) => self.paid(words.len()).then(|| words.clone()),
            Found::Known(Value::Text(text)) => self.paid(text.text().len() / 8).then(|| split(text, false)),
            Found::Known(Value::Partly(text)) => self.paid(text.text().len() / 8).then(|| split(text, true)),
            Found::Open => None,
            Found::Unset => Some(vec![]),
        }
    }

    /// A text with its variables; `None` when one of them is open.
    fn expanded(&self, text: &str, arms: &[Arm], place: Span) -> Option<String> {
        let open = Cell::new(false);
        let lookup = |name: &str| {
            open.set(open.get() || matches!(self.find(name, arms), Found::Open));
            self.text(name, arms, place)
        };
        expand(text, &lookup).filter(|_| !open.get())
    }

    /// The words that a word stands for.
    fn word(&self, word: &Word, arms: &[Arm]) -> Vec<Word> {
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

/// Whether two places stand in different branches of one construct.
pub fn exclusive(a: &[Arm], b: &[Arm]) -> bool {
    let differ = a.iter().zip(b).find(|(a, b)| a != b);
    differ.is_some_and(|(a, b)| a.0 == b.0)
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
