//! A ledger as a table and as JSON.

use super::super::arguments::Vram;
use super::Answer;
use crate::vram::serving::{Card, KV_CACHE, Ledger, WEIGHTS};
use crate::vram::{GIB, Verdict};
use serde_json::json;
use std::fmt::Write;

/// The answer as `{"verdict", "per_gpu", "kv_tokens", …}`; a number is null where it does not apply.
pub fn json(ledger: &Ledger, change: Option<&str>) -> String {
    let gib = |bytes: f64| (bytes / GIB * 1e6).round() / 1e6;
    let part = |name| ledger.parts.iter().any(|p| p.name == name).then(|| gib(ledger.part(name)));
    let serving = ledger.serving;
    let lines: Vec<_> =
        ledger.parts.iter().map(|p| json!({"name": p.name, "gib": gib(p.bytes), "how": p.how})).collect();
    let answer = json!({
        "verdict": ledger.verdict.to_string(),
        "reason": ledger.reason,
        "per_gpu": {
            "weights_gib": part(WEIGHTS),
            "kv_cache_gib": serving.map(|s| gib(s.available.max(0.0))),
            "kv_per_request_gib": part(KV_CACHE),
            "activations_gib": part("activations"),
            "total_gib": (!ledger.parts.is_empty()).then(|| gib(ledger.total())),
            "capacity_gib": (ledger.card > 0.0).then(|| gib(ledger.card)),
            "budget_gib": (ledger.budget > 0.0).then(|| gib(ledger.budget)),
        },
        "kv_tokens": serving.map(|s| s.tokens),
        "longest_request": serving.map(|s| s.longest),
        "change": change,
        "parts": lines,
    });
    format!("{answer:#}\n")
}

/// Width of the bars.
const BAR: usize = 32;

/// The answer as a table for people; `alike` are the other cards that the name may mean.
pub fn human(arguments: &Vram, card: &Card, alike: &[&str], answer: &Answer) -> String {
    let ledger = &answer.ledger;
    let mut out = String::new();
    let version = arguments.engine_version.as_deref().map(|v| format!(" {v}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "{} with {}{version} on {} x {} ({:.1} GiB each)\n",
        arguments.model,
        arguments.engine,
        arguments.gpus,
        card.gpu,
        card.bytes / GIB
    );
    if !alike.is_empty() {
        let name = arguments.gpu.as_deref().unwrap_or_default();
        let _ = writeln!(out, "  {name} is taken for {}; it may also be {}\n", card.gpu, alike.join(", "));
    }
    for part in &ledger.parts {
        let _ = writeln!(
            out,
            "  {:<14}{:>8.2} GiB  {}  {}",
            part.name,
            part.bytes / GIB,
            bar(part.bytes / card.bytes),
            part.how
        );
    }
    if !ledger.parts.is_empty() {
        let _ = writeln!(
            out,
            "  {:<14}{:>8.2} GiB  {}  of {:.2} GiB",
            "sum",
            ledger.total() / GIB,
            bar(ledger.total() / card.bytes),
            ledger.card / GIB
        );
    }
    if ledger.budget > 0.0 && (ledger.budget - ledger.card).abs() > 1.0 {
        let _ = writeln!(out, "  {:<14}{:>8.2} GiB  what the engine may take", "budget", ledger.budget / GIB);
    }
    let _ = match &ledger.verdict {
        Verdict::Unknown(why) => writeln!(out, "cannot tell: {why}"),
        verdict => writeln!(out, "\n{}: {}", verdict.to_string().replace('-', " "), ledger.reason),
    };
    if let Some(change) = &answer.change {
        let _ = writeln!(out, "one change that fits: {change}");
    }
    if let Some(serving) = ledger.serving.filter(|s| s.available > 0.0) {
        let _ = writeln!(
            out,
            "{:.1} GiB for the KV cache: {} tokens, {:.1} requests of {} tokens at once",
            serving.available / GIB,
            serving.tokens,
            serving.available / serving.request.max(1.0),
            serving.length
        );
    }
    out
}

/// A share of the card as a bar.
fn bar(share: f64) -> String {
    let filled = ((share * BAR as f64).round() as usize).min(BAR);
    let over = if share > 1.0 { "▶" } else { " " };
    format!("{}{}{over}", "█".repeat(filled), "░".repeat(BAR - filled))
}
