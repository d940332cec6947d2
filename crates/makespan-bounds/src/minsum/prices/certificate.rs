//! The certificate of the best prices.

use makespan_core::{Instance, Objective, Time};
use makespan_verify::proof::{DeadlinePrices, MachineTimePrices, TimePrices, WidthPrices};
use makespan_verify::{Bound, CertificateError, Proof};

use super::PriceSearch;
use super::terms::{Terms, Width};
use crate::rounding::{finest, rounded, within_64_bits};

impl PriceSearch {
    /// Returns the bound from the best prices so far, proved in exact arithmetic over all jobs.
    ///
    /// If [`super::PriceOptions::makespan_at_most`] is set, the bound is valid only for schedules with at most this
    /// makespan. If the bound is larger than this makespan times the sum of the weights, no schedule has at most this
    /// makespan. Returns `None` if a number does not fit into 128 bits.
    pub fn bound(&self, instance: &Instance) -> Option<Bound> {
        let (prices, instants, horizon) = (self.prices(), self.instants(), self.options.makespan_at_most);
        let proved = |proof| Bound::proved_by(self.options.objective, proof, instance);
        let widths = match self.newton.landscape.terms() {
            Terms::Widths(widths) => widths,
            Terms::Nodes(_) => {
                let largest: Vec<f64> = prices.iter().flatten().copied().collect();
                let attempt = |scale: u32| {
                    let of_node = |own: &Vec<f64>| own.iter().map(|&price| rounded(price, scale)).collect();
                    let prices = prices.iter().map(of_node).collect();
                    let instants = instants.clone();
                    proved(Proof::MachineTimePrices(MachineTimePrices { instants, prices, scale, deadline: horizon }))
                };
                return finest(within_64_bits(&largest), attempt).ok();
            }
        };
        if let (Objective::Makespan, Some(deadline)) = (self.options.objective, horizon) {
            let attempt = |prices, widths, _| {
                proved(Proof::DeadlinePrices(DeadlinePrices { deadline, instants: instants.clone(), prices, widths }))
            };
            return with_widths(&prices, widths, attempt);
        }
        let attempt = |prices, widths, scale| {
            proved(Proof::TimePrices(TimePrices { instants: instants.clone(), prices, scale, horizon, widths }))
        };
        let priced = with_widths(&prices, widths, attempt);
        // If the times of an instance differ extremely, rounding can lose more than the prices gain. Then prices of
        // zero may prove more: with them, the bound follows from the earliest ends of the jobs.
        let (instants, prices, widths) = (vec![Time::ZERO], Vec::new(), Vec::new());
        let free = proved(Proof::TimePrices(TimePrices { instants, prices, scale: 0, horizon, widths })).ok();
        free.into_iter().chain(priced).max_by_key(|bound| bound.value.integer())
    }
}

/// Returns the bound that follows from prices of processors and prices of functions of the width. Rounds the prices to
/// as many binary places as the check supports.
fn with_widths(
    prices: &[Vec<f64>],
    widths: &[Width],
    attempt: impl Fn(Vec<i64>, Vec<WidthPrices>, u32) -> Result<Bound, CertificateError>,
) -> Option<Bound> {
    let units: Vec<f64> = std::iter::once(1.0).chain(widths.iter().map(|width| width.unit)).collect();
    // The check adds the prices of all terms for each job. So these sums must fit into 64 bits.
    let sums: Vec<f64> = (0..prices[0].len()).map(|at| prices.iter().map(|own| own[at]).sum()).collect();
    let integers = |scale: u32| {
        let of_term = |(own, unit): (&Vec<f64>, &f64)| own.iter().map(|price| rounded(price / unit, scale)).collect();
        let mut terms = prices.iter().zip(&units).map(of_term);
        let prices = terms.next().unwrap_or_default();
        let widths = widths.iter().map(|width| width.steps.clone()).zip(terms);
        attempt(prices, widths.map(|(widths, prices)| WidthPrices { widths, prices }).collect(), scale)
    };
    finest(within_64_bits(&sums), integers).ok()
}
