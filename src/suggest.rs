//! "Did you mean": the known word that is spelled most like an unknown one. Knows nothing of what the words are about.

use std::collections::BTreeSet;

/// Longer words are like no other.
const LONGEST: usize = 128;

/// By how many slips two words differ, letter case aside (Damerau-Levenshtein).
pub fn slips(a: &str, b: &str) -> usize {
    let longer = a.len().max(b.len());
    if longer > LONGEST {
        return longer;
    }
    strsim::damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

/// The candidate spelled most like a word, and by how many slips it differs.
pub fn closest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<(usize, &'a str)> {
    candidates.fold(None, |best: Option<(usize, &str)>, known| {
        // One that is so much longer or shorter is farther away.
        let far = best.is_some_and(|(slips, _)| longer_by(word, known) > slips);
        let next = (!far).then(|| (slips(word, known), known));
        best.into_iter().chain(next).min()
    })
}

/// The candidate that a word was meant to be: one slip, and one more per four letters.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    closest(word, candidates.filter(|known| may_be_near(word, known)))
        .filter(|(slips, known)| *slips <= 1 + known.len().min(word.len()) / 4)
        .map(|(_, known)| known)
}

/// By how many letters one of two words is longer: they differ by as many slips at least.
fn longer_by(a: &str, b: &str) -> usize {
    a.chars().count().abs_diff(b.chars().count())
}

/// Whether a word is not so much longer or shorter than another that no slips explain it.
pub fn may_be_near(word: &str, known: &str) -> bool {
    longer_by(word, known) <= 1 + word.len() / 4
}

/// The only candidate that a word can have been meant to be: no other one is as near.
pub fn only<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: BTreeSet<&str> = candidates.filter(|known| may_be_near(word, known)).collect();
    let mut all: Vec<(usize, &str)> = candidates.into_iter().map(|known| (slips(word, known), known)).collect();
    all.sort_unstable();
    let near = nearest(word, all.iter().map(|(_, known)| *known))?;
    all.get(1).is_none_or(|(slips, _)| *slips > all[0].0).then_some(near)
}

/// `; did you mean …?`, when some known word is near; else nothing.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(word, known).map_or(String::new(), |known| format!("; did you mean `{known}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_meant() {
        let known = ["replicas", "workload", "pod"];
        assert_eq!(nearest("Replicsa", known.into_iter()), Some("replicas"));
        assert_eq!(nearest("container", known.into_iter()), None);
        assert_eq!(did_you_mean("pdo", known.into_iter()), "; did you mean `pod`?");
        assert_eq!(did_you_mean("gpu", known.into_iter()), "");
        assert_eq!(only("pdo", known.into_iter()), Some("pod"));
        assert_eq!(only("cat", ["bat", "rat"].into_iter()), None);
    }
}
