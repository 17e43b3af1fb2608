//! Defaults, conditions, types, failures, and what only a cluster, a clock or chance can tell.

use super::{ANY, Call, Function, Outcome};
use crate::known::Why;
use crate::render::gotemplate::print;
use crate::render::value::{Map, Value};

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
        "kindIs" => (|c| Ok((c.str(0)? == print::kind_of(&c.args[1])).into()), 2, 2),
        "typeOf" => (|c| Ok(print::type_of(&c.args[0]).into()), 1, 1),
        "typeIs" | "typeIsLike" => {
            (|c| Ok((c.str(0)?.trim_start_matches('*') == print::type_of(&c.args[1])).into()), 2, 2)
        }
        "lookup" => (|_| Ok(Map::new().into()), 4, 4),
        "getHostByName" => (|_| Ok("".into()), 1, 1),
        "abbrevboth"
        | "ago"
        | "bcrypt"
        | "buildCustomCert"
        | "call"
        | "date"
        | "dateInZone"
        | "dateModify"
        | "date_in_zone"
        | "date_modify"
        | "decryptAES"
        | "derivePassword"
        | "duration"
        | "durationRound"
        | "encryptAES"
        | "fromToml"
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
        | "js"
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

fn ternary(call: &Call<'_>) -> Outcome {
    match call.args[2].data {
        crate::render::value::Data::Bool(value) => Ok(call.args[if value { 0 } else { 1 }].clone()),
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
