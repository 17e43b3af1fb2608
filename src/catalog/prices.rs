//! What machine types cost: per region and form of purchase.

use super::table::Row;
use super::tables::PRICES;

/// A price.
#[derive(Debug, Clone, Copy)]
pub struct Price {
    /// Of an hour; of a reservation the upfront payment is spread over its term.
    pub per_hour: f64,
    /// Currency.
    pub currency: &'static str,
    /// When it was read.
    pub date: &'static str,
}

/// The price of a machine type in a region in a form of purchase: on-demand, spot, reserved-1y, reserved-3y.
pub fn price(machine: &str, region: &str, form: &str) -> Option<Price> {
    let wanted = |row: &Row| row.text("region") == region && row.text("form") == form;
    let row = PRICES.about(machine).find(wanted)?;
    row.used();
    Some(Price { per_hour: row.number("per_hour")?, currency: row.text("currency"), date: row.text("date") })
}

/// The region where a machine type is cheapest to reserve; without prices of reservations, where it is cheapest on demand.
pub fn price_region(machine: &str) -> Option<&'static str> {
    let cheapest = |form: &'static str| {
        let rows = PRICES.about(machine).filter(move |row| row.text("form") == form);
        let priced = rows.filter_map(|row| Some((row.number::<f64>("per_hour")?, row.text("region"))));
        priced.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, region)| region)
    };
    cheapest("reserved-1y").or_else(|| cheapest("on-demand"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_prices_stand_beside_those_on_demand() {
        for row in PRICES.rows().filter(|row| row.text("form").starts_with("reserved")) {
            let (machine, region) = (row.text("instance_type"), row.text("region"));
            let on_demand = price(machine, region, "on-demand").expect(machine);
            assert_eq!(on_demand.currency, row.text("currency"), "{machine}");
            assert!(row.number("per_hour").is_some_and(|reserved: f64| reserved < on_demand.per_hour), "{machine}");
        }
        assert_eq!(price_region("g5.48xlarge"), Some("us-east-1"));
        assert_eq!(price_region("p4d.24xlarge"), Some("us-east-1"));
        assert_eq!(price_region("m5.large"), None);
        assert!(price("g5.48xlarge", "us-east-1", "spot").is_none());
    }
}
