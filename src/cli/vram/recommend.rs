//! GPUs and machine types that a model fits, cheapest first.

use super::super::arguments::Vram;
use super::serve;
use crate::catalog::{self, Instance};
use crate::vram::serving::Card;
use crate::vram::{Verdict, advice};
use std::fmt::Write;

/// Counts of GPUs that are tried.
const COUNTS: [u64; 4] = [1, 2, 4, 8];

/// A table of what fits: for each data-center GPU the smallest number, with the machine types that have it.
///
/// # Errors
/// Nothing can be told of the model.
pub fn run(arguments: &Vram) -> Result<String, String> {
    let mut rows: Vec<(Option<f64>, String)> = Vec::new();
    let mut unknown = None;
    for gpu in advice::suitable(&arguments.engine) {
        let Some(card) = Card::find(gpu.id) else { continue };
        let fits = |gpus: &u64| {
            let asked = Vram { gpus: *gpus, tensor_parallel_size: None, ..arguments.clone() };
            let ledger = serve(&asked, &card).ledger;
            if let Verdict::Unknown(why) = &ledger.verdict {
                unknown = Some(why.clone());
            }
            ledger.verdict == Verdict::Fits
        };
        let Some(count) = COUNTS.iter().copied().find(fits) else { continue };
        let machines: Vec<&Instance> = catalog::instances()
            .filter(|i| i.gpu == gpu.id && i.gpu_count == Some(count as i64) && i.retired.is_none())
            .collect();
        if machines.is_empty() {
            rows.push((None, format!("{count} x {:<16} no machine type of the catalog has exactly these", gpu.id)));
        }
        for machine in machines {
            // Prices are compared in US dollars; others are shown and not ordered.
            let price = machine.price_per_hour.filter(|_| machine.currency == "USD");
            let shown =
                machine.price_per_hour.map(|p| format!("{p:.2} {}/h ({})", machine.currency, machine.price_as_of));
            rows.push((
                price,
                format!(
                    "{count} x {:<16} {:<10} {:<28} {}",
                    gpu.id,
                    machine.provider,
                    machine.name,
                    shown.unwrap_or_else(|| "no price in the catalog".to_owned())
                ),
            ));
        }
    }
    if let Some(why) = unknown.filter(|_| rows.is_empty()) {
        return Err(format!("cannot tell: {why}"));
    }
    rows.sort_by(|(a, x), (b, y)| {
        a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)).then_with(|| x.cmp(y))
    });
    let mut out = format!(
        "{} fits, cheapest first (on-demand prices of the catalog with their dates):

",
        arguments.model
    );
    if rows.is_empty() {
        out = format!("{} fits no group of up to 8 GPUs of the catalog\n", arguments.model);
    }
    for (_, row) in rows {
        let _ = writeln!(out, "  {row}");
    }
    Ok(out)
}
