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
        let far = best.is_some_and(|(slips, _)| fewest(word, known) > slips);
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

/// By how many slips two words differ at least, which is counted sooner than slips are: each adds one letter at most that the
/// other word lacks, and takes one away.
fn fewest(a: &str, b: &str) -> usize {
    if !a.is_ascii() || !b.is_ascii() {
        return a.chars().count().abs_diff(b.chars().count());
    }
    // Letters that share a place hide slips and add none.
    let mut more = [0i32; 32];
    a.bytes().for_each(|letter| more[usize::from(letter.to_ascii_lowercase() % 32)] += 1);
    b.bytes().for_each(|letter| more[usize::from(letter.to_ascii_lowercase() % 32)] -= 1);
    let surplus: i32 = more.iter().filter(|n| **n > 0).sum();
    let lack: i32 = -more.iter().filter(|n| **n < 0).sum::<i32>();
    surplus.max(lack) as usize
}

/// Whether the letters of a word are not so many others than those of another that no slips explain it.
pub fn may_be_near(word: &str, known: &str) -> bool {
    fewest(word, known) <= 1 + word.len() / 4
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

    #[test]
    fn letters_tell_no_more_slips_than_there_are() {
        let words =
            ["tensor-parallel-size", "tensor-paralel-siez", "TENSOR", "size-parallel-tensor", "", "größe", "grosse"];
        for (a, b) in words.iter().flat_map(|a| words.map(|b| (*a, b))) {
            assert!(fewest(a, b) <= slips(a, b), "{a} {b}");
        }
        assert_eq!((fewest("max-model-len", "Max-modle-len"), fewest("port", "host")), (0, 2));
    }
}
