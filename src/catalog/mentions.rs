//! Where a text speaks of GPUs: words of `gpu_words.csv`, and names of resources, products, machines, images and packages
//! that other tables hold. Laid out by `build.rs`.

use std::cmp::Ordering;
use std::ops::Range;

include!(concat!(env!("OUT_DIR"), "/gpu_words.rs"));

/// No name is longer, so that a long one is not gone through from each of its parts.
const LONGEST: usize = 128;

/// Where a text speaks of GPUs, in its order. A word ends where letters, digits, `-`, `_`, `.` and `/` end; written with
/// `:` it is a key, with `/` whatever has that domain, with `#` it may have a number
/// behind it, and be part of a name then, or of a path.
pub fn mentions(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(start) = next(bytes, from) {
            let end = mention(text, start);
            from = end.unwrap_or(start + 1);
            if let Some(end) = end {
                return Some(start..end);
            }
        }
        None
    })
}

/// Where the next word starts that begins like one that we look for. Three letters decide it, so that a text that speaks
/// of something else costs no look-up.
fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let mut inside = from > 0 && bytes[from - 1].is_ascii_alphanumeric();
    let at = bytes.get(from..)?.windows(3).position(|three| {
        let starts = !inside && three[0].is_ascii_alphanumeric() && {
            let start = three.iter().fold(0, |start, byte| start << 5 | usize::from(byte & 31));
            STARTS[start / 64] >> (start % 64) & 1 == 1
        };
        inside = three[0].is_ascii_alphanumeric();
        starts
    })?;
    Some(from + at)
}

/// Where the word ends that starts here, if it is one.
fn mention(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let run =
        |holds: &dyn Fn(&u8) -> bool| start + bytes[start..].iter().take(LONGEST).take_while(|b| holds(b)).count();
    let end = run(&is_part_of_name);
    let whole = name(text, start, end);
    let part = run(&u8::is_ascii_alphanumeric);
    let segment = text[start..part].trim_end_matches(|c: char| c.is_ascii_digit());
    // What is called after one of them need not be about it.
    let alone = end == part && !bytes[..start].last().is_some_and(is_part_of_name);
    let path = || bytes[..start].last() == Some(&b'/') || text[start..end].contains('/');
    let said = || alone || start + segment.len() < part || path();
    whole.or_else(|| (known(segment, "#") && said()).then_some(part))
}

/// Where a name ends that is known as a whole, if it is: one that starts here, or behind a `/`.
fn name(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let dashes = bytes[..start].iter().rev().take(3).take_while(|b| **b == b'-').count();
    let before = bytes[..start - dashes].last();
    if before.is_some_and(|b| is_part_of_name(b) && *b != b'/') {
        return None;
    }
    let whole = text[start..end].trim_end_matches(['.', '/', '-', '_']);
    let behind = bytes[end..].iter().take(3).find(|b| !matches!(b, b'"' | b'\'' | b' '));
    let domain = whole.find('/').filter(|slash| known(&whole[..*slash], "/"));
    let key = matches!(behind, Some(b':' | b'=')) && known(whole, ":");
    let option = dashes == 2 && known(&text[start - 2..start + whole.len()], "");
    (domain.is_some() || key || option || known(whole, "")).then_some(start + whole.len())
}

fn is_part_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
}

/// Whether we look for a word, written with a sign behind it.
fn known(word: &str, sign: &str) -> bool {
    let at = |index: usize| &TEXT[if index == 0 { 0 } else { ENDS[index - 1] as usize }..ENDS[index] as usize];
    let written = || word.bytes().map(|b| b.to_ascii_lowercase()).chain(sign.bytes());
    let (mut low, mut high) = (0, ENDS.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match at(middle).bytes().cmp(written()) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        mentions(text).map(|range| &text[range]).collect()
    }

    #[test]
    fn names_that_tables_hold() {
        assert_eq!(found("nvidia.com/gpu: 1"), ["nvidia.com/gpu"]);
        assert_eq!(found("instance_type = \"p4d.24xlarge\""), ["p4d.24xlarge"]);
        assert_eq!(found("image: registry.example/vllm/vllm-openai:v0.9.1"), ["vllm/vllm-openai"]);
        assert_eq!(found("cloud.google.com/gke-accelerator: nvidia-l4"), ["nvidia-l4"]);
    }

    #[test]
    fn words_of_their_own() {
        assert_eq!(found("docker run --gpus all x"), ["gpus"]);
        assert_eq!(found("{\"gpus\": 2}"), ["gpus"]);
        assert_eq!(found("base: cuda12.4-runtime"), ["cuda12"]);
        assert_eq!(found("torch==2.4, images/pytorch-base"), ["torch", "pytorch"]);
    }

    #[test]
    fn words_of_something_else() {
        assert_eq!(found("the gpus of the team, barracuda, tensors and torches"), Vec::<&str>::new());
        assert_eq!(found("name: vllm-monitor, torch_dtype"), Vec::<&str>::new());
        assert_eq!(found("image: nginx:1.27\nname: web-gp\nég"), Vec::<&str>::new());
    }
}
