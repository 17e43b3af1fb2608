//! Functions over energy, costs and availability.

use super::general::functions;
use super::*;
use crate::costs;
use crate::rules::lang::values::number;

functions! {
    "energy_kwh" (param("watts", float_type), param("devices", float_type), param("hours", float_type), param("pue", float_type)) -> Output::Type(float_type), false, "Energy in kWh that devices of a power take over hours, times the PUE of their data centre.", |a, _| {
        of_numbers(a, |[watts, devices, hours, pue]| Some(costs::energy_kwh(watts, devices, hours, pue)))
    };
    "cost" (param("price", float_type), param("machines", float_type), param("hours", float_type)) -> Output::Type(float_type), false, "What machines of a price per hour cost over hours.", |a, _| {
        of_numbers(a, |[price, machines, hours]| Some(costs::cost(price, machines, hours)))
    };
    "break_even_hours" (param("on_demand", float_type), param("reserved", float_type), param("hours", float_type)) -> Output::Type(float_type), false, "The hours of a term from which on a machine is cheaper reserved than on demand; null where it never is.", |a, _| {
        of_numbers(a, |[on_demand, reserved, hours]| costs::break_even_hours(on_demand, reserved, hours))
    };
    "in_series" (param("first", float_type), param("second", float_type)) -> Output::Type(float_type), false, "The availability in percent of two parts that are both needed.", |a, _| {
        of_numbers(a, |percents: [f64; 2]| Some(costs::in_series(&percents)))
    };
    "in_parallel" (param("percent", float_type), param("parts", float_type)) -> Output::Type(float_type), false, "The availability in percent of so many parts of which one is enough, where each fails by itself.", |a, _| {
        of_numbers(a, |[percent, parts]| Some(costs::in_parallel(percent, parts)))
    };
}

/// The answer about numbers; null where one is none.
fn of_numbers<'a, const N: usize>(a: &[Value<'a>], answer: impl Fn([f64; N]) -> Option<f64>) -> Value<'a> {
    let numbers: Option<Vec<f64>> = a.iter().map(|value| number(value).map(|number| number.float())).collect();
    let found = numbers.and_then(|numbers| answer(numbers.try_into().ok()?));
    Value::of(found.map_or(Data::Null, Data::Float))
}
