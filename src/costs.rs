//! Energy and costs over hours: what machines take, and from how many hours on a reservation pays off. Availability: what
//! parts promise together.

/// Energy in kWh that devices of a power take over hours, with what their data centre takes besides (PUE, power usage
/// effectiveness: all power by the power of the machines).
pub fn energy_kwh(watts: f64, devices: f64, hours: f64, pue: f64) -> f64 {
    watts * devices * hours * pue / 1000.0
}

/// What machines of a price per hour cost over hours.
pub fn cost(price_per_hour: f64, machines: f64, hours: f64) -> f64 {
    price_per_hour * machines * hours
}

/// The hours of a term from which on it is cheaper reserved, which is paid for all of the term, than on demand; `None` where it
/// never is.
pub fn break_even_hours(on_demand: f64, reserved: f64, term_hours: f64) -> Option<f64> {
    (reserved > 0.0 && reserved < on_demand).then(|| term_hours * reserved / on_demand)
}

/// The availability in percent of parts that are all needed.
pub fn in_series(percents: &[f64]) -> f64 {
    percents.iter().fold(100.0, |all, percent| all * percent / 100.0)
}

/// The availability in percent of so many parts of which one is enough, where each fails by itself.
pub fn in_parallel(percent: f64, parts: f64) -> f64 {
    100.0 * (1.0 - (1.0 - percent / 100.0).powf(parts.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR: f64 = 8760.0;

    #[test]
    fn an_h100_takes_9198_kwh_a_year() {
        assert_eq!(energy_kwh(700.0, 1.0, YEAR, 1.5).round() as i64, 9198);
    }

    /// The powers that the guides state: T4, A100 as PCIe and as SXM, H100; each with their PUE over a year.
    #[test]
    fn the_guides_cards_take_what_they_state() {
        let year = |watts: f64| (energy_kwh(watts, 1.0, YEAR, 1.5) * 10.0).round() / 10.0;
        assert_eq!([70.0, 300.0, 400.0, 700.0].map(year), [919.8, 3942.0, 5256.0, 9198.0]);
    }

    /// The table of the guides: a machine that always runs, on demand, reserved for one and for three years, and as spot
    /// capacity, which saves 60 to 90 per cent. The prices are those of one H100 (`rules/catalog/prices.csv`, a3-highgpu-1g).
    #[test]
    fn a_year_costs_side_by_side() {
        let (demand, one, three) = (11.0612, 7.673, 4.858);
        let year = |price: f64| cost(price, 1.0, YEAR).round() as i64;
        assert_eq!([demand, one, three].map(year), [96_896, 67_215, 42_556]);
        assert_eq!([demand * 0.4, demand * 0.1].map(year), [38_758, 9_690], "spot");
        let hours = |reserved: f64| break_even_hours(demand, reserved, YEAR).map(|hours| hours.round() as i64);
        assert_eq!([one, three].map(hours), [Some(6077), Some(3847)]);
        assert_eq!(break_even_hours(demand * 0.4, three, YEAR), None, "spot is cheaper still");
    }

    #[test]
    fn what_is_needed_multiplies_and_what_is_spare_fails_together() {
        assert_eq!((in_series(&[99.9, 99.99]) * 1e4).round() / 1e4, 99.89);
        assert_eq!(in_series(&[]), 100.0);
        assert_eq!((in_parallel(99.0, 2.0) * 1e6).round() / 1e6, 99.99);
        assert_eq!(in_parallel(99.5, 1.0), 99.5);
        assert_eq!(in_parallel(99.5, 0.0), 0.0);
        let two_behind_one = in_series(&[99.99, in_parallel(99.5, 2.0)]);
        assert_eq!((two_behind_one * 1e4).round() / 1e4, 99.9875);
    }

    #[test]
    fn reservations_pay_off_from_some_hours_on() {
        assert_eq!(cost(16.288, 4.0, YEAR).round() as i64, 570_732);
        let year = break_even_hours(16.288, 10.261, YEAR).expect("cheaper");
        assert!((cost(16.288, 1.0, year) - cost(10.261, 1.0, YEAR)).abs() < 1e-6);
        assert_eq!(year.round() as i64, 5519, "two thirds of the year");
        assert_eq!(break_even_hours(1.0, 1.0, YEAR), None);
    }
}
