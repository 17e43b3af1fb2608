//! The figures of the field study are those of its rows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn rows(name: &str) -> Vec<csv::StringRecord> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/field").join(name);
    let mut reader = csv::Reader::from_path(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    reader.records().collect::<Result<_, _>>().expect("rows")
}

/// How many rows have a value in one column, of those that have another in a second one.
fn share(rows: &[csv::StringRecord], (of, is): (usize, &str), (column, wanted): (usize, &str)) -> String {
    let of: Vec<_> = rows.iter().filter(|row| &row[of] == is).collect();
    format!("{} of {}", of.iter().filter(|row| &row[column] == wanted).count(), of.len())
}

#[test]
fn rounds_and_batches_are_counted_right() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/field-study.md")).expect("page");
    let lines: Vec<&str> = page.lines().collect();
    let (mut rounds, mut batches) = (0, 0);
    for number in 1..100 {
        if lines.iter().any(|line| line.contains(&format!("(field/round-{number:02}.csv)"))) {
            let findings = rows(&format!("round-{number:02}.csv"));
            // Of past commits nobody listed the faults.
            let listed = page.contains(&format!("(field/faults-{number:02}.csv)"));
            let faults = if listed { rows(&format!("faults-{number:02}.csv")) } else { Vec::new() };
            let seen: BTreeSet<&str> =
                findings.iter().map(|row| &row[0]).chain(faults.iter().map(|row| &row[1])).collect();
            let right = |severity| share(&findings, (5, severity), (7, "right"));
            let others: Vec<_> =
                faults.iter().filter(|row| &row[3] == "harmful" || &row[3] == "depends").cloned().collect();
            let told = others.iter().filter(|row| &row[4] == "yes").count();
            let figures = format!(
                "| {} | {} | {} | {} | {} | {told} of {} |",
                seen.len(),
                right("error"),
                right("warning"),
                right("info"),
                share(&faults, (3, "fails"), (4, "yes")),
                others.len()
            );
            assert!(page.contains(&figures), "round {number}: {figures}");
            rounds += 1;
        }
        if lines.iter().any(|line| line.contains(&format!("(field/cases-{number:02}.csv)"))) {
            let cases = rows(&format!("cases-{number:02}.csv"));
            let count = |verdict| cases.iter().filter(|row| &row[2] == verdict).count();
            let figures = format!("| {} | {} | {} |", count("caught"), count("weak"), cases.len());
            assert!(page.contains(&figures), "batch {number}: {figures}");
            batches += 1;
        }
    }
    for replay in ["fixes-02.csv", "fixes-03.csv"] {
        let fixes = rows(replay);
        let in_scope: Vec<_> = fixes.iter().filter(|row| &row[2] == "in").collect();
        let told = in_scope.iter().filter(|row| &row[3] == "yes").count();
        assert!(page.contains(&format!("| {} | {} | {told} |", fixes.len(), in_scope.len())), "{replay}");
    }
    assert!(rounds > 0 && batches > 0);
}

#[test]
fn what_the_atlas_says_is_told_has_a_rule() {
    let (rows, lost) = told("atlas");
    assert!(rows.len() > 500 && lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn every_clause_of_the_ledger_is_told_or_says_why_not() {
    let (rows, lost) = told("ledger");
    assert!(rows.len() > 500 && lost.is_empty(), "{}", lost.join("\n"));
    let silent: Vec<_> = rows.iter().filter(|(told, why_not)| told.is_empty() == why_not.is_empty()).collect();
    assert!(silent.is_empty(), "a rule, or the reason why there is none: {silent:?}");
}

/// What tells each row of the tables in a folder of `docs`, and why nothing does; the names there that no rule has.
fn told(folder: &str) -> (Vec<(String, String)>, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(folder);
    let rules = gpulint::rules::Ruleset::builtin();
    let (mut rows, mut lost) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).expect("a folder of docs").map(|entry| entry.expect("an entry").path()) {
        if entry.extension().is_none_or(|extension| extension != "csv") {
            continue;
        }
        let mut reader = csv::Reader::from_path(&entry).expect("a table");
        let headers = reader.headers().expect("headers").clone();
        let column = |name: &str| headers.iter().position(|header| header == name).expect(name);
        let (told, why_not) = (column("told_by"), column("why_not"));
        for row in reader.records().map(|row| row.expect("a row")) {
            let names = row[told].split([' ', ',', ';']).filter(|name| !name.is_empty());
            lost.extend(names.filter(|name| rules.url(name).is_none()).map(|name| format!("{entry:?}: {name}")));
            rows.push((row[told].to_owned(), row[why_not].to_owned()));
        }
    }
    (rows, lost)
}
