//! `gpulint lsp`.

use super::CLEAN;
use super::analysis::{Against, Found, Gathered};
use super::arguments::Lint;
use super::inspect::page;
use super::setup::Setup;
use crate::discover::Unsaved;
use crate::language::Language;
use crate::lsp::{self, Linted, Linter};
use lsp_server::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Runs the command.
///
/// # Errors
/// The editor breaks the protocol.
pub fn run() -> Result<u8, String> {
    let (connection, threads) = Connection::stdio();
    let language = Language::of(|name| std::env::var(name).ok());
    lsp::serve(&connection, &mut Runs { setups: BTreeMap::new(), language })?;
    drop(connection);
    threads.join().map_err(|error| error.to_string())?;
    Ok(CLEAN)
}

/// Runs of `check` for an editor, which go by the same configuration until it changes.
struct Runs {
    setups: BTreeMap<PathBuf, Setup>,
    language: Language,
}

impl Linter for Runs {
    fn speak(&mut self, locale: &str) {
        self.language = Language::of(|_| Some(locale.to_owned()));
    }

    fn lint(&mut self, target: &Path, unsaved: &Unsaved, about: Option<&BTreeSet<PathBuf>>) -> Result<Linted, String> {
        let lint = Lint::of(target)?;
        let setup = match self.setups.remove(target) {
            Some(setup) => setup,
            None => {
                let mut setup = Setup::load(&lint)?;
                setup.rules.tell_in(self.language);
                setup
            }
        };
        let mut gathered = Gathered::by(&lint, (setup, self.language), unsaved)?;
        gathered.about(about);
        let Found { verdict, sources, .. } = gathered.judge_with(gathered.inputs().to_vec(), &Against::default())?;
        let root = gathered.root().to_owned();
        self.setups.insert(target.to_owned(), gathered.into_setup());
        Ok(Linted { findings: verdict.shown, sources, root })
    }

    fn forget(&mut self) {
        self.setups.clear();
    }

    fn page(&self, rule: &str) -> Option<String> {
        self.setups.values().find_map(|setup| page(&setup.rules, rule, self.language))
    }
}
