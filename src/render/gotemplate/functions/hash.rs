//! Encodings and digests of bytes.

use super::{Call, Function, Outcome};
use crate::render::text::{Origin, Text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "b64enc" => (|c| Ok(c.text(0)?.derived(base64(c.str(0)?.as_bytes())).into()), 1, 1),
        "b64dec" => (b64dec, 1, 1),
        "sha256sum" => (|c| Ok(c.text(0)?.derived(hex(&sha256(c.str(0)?.as_bytes()))).into()), 1, 1),
        "adler32sum" => (|c| Ok(adler32(c.str(0)?.as_bytes()).to_string().into()), 1, 1),
        "b32enc" => (|c| Ok(c.text(0)?.derived(base32(c.str(0)?.as_bytes())).into()), 1, 1),
        "b32dec" => (b32dec, 1, 1),
        "sha1sum" | "sha512sum" => (|c| c.unknown(), 1, 1),
        _ => return None,
    })
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding.
pub(in crate::render::gotemplate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |i: usize| u32::from(part.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= part.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

const DIGITS_32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Base32 with padding.
fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for part in bytes.chunks(5) {
        let bits = (0..5).fold(0u64, |bits, i| bits << 8 | u64::from(part.get(i).copied().unwrap_or(0)));
        let digits = (part.len() * 8).div_ceil(5);
        for i in 0..8 {
            let digit = DIGITS_32[(bits >> (35 - 5 * i)) as usize & 31];
            out.push(if i < digits { char::from(digit) } else { '=' });
        }
    }
    out
}

fn b64dec(call: &Call<'_>) -> Outcome {
    decode(call, ("base64", 4), |byte| DIGITS.iter().position(|d| *d == byte))
}

fn b32dec(call: &Call<'_>) -> Outcome {
    decode(call, ("base32", 8), |byte| DIGITS_32.iter().position(|d| *d == byte))
}

/// The text that digits stand for, in groups that are filled up; what is wrong with them is told as a text, too.
fn decode(call: &Call<'_>, (name, group): (&str, usize), value: impl Fn(u8) -> Option<usize>) -> Outcome {
    let text = call.text(0)?;
    let width = if group == 4 { 6 } else { 5 };
    let (mut bits, mut count, mut out) = (0u64, 0, Vec::new());
    let given: Vec<u8> = text.as_str().bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let digits = given.iter().position(|b| *b == b'=').unwrap_or(given.len());
    let read: Option<Vec<usize>> = given[..digits].iter().map(|byte| value(*byte)).collect();
    let filled = given.len().is_multiple_of(group)
        && given.len() - digits < group - 1
        && given[digits..].iter().all(|b| *b == b'=');
    let (Some(read), true) = (read, filled && digits * width % 8 < width) else {
        let unknown = Origin { unknown: true, ..Origin::whole(text.place()) };
        let mut message = Text::plain(format!("illegal {name} data at input byte "));
        message.push("$(offset)", unknown);
        return Ok(message.into());
    };
    for digit in read {
        bits = (bits << width | digit as u64) & 0xffff;
        count += width;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Ok(text.derived(String::from_utf8_lossy(&out).into_owned()).into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}

/// The first bits of the fractional part of a root of the first primes, as FIPS 180-4 asks for.
fn fractions(count: usize, root: impl Fn(u128) -> u128) -> Vec<u32> {
    let prime = |n: &u128| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2u128..).filter(prime).take(count).map(|p| root(p) as u32).collect()
}

/// The largest number whose power is at most `limit`.
fn whole_root(limit: u128, power: u32) -> u128 {
    let (mut low, mut high) = (0u128, 1u128 << 40);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if middle.checked_pow(power).is_some_and(|p| p <= limit) { low = middle } else { high = middle }
    }
    low
}

/// SHA-256 (FIPS 180-4).
fn sha256(bytes: &[u8]) -> [u8; 32] {
    let k = fractions(64, |p| whole_root(p << 96, 3));
    let mut state = fractions(8, |p| whole_root(p << 64, 2));
    let mut data = bytes.to_vec();
    data.push(0x80);
    data.resize((data.len() + 8).next_multiple_of(64), 0);
    let end = data.len() - 8;
    data[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in data.chunks(64) {
        let mut w: Vec<u32> =
            block.chunks(4).map(|b| b.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))).collect();
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = state.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        state.iter_mut().zip(v).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
    }
    let mut out = [0; 32];
    out.chunks_mut(4).zip(state).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let of = |text: &str| hex(&sha256(text.as_bytes()));
        assert_eq!(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(of(&"a".repeat(55)), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
        assert_eq!(of(&"a".repeat(56)), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
        assert_eq!(of(&"a".repeat(64)), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
        assert_eq!((base64(b"a"), base64(b"ab"), base64(b"abc")), ("YQ==".into(), "YWI=".into(), "YWJj".into()));
    }
}
