//! The flags that programs know, by release.

use super::programs::ends_with;
use super::ranges::Bounds;
use super::table::{Row, within};
use super::tables::{ENVIRONMENTS, FLAG_PROGRAMS, PROGRAM_FLAGS};
use crate::suggest;
use crate::version::Version;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{LazyLock, OnceLock};

/// The rows of each program, in the order of its flags.
static PROGRAMS: LazyLock<BTreeMap<&'static str, Rows>> = LazyLock::new(|| {
    let mut out: BTreeMap<_, Rows> = BTreeMap::new();
    PROGRAM_FLAGS.rows().for_each(|row| out.entry(row.text("program")).or_default().all.push(row));
    out
});

/// The rows of a program, and which of them a flag has by any of its names.
#[derive(Debug, Default)]
struct Rows {
    all: Vec<Row>,
    named: OnceLock<HashMap<String, Vec<usize>>>,
}

impl Rows {
    fn named(&self, plain_name: &str) -> &[usize] {
        let named = self.named.get_or_init(|| {
            let mut out: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, row) in self.all.iter().enumerate() {
                let names = BTreeSet::from_iter([row.text("flag")].into_iter().chain(row.words("aliases")).map(plain));
                names.into_iter().for_each(|name| out.entry(name).or_default().push(at));
            }
            out
        });
        named.get(plain_name).map_or(&[], Vec::as_slice)
    }
}

/// A program whose flags are known as a whole, in some releases.
#[derive(Debug, Clone, Copy)]
pub struct FlagProgram {
    /// Its name.
    pub name: &'static str,
    commands: Row,
    whole: Row,
    rows: &'static Rows,
}

/// A flag as some releases of a program have it.
#[derive(Debug, Clone, Copy)]
pub struct ProgramFlag {
    /// Its long name without dashes.
    pub name: &'static str,
    /// What it takes: none, one, optional, many, boolean, json, pairs (`key=value,…`, or JSON), int, float, size; `removed` where the program ends because of it.
    pub takes: &'static str,
    /// The releases.
    pub versions: &'static str,
    /// What stands in its place since.
    pub replaced_by: Option<&'static str>,
    row: Row,
}

/// The program that an engine's command line is read by, where its words say that it is that one.
pub fn flag_program<'w>(engine: &str, words: impl Iterator<Item = &'w str>) -> Option<FlagProgram> {
    let words: Vec<&str> = words.take(5).collect();
    let mut programs = FLAG_PROGRAMS.rows().filter(|row| row.text("engine") == engine).filter_map(program);
    // Options alone are those of the program that the engine's image starts.
    let alone = words.first()?.starts_with('-');
    let found = programs.find(|program| alone || words.iter().any(|word| program.is_command(word)))?;
    found.whole.used();
    Some(found)
}

/// The program of a row, with what is known of it.
fn program(row: Row) -> Option<FlagProgram> {
    let (name, rows) = PROGRAMS.get_key_value(row.text("program"))?;
    let whole = rows.all.first().filter(|whole| whole.text("flag").is_empty())?;
    Some(FlagProgram { name, commands: row, whole: *whole, rows })
}

/// A program by the name that it has in the table, with no other engine around it.
pub fn flags_of(name: &str) -> Option<FlagProgram> {
    let row = FLAG_PROGRAMS.rows().find(|row| row.text("program") == name)?;
    program(row).inspect(|program| program.whole.used())
}

/// A program or a library whose environment variables are known as a whole, in some releases.
#[derive(Clone, Copy)]
pub struct Environment(Row);

/// What reads the variables that begin as this one does.
pub fn environments(variable: &str) -> impl Iterator<Item = Environment> {
    ENVIRONMENTS.rows().filter(|row| row.words("prefixes").any(|prefix| variable.starts_with(prefix))).map(Environment)
}

impl Environment {
    /// Its variables, as flags.
    pub fn variables(self) -> Option<FlagProgram> {
        program(self.0).inspect(|program| program.whole.used())
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.0.text("name")
    }

    /// The engine that it is, where it is one.
    pub fn engine(self) -> Option<&'static str> {
        self.0.filled("engine")
    }

    /// Whether it is a library, which is in many images.
    pub fn is_library(self) -> bool {
        self.0.filled("images").is_none()
    }

    /// Whether an image, named with its registry, is the one that its publisher makes of it.
    pub fn is_in(self, image: &str) -> bool {
        self.0.words("images").any(|pattern| ends_with(image, pattern))
    }
}

/// A flag without what writers may choose: dashes before it, underscores in it.
fn plain(flag: &str) -> String {
    flag.trim_start_matches('-').replace('_', "-")
}

/// The releases that a version names which has fewer numbers than those of a range: `0.5` may be any 0.5.x.
fn family(range: &str, version: &Version) -> Option<Bounds> {
    let bound = range.split(' ').next()?.trim_start_matches(['<', '>', '=', '!', '~']);
    let numbers = version.release();
    let longer = Version::parse(bound).is_some_and(|bound| bound.release().len() > numbers.len());
    let text = || numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    longer.then(|| Bounds::of(&format!("=={}.*", text())))?
}

/// Whether a row is of a release, or of one that a version may name.
fn may_hold(row: Row, version: &Version) -> bool {
    may_be_within(version, row.text("versions"))
}

/// Whether a version is in a range, or one that it may name is.
fn may_be_within(version: &Version, range: &str) -> bool {
    let overlaps = |named: Bounds| Bounds::of(range).is_none_or(|own| !own.excludes(&named));
    within(version, range) || family(range, version).is_some_and(overlaps)
}

impl FlagProgram {
    /// Whether all flags of a release are known; of each release that a version may name.
    pub fn is_whole(self, version: &Version) -> bool {
        let range = self.whole.text("versions");
        let (whole, named) = (Bounds::of(range), family(range, version));
        let all = |named| whole.is_some_and(|whole| !whole.begins_above(&named) && !whole.ends_below(&named));
        within(version, range) && named.is_none_or(all)
    }

    /// The releases of which all flags are known.
    pub fn versions(self) -> &'static str {
        self.whole.text("versions")
    }

    fn is(self, manner: &str) -> bool {
        self.whole.words("takes").any(|word| word == manner)
    }

    /// Whether it takes flags that it does not know: it hands them on, or ignores them.
    pub fn is_open(self) -> bool {
        self.is("open")
    }

    /// Whether it starts a script, whose flags stand behind its own.
    pub fn starts_script(self) -> bool {
        self.is("script")
    }

    /// Whether it ends when a flag with one value is stated twice.
    pub fn takes_once(self) -> bool {
        self.is("once")
    }

    /// Whether flags with one value may be stated for several things.
    pub fn takes_lists(self) -> bool {
        self.is("lists")
    }

    /// Whether a word of a command line is the command that reads the flags.
    pub fn is_command(self, word: &str) -> bool {
        self.commands.words("commands").any(|command| word.rsplit('/').next() == Some(command))
    }

    /// A flag in all stretches of releases that have it, whatever it is called there.
    pub fn find(self, flag: &str) -> impl Iterator<Item = ProgramFlag> {
        let written = plain(flag);
        let wanted = if self.is("dotted") { written.split('.').next().unwrap_or_default() } else { &written };
        self.rows.named(wanted).iter().map(|at| self.rows.all[*at]).map(ProgramFlag::of)
    }

    /// Flags of that very name in all stretches of releases that have it, with its dashes.
    pub fn spelled(self, name: &str) -> impl Iterator<Item = ProgramFlag> {
        let is = move |flag: &ProgramFlag| {
            flag.row.words("aliases").any(|alias| alias == name) || name.strip_prefix("--") == Some(flag.name)
        };
        self.find(name).filter(is)
    }

    /// Flags with a name that begins so, with its dashes.
    pub fn begun(self, name: &str) -> impl Iterator<Item = ProgramFlag> {
        let starts = move |flag: &ProgramFlag| {
            let begins = name.strip_prefix("--").is_some_and(|start| flag.name.starts_with(start));
            !flag.is_removed() && (begins || flag.row.words("aliases").any(|alias| alias.starts_with(name)))
        };
        self.rows.all[1..].iter().copied().map(ProgramFlag::of).filter(starts)
    }

    /// The names of all its flags, in all releases.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.rows.all[1..].iter().map(|row| row.text("flag"))
    }

    /// Whether a text is short for some flag of a release, or of any.
    pub fn abbreviates(self, flag: &str, version: Option<&Version>) -> bool {
        let short = plain(flag);
        let of_release = |row: &&Row| version.is_none_or(|version| may_hold(**row, version));
        let starts = |row: &Row| {
            let mut names = [row.text("flag")].into_iter().chain(row.words("aliases"));
            names.any(|name| plain(name).starts_with(&short))
        };
        self.is("prefixes") && self.rows.all[1..].iter().filter(of_release).any(starts)
    }

    /// The flag of a release, or of the newest ones, that was meant.
    pub fn nearest(self, flag: &str, version: Option<&Version>) -> Option<&'static str> {
        let (flag, of_release) = (plain(flag), |row: &&Row| version.is_none_or(|version| may_hold(**row, version)));
        let near = self.rows.all[1..].iter().filter(|row| suggest::may_be_near(&flag, row.text("flag")));
        suggest::nearest(&flag, near.filter(of_release).map(|row| row.text("flag")))
    }

    /// The only flag of a release, or of the newest ones, that can have been meant.
    pub fn only(self, flag: &str, version: Option<&Version>) -> Option<&'static str> {
        let (flag, of_release) = (plain(flag), |row: &&Row| version.is_none_or(|version| may_hold(**row, version)));
        let near = self.rows.all[1..].iter().filter(|row| suggest::may_be_near(&flag, row.text("flag")));
        suggest::only(&flag, near.filter(of_release).map(|row| row.text("flag")))
    }

    /// The variable of a release, or of any, that is spelled most like one, and by how many slips it differs.
    pub fn closest(self, variable: &str, version: Option<&Version>) -> Option<(usize, &'static str)> {
        let of_release = |row: &&Row| version.is_none_or(|version| may_hold(**row, version));
        suggest::closest(variable, self.rows.all[1..].iter().filter(of_release).map(|row| row.text("flag")))
    }
}

impl ProgramFlag {
    fn of(row: Row) -> Self {
        Self {
            name: row.text("flag"),
            takes: row.text("takes"),
            versions: row.text("versions"),
            replaced_by: row.filled("replaced_by"),
            row,
        }
    }

    /// Whether a release has it so, or one that the version may name.
    pub fn holds(self, version: &Version) -> bool {
        may_hold(self.row, version)
    }

    /// Whether the program only says that it had it, and ends.
    pub fn is_removed(&self) -> bool {
        self.takes == "removed"
    }

    /// What it takes, where it takes nothing else.
    pub fn choices(self) -> impl Iterator<Item = &'static str> + Clone {
        self.row.words("choices")
    }

    /// Flags that it does not go without.
    pub fn needs(self) -> impl Iterator<Item = &'static str> {
        self.row.words("needs")
    }

    /// Flags that it does not go with.
    pub fn excludes(self) -> impl Iterator<Item = &'static str> {
        self.row.words("excludes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(range: &str, version: &str) -> bool {
        may_be_within(&Version::parse(version).expect(version), range)
    }

    #[test]
    fn a_version_with_fewer_numbers_may_be_any_release_that_begins_so() {
        assert!(may(">=0.5.3", "0.5") && may("<=0.4.9", "0.4") && may("==0.5.7", "0.5"));
        assert!(!may(">=0.5.3", "0.4") && !may(">=0.5.3", "0.5.2") && !may("<=0.4.9", "0.5"));
        assert!(!may(">=22.08", "22.05"), "releases have no more numbers than this");
    }

    #[test]
    fn releases_that_were_not_read_may_be_meant_too() {
        let program = flag_program("sglang", ["--model-path"].into_iter()).expect("a program");
        let whole = |version: &str| program.is_whole(&Version::parse(version).expect(version));
        let newest = program.versions().rsplit('=').next().expect("a range");
        let newest = Version::parse(newest).expect("a version");
        assert!(whole("0.4") && whole("0.4.6") && whole(&newest.to_string()));
        assert!(!whole(&format!("{}.{}", newest.major(), newest.minor())), "a release behind the newest that was read");
    }
}
