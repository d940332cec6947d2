//! The payment of a task, per tick, for the amounts of processors and resources that the task holds.

use super::super::error::malformed;
use super::super::{CertificateError, NodeKinds, NodeRun};
use makespan_core::{Instance, ResourceId, ResourceKind, TaskId};

/// The prices of processors and resources in a certificate.
pub(super) struct Rate<'a> {
    instance: &'a Instance,
    places: &'a NodeKinds<'a>,
    /// For each node, the price of one of its processors. Empty if processors have no price.
    prices: &'a [u64],
    by_kind: Vec<u64>,
    /// The resources with their prices.
    pub(super) resources: Vec<(ResourceId, u64)>,
}

impl<'a> Rate<'a> {
    /// Collects the prices of the processors of each node, and of the named resources.
    ///
    /// # Errors
    /// [`CertificateError::Malformed`] if the nodes or resources do not match the platform.
    pub(super) fn new(
        instance: &'a Instance,
        places: &'a NodeKinds<'a>,
        prices: &'a [u64],
        resources: &[(String, u64)],
    ) -> Result<Self, CertificateError> {
        let (platform, nodes) = (instance.platform(), instance.platform().nodes().len());
        if !prices.is_empty() && prices.len() != nodes {
            return malformed(format!("there are {} prices for {nodes} nodes", prices.len()));
        }
        let comes_back = |id: &ResourceId| platform.resource_of(*id).kind != ResourceKind::Consumable;
        let one = |(name, price): &(String, u64)| {
            let id = platform.resource(name).filter(comes_back);
            let problem = || format!("the platform has no resource `{name}` that tasks hold and return");
            Ok((id.ok_or_else(|| CertificateError::Malformed(problem()))?, *price))
        };
        let resources = resources.iter().map(one).collect::<Result<_, CertificateError>>()?;
        Ok(Self { instance, places, prices, by_kind: places.least_prices(prices), resources })
    }

    /// Returns the minimum payment of a task for each tick of a run, or `None` on overflow.
    pub(super) fn of(&self, task: TaskId, run: &NodeRun) -> Option<i128> {
        let price = if self.prices.is_empty() { 0 } else { self.places.price(run, self.prices, &self.by_kind) };
        let mut rate = i128::from(price).checked_mul(run.first.into())?;
        let demands = self.instance.demands(task);
        for &(resource, price) in self.resources.iter().filter(|_| !demands.is_empty()) {
            rate = rate.checked_add(i128::from(run.holds(demands, resource)).checked_mul(price.into())?)?;
        }
        Some(rate)
    }

    /// Returns the price, for one tick, of all amounts of the platform, including closed processors. Returns `None` on
    /// overflow.
    pub(super) fn of_all(&self) -> Option<i128> {
        let platform = self.instance.platform();
        let mut sum = 0_i128;
        for (node, &price) in platform.nodes().iter().zip(self.prices) {
            sum = sum.checked_add(i128::from(node.processors).checked_mul(price.into())?)?;
        }
        for &(resource, price) in &self.resources {
            let there = i128::try_from(platform.total(resource)).ok()?;
            sum = sum.checked_add(there.checked_mul(price.into())?)?;
        }
        Some(sum)
    }
}
