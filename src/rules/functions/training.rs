//! Functions over the training ledger.

use super::general::{functions, string, text};
use super::*;
use crate::facts::Training;
use crate::facts::value::Data;
use crate::known::Why;
use crate::rules::lang::eval::number;
use crate::source::Span;
use crate::vram::run::{Gap, Run};
use crate::vram::serving::Card;
use crate::vram::{Architecture, DecidedBy, GIB, Verdict, sum, training};
use std::cell::RefCell;

functions! {
    "training_fit" (param("training", training_type), param("gpu", str_type), param("gpus", int_type)) -> Output::Type(str_type), false, "Whether a training run fits GPUs of a kind: fits, tight, does-not-fit; it stands at the setting that decides. Unknown when a setting or the model is.", |a, _| {
        let case = match Case::of(a) {
            Ok(case) => case,
            Err(why) => return Value::unknown(why, None),
        };
        let ledger = training::ledger(&case.shape, &case.run, case.card);
        match ledger.verdict {
            Verdict::Unknown(why) => Value::unknown(Why::NotStated(why.into()), None),
            verdict => {
                let flows = ledger.decided_by == Some(DecidedBy::Activations);
                let span = place(a, if flows { "micro_batch_size" } else { "model" });
                Value { data: Data::Str(verdict.to_string().into()), span }
            }
        }
    };
    "training_sum" (param("training", training_type), param("gpu", str_type), param("gpus", int_type)) -> Output::Type(str_type), false, "The parts of a training run's memory on one GPU, and their sum.", |a, _| {
        of_case(a, |case| Some(sum(&training::ledger(&case.shape, &case.run, case.card).parts)))
    };
    "training_remedy" (param("training", training_type), param("gpu", str_type), param("gpus", int_type)) -> Output::Type(str_type), false, "One change after which a training run fits, with its memory; null when no single change is enough.", |a, _| {
        of_case(a, |case| {
            let (what, after) = training::remedy(&case.shape, &case.run, case.card)?;
            Some(format!("{what}: {:.1} GiB", after.total() / GIB))
        })
    };
    "training_card_share" (param("training", training_type), param("gpu", str_type), param("gpus", int_type)) -> Output::Type(float_type), false, "The share of one GPU's memory that a training run takes at its peak, 1.0 for all of it; unknown when a setting or the model is.", |a, _| {
        match Case::of(a) {
            Ok(case) => {
                let ledger = training::ledger(&case.shape, &case.run, case.card);
                match ledger.verdict {
                    Verdict::Unknown(why) => Value::unknown(Why::NotStated(why.into()), None),
                    _ => Value::of(Data::Float(ledger.total() / case.card)),
                }
            }
            Err(why) => Value::unknown(why, None),
        }
    };
    "training_host_gib" (param("training", training_type), param("gpu", str_type), param("gpus", int_type)) -> Output::Type(float_type), false, "GiB of host memory over all nodes that a training run's offloaded states and weights take; unknown when a setting or the model is.", |a, _| {
        match Case::of(a) {
            Ok(case) => Value::of(Data::Float(training::host_bytes(&case.shape, &case.run) / GIB)),
            Err(why) => Value::unknown(why, None),
        }
    };
}

fn training_type() -> Type {
    Training::ty()
}

/// What the functions are asked about.
struct Case {
    shape: Architecture,
    run: Run,
    card: f64,
}

impl Case {
    fn of(a: &[Value<'_>]) -> Result<Self, Why> {
        let (Data::Entity(entity), Some(gpu), Some(gpus)) = (&a[0].data, text(&a[1]), number(&a[2])) else {
            return Err(Why::NotStated("what is trained on what".into()));
        };
        let open: RefCell<Option<Why>> = RefCell::new(None);
        let stated = |field: &str| match entity.field(entity.entity().field(field)?.0).data {
            Data::Null | Data::List(_) => None,
            Data::Unknown(why) => {
                open.borrow_mut().get_or_insert(why.into_owned());
                None
            }
            _ => Some(entity.field(entity.entity().field(field)?.0).to_string()),
        };
        let split = |field: &str| stated(field).and_then(|n| n.parse::<u64>().ok()).unwrap_or(1).max(1);
        let data = (gpus.float() as u64 / split("tensor_parallel").saturating_mul(split("pipeline_parallel"))).max(1);
        let trainer = stated("trainer").unwrap_or_default();
        let run = Run::read(&trainer, |field| match field {
            "data_parallel" => Some(data.to_string()),
            _ => stated(field),
        });
        let model = stated("model");
        if let Some(why) = open.into_inner() {
            return Err(why);
        }
        let model = model.ok_or(Why::NotStated("the model".into()))?;
        Ok(Self {
            run: run.map_err(|gap| match gap {
                Gap::NotStated(what) => Why::NotStated(what.into()),
                Gap::NotModelled(what) => Why::NotModelled(what.into()),
            })?,
            shape: Architecture::find(&model).ok_or(Why::NotInCatalog(model.into()))?,
            card: Card::find(&gpu).ok_or_else(|| Why::NotInCatalog(gpu.as_ref().into()))?.bytes,
        })
    }
}

fn of_case<'a>(a: &[Value<'a>], answer: impl Fn(&Case) -> Option<String>) -> Value<'a> {
    let found = Case::of(a).ok().and_then(|case| answer(&case));
    found.map_or(Value::of(Data::Null), |text| string(text, &a[0]))
}

/// Where a setting of the run is stated.
fn place(a: &[Value<'_>], field: &str) -> Option<Span> {
    let Data::Entity(entity) = &a[0].data else { return None };
    let (index, _) = entity.entity().field(field)?;
    entity.field(index).span
}
