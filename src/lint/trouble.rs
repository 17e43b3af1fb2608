//! What is wrong with a file, as findings. Knows how bad it is and what helps; reads nothing.

use crate::finding::{Finding, Severity, Unlinted};
use crate::parse::Problem;

/// What was not linted because of an error, if anything was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// What stands around the error.
    Part,
    /// Some documents; others of the file were linted.
    Documents,
    /// Everything.
    File,
}

impl Lost {
    /// What to do, and what was linted all the same.
    pub fn help(self) -> &'static str {
        match self {
            Lost::Part => "mend the syntax; the rest of the file was linted",
            Lost::Documents => "mend the syntax; the document was not linted, others of the file were",
            Lost::File => "mend the syntax; until then nothing in this file is linted",
        }
    }
}

/// How bad a problem of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It does not parse.
    Syntax(Lost),
    /// A key is written twice.
    Duplicate(Severity),
    /// A chart could not be rendered.
    Template,
    /// A kustomization could not be built.
    Kustomization,
    /// It was not linted, or not as a whole.
    NotLinted(Unlinted),
}

/// A problem of a file as a finding.
pub fn finding(problem: Problem, trouble: Trouble) -> Finding {
    let (rule, severity, help) = match trouble {
        Trouble::Syntax(lost) => ("syntax-error", Severity::Error, lost.help()),
        Trouble::Duplicate(severity) => ("duplicate-key", severity, "keep one of the two, with what both of them say"),
        Trouble::Template => {
            ("template-error", Severity::Warning, "mend the template or the values; the other templates were linted")
        }
        Trouble::Kustomization => {
            let help = "mend the kustomization; until then its files are linted one by one";
            ("kustomization-error", Severity::Warning, help)
        }
        Trouble::NotLinted(why) => return Finding::not_linted(why, problem.span, &problem.message),
    };
    let help = Some(help.to_owned());
    Finding { help, ..Finding::own(rule, severity, problem.span, problem.message) }
}
