//! Functions over the training ledger.

use super::general::{functions, string};
use super::*;
use crate::facts::{Gpu, Training};
use crate::known::{Fact, Known};
use crate::rules::lang::values::number;
use crate::vram::run::{Gap, Run};
use crate::vram::serving::{Card, Ledger};
use crate::vram::{Architecture, DecidedBy, Fit, GIB, Verdict, sum, training};
use crate::words::Word;
use std::cell::RefCell;

fn fit_type() -> Type {
    Type::Word(Fit::WORDS)
}

functions! {
    "training_fit" (param("training", Training::ty), param("gpu", Gpu::ty), param("gpus", int_type)) -> Output::Type(fit_type), false, "Whether a training run fits GPUs of a kind: fits, tight, does-not-fit; it stands at the setting that decides. Unknown when a setting or the model is.", |a, _| {
        of_case(a, |case| {
            let ledger = case.ledger();
            let fit = ledger.verdict.fit().map_err(|why| Why::NotStated(why.into()))?;
            let flows = ledger.decided_by == Some(DecidedBy::Activations);
            let place = if flows { case.training.micro_batch_size.span } else { case.training.model.span };
            Ok(Value::at(Data::Str(fit.text().into()), place))
        })
    };
    "training_sum" (param("training", Training::ty), param("gpu", Gpu::ty), param("gpus", int_type)) -> Output::Type(str_type), false, "The parts of a training run's memory on one GPU, and their sum.", |a, _| {
        of_case(a, |case| Ok(string(sum(&case.ledger().parts), &a[0])))
    };
    "training_remedy" (param("training", Training::ty), param("gpu", Gpu::ty), param("gpus", int_type)) -> Output::Type(str_type), false, "One change after which a training run fits, with its memory; null when no single change is enough.", |a, _| {
        of_case(a, |case| {
            let remedy = training::remedy(&case.shape, &case.run, case.card);
            let told = remedy.map(|(what, after)| format!("{what}: {:.1} GiB", after.total() / GIB));
            Ok(told.map_or(Value::of(Data::Null), |told| string(told, &a[0])))
        })
    };
    "training_card_share" (param("training", Training::ty), param("gpu", Gpu::ty), param("gpus", int_type)) -> Output::Type(float_type), false, "The share of one GPU's memory that a training run takes at its peak, 1.0 for all of it; unknown when a setting or the model is.", |a, _| {
        of_case(a, |case| {
            let ledger = case.ledger();
            ledger.verdict.fit().map_err(|why| Why::NotStated(why.into()))?;
            Ok(Value::of(Data::Float(ledger.total() / case.card)))
        })
    };
    "training_host_gib" (param("training", Training::ty), param("gpu", Gpu::ty), param("gpus", int_type)) -> Output::Type(float_type), false, "GiB of host memory over all nodes that a training run's offloaded states and weights take; unknown when a setting or the model is.", |a, _| {
        of_case(a, |case| Ok(Value::of(Data::Float(training::host_bytes(&case.shape, &case.run) / GIB))))
    };
}

/// What the functions are asked about.
struct Case<'a> {
    training: &'a Training,
    shape: Architecture,
    run: Run,
    card: f64,
}

impl<'a> Case<'a> {
    /// Of several cards that it may be, what does not fit the largest fits none, and what fits the smallest fits all.
    fn of(training: &'a Training, gpu: &Gpu, gpus: u64) -> Result<Self, Why> {
        let case = Self::on(training, &gpu.largest, gpus)?;
        if gpu.smallest.get() == gpu.largest.get() || case.ledger().verdict == Verdict::DoesNotFit {
            return Ok(case);
        }
        let least = Self::on(training, &gpu.smallest, gpus)?;
        match &gpu.id.known {
            Known::Unknown(why) if least.ledger().verdict != case.ledger().verdict => Err(why.clone()),
            _ => Ok(least),
        }
    }

    fn on(training: &'a Training, gpu: &Fact<String>, gpus: u64) -> Result<Self, Why> {
        let open: RefCell<Option<Why>> = RefCell::new(None);
        let stated = |fact: Fact<String>| match fact.known {
            Known::Value(text) => Some(text),
            Known::Absent => None,
            Known::Unknown(why) => {
                open.borrow_mut().get_or_insert(why);
                None
            }
        };
        let split = |size: &Fact<i64>| size.get().map_or(1, |n| n.unsigned_abs()).max(1);
        let model_parallel = split(&training.tensor_parallel).saturating_mul(split(&training.pipeline_parallel));
        let trainer = stated(training.trainer.clone()).unwrap_or_default();
        // Where somebody says that all weights are trained, what their states take does not depend on the sequences.
        let by_trainer = training.method.span == training.trainer.span;
        let sequences = !training.sequence_len.is_absent() || by_trainer || training.packing.get() == Some(&true);
        let run = Run::read(&trainer, |setting| match setting {
            "data_parallel" => Some((gpus / model_parallel).max(1).to_string()),
            "sequence_len" if !sequences => Some("1".to_owned()),
            _ => stated(training.setting(setting)),
        });
        let model = stated(training.model.clone());
        if let Some(why) = open.into_inner() {
            return Err(why);
        }
        let model = model.ok_or(Why::NotStated("the model".into()))?;
        let card = match &gpu.known {
            Known::Value(id) => Card::find(id).ok_or_else(|| Why::NotInCatalog(id.as_str().into()))?,
            Known::Unknown(why) => return Err(why.clone()),
            Known::Absent => return Err(Why::NotStated("the GPU of the node".into())),
        };
        let named = Architecture::find(&model);
        let shape = named.or_else(|| Architecture::of_megatron(&model)).ok_or(Why::NotInCatalog(model.into()))?;
        let missing =
            if sequences { (shape.vocab == 0).then_some("the vocabulary") } else { Some("the sequence length") };
        let case = Self {
            training,
            run: run.map_err(|gap| match gap {
                Gap::NotStated(what) => Why::NotStated(what.into()),
                Gap::NotModelled(what) => Why::NotModelled(what.into()),
            })?,
            shape,
            card: card.bytes,
        };
        // Without it the sum is the least that there may be.
        match missing.filter(|_| case.ledger().verdict != Verdict::DoesNotFit) {
            Some(what) => Err(Why::NotStated(what.into())),
            None => Ok(case),
        }
    }

    fn ledger(&self) -> Ledger {
        training::ledger(&self.shape, &self.run, self.card)
    }
}

/// The answer about a training run, a GPU and a number of GPUs.
fn of_case<'a>(a: &[Value<'a>], answer: impl Fn(&Case<'a>) -> Result<Value<'a>, Why>) -> Value<'a> {
    let (Some(training), Some(gpu), Some(gpus)) = (given(&a[0]), given(&a[1]), number(&a[2])) else {
        return no_entity();
    };
    let case = Case::of(training, gpu, gpus.float() as u64);
    case.and_then(|case| answer(&case)).unwrap_or_else(|why| Value::unknown(why, None))
}
