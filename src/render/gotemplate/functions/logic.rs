//! Defaults, conditions, types, failures, and what only a cluster, a clock or chance can tell.

use super::{ANY, Call, Function, Outcome};
use crate::known::Why;
use crate::render::gotemplate::print;
use crate::render::value::{Data, Map, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "default" => (|c| Ok(c.args[1..].first().filter(|given| given.is_true()).unwrap_or(&c.args[0]).clone()), 1, 2),
        "coalesce" => (|c| Ok(c.args.iter().find(|arg| arg.is_true()).cloned().unwrap_or_default()), 0, ANY),
        "empty" => (|c| Ok((!c.args[0].is_true()).into()), 1, 1),
        "not" => (|c| Ok((!c.args[0].is_true()).into()), 1, 1),
        "all" => (|c| Ok(c.args.iter().all(Value::is_true).into()), 0, ANY),
        "any" => (|c| Ok(c.args.iter().any(Value::is_true).into()), 0, ANY),
        "ternary" => (ternary, 3, 3),
        "fail" => (|c| Err(c.str(0)?.to_owned()), 1, 1),
        "required" => (required, 2, 2),
        "kindOf" => (|c| Ok(print::kind_of(&c.args[0]).into()), 1, 1),
        "kindIs" => (|c| is(c, print::kind_of(&c.args[1])), 2, 2),
        "typeOf" => (|c| Ok(type_of(c)), 1, 1),
        "typeIs" => (|c| is(c, &print::type_of(&c.args[1])), 2, 2),
        "typeIsLike" => (
            |c| {
                let name = print::type_of(&c.args[1]);
                is(c, if c.str(0)?.starts_with('*') { &name } else { name.trim_start_matches('*') })
            },
            2,
            2,
        ),
        "lookup" => (|_| Ok(Map::new().into()), 4, 4),
        "getHostByName" => (|_| Ok("".into()), 1, 1),
        "date" | "dateInZone" | "date_in_zone" => (date, 2, 3),
        "call" => (|_| Err("non-function".to_owned()), 1, ANY),
        // They come to the same every time, and nobody here computes them.
        "buildCustomCert" | "decryptAES" | "derivePassword" | "fromToml" => (|c| c.missed(c.name), 0, ANY),
        "ago"
        | "bcrypt"
        | "dateModify"
        | "date_modify"
        | "duration"
        | "durationRound"
        | "encryptAES"
        | "genCA"
        | "genCAWithKey"
        | "genPrivateKey"
        | "genSelfSignedCert"
        | "genSelfSignedCertWithKey"
        | "genSignedCert"
        | "genSignedCertWithKey"
        | "htmlDate"
        | "htmlDateInZone"
        | "htpasswd"
        | "must_date_modify"
        | "now"
        | "randAlpha"
        | "randAlphaNum"
        | "randAscii"
        | "randBytes"
        | "randInt"
        | "randNumeric"
        | "shuffle"
        | "toDate"
        | "unixEpoch"
        | "uuidv4" => (|c| c.unknown(), 0, ANY),
        _ => return None,
    })
}

/// Longest layout of a date that is nothing else than that.
const MAX_LAYOUT: usize = 64;

/// A layout may be any text.
fn date(call: &Call<'_>) -> Outcome {
    if call.str(0)?.len() > MAX_LAYOUT { call.missed(call.name) } else { call.unknown() }
}

/// Whether a name is one that Helm gives a type of its own, which differs between its versions.
fn is_of_helm(name: &str) -> bool {
    name.contains('.') && !name.contains("semver.")
}

fn is(call: &Call<'_>, name: &str) -> Outcome {
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let asked = call.str(0)?;
    let open = is_of_helm(name) && last(asked) == last(name);
    Ok(if open { Why::NotModelled("which Helm it is".into()).into() } else { (asked == name).into() })
}

fn type_of(call: &Call<'_>) -> Value {
    let name = print::type_of(&call.args[0]);
    if is_of_helm(&name) { Why::NotModelled("which Helm it is".into()).into() } else { name.into() }
}

fn ternary(call: &Call<'_>) -> Outcome {
    match call.args[2].data {
        Data::Bool(value) => Ok(call.args[if value { 0 } else { 1 }].clone()),
        _ => Err(call.wrong(2, "bool")),
    }
}

/// A value that must be given: without it, what stands there is not known.
fn required(call: &Call<'_>) -> Outcome {
    let value = &call.args[1];
    if value.is_nil() || value.as_str() == Some("") {
        return Ok(Value::from(Why::NotStated(call.shown(0).as_str().into())).at(value.origin));
    }
    Ok(value.clone())
}
