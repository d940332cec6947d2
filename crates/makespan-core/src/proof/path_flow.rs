//! Paths of tasks, and what there is to be held, together.

use serde::{Deserialize, Serialize};

use super::capacity::{open_amount, open_cost};
use super::{CertificateError, Kind, Places, Run, Scope, Value};
use crate::model::{Instance, ResourceId, ResourceKind, TaskId};
use crate::schedule::Objective;

/// A flow along the edges from task to task, and prices for processors and resources.
///
/// A flow is a sum of paths. Along each, tasks run one after the other from a release on, so the makespan C is at least the release plus
/// their times; weighed with the flow F, `F C >= sum_i (Y_i t_i + s_i r_i)`, where `Y_i` flows through task i, which takes `t_i`, and
/// `s_i` of it begins there, at the release `r_i`. And until C no more is held than there is: the price of what is open between the
/// first release and C is at least `sum_i q_i t_i`, where `q_i` is the price of what task i holds. Together
///
/// `F C + open(C) >= sum_i min { Y_i t + q t } + sum_i s_i r_i`,
///
/// where each minimum is over the ways to run the task. The least C for which this is true is a bound: what is long on few processors is
/// paid for on its path, and what is short on many is paid for by their area. Of a bag one task is on the paths.
///
/// Source: the dual of the linear programme of critical path and area for moldable tasks with precedence constraints (K. Jansen, H. Zhang,
/// ACM Trans. Algorithms 2(3), 2006, DOI 10.1145/1159892.1159899); releases, resources, closed periods and speeds are our extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathFlow {
    /// Pairs of a different task, by its number in the instance, and how much flows through it; nothing through others.
    pub tasks: Vec<(u32, u64)>,
    /// Pairs of an edge, by its position in the instance, and how much flows along it; nothing along others.
    pub edges: Vec<(u32, u64)>,
    /// For each node the price of a tick of one of its processors; none where processors have no price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<u64>,
    /// Pairs of the name of a resource and the price of a tick of one unit of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<(String, u64)>,
}

impl Kind for PathFlow {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// The makespan that follows, in ticks. O(tasks * (allotments * kinds of nodes) + edges).
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let nodes = instance.platform().nodes().len();
        if !self.prices.is_empty() && self.prices.len() != nodes {
            let problem = format!("it has {} prices for {nodes} nodes", self.prices.len());
            return Err(CertificateError::Malformed(problem));
        }
        let resources = self.priced(instance)?;
        let (through, begins) = self.flows(instance)?;
        let needed = self.needed(instance, &resources, &through, &begins).ok_or(CertificateError::Overflow)?;
        let flow: i128 = begins.iter().sum();
        let first = i128::from(instance.first_release().ticks());
        let has = |end: i128| {
            let mut sum = flow.checked_mul(end)?.checked_add(open_cost(instance, &self.prices, first, end)?)?;
            for &(resource, price) in &resources {
                let open = open_amount(instance, resource, first, end)?;
                sum = sum.checked_add(open.checked_mul(price.into())?)?;
            }
            Some(sum)
        };
        // What is too much to be counted is enough. An instance is shorter than this.
        let enough = |end: i128| has(end).is_none_or(|sum| sum >= needed);
        let (mut low, mut high) = (0, i128::from(i64::MAX / 2));
        if !enough(high) {
            return Err(CertificateError::Overflow);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        Ok(Value::Integer(low))
    }
}

impl PathFlow {
    /// The resources that have a price.
    fn priced(&self, instance: &Instance) -> Result<Vec<(ResourceId, u64)>, CertificateError> {
        let platform = instance.platform();
        let comes_back = |id: &ResourceId| platform.resource_of(*id).kind != ResourceKind::Consumable;
        let one = |(name, price): &(String, u64)| {
            let id = platform.resource(name).filter(comes_back);
            let problem = || format!("the platform has no resource `{name}` that is held for a time");
            Ok((id.ok_or_else(|| CertificateError::Malformed(problem()))?, *price))
        };
        self.resources.iter().map(one).collect()
    }

    /// For each different task how much flows through it, and how much of that begins there.
    fn flows(&self, instance: &Instance) -> Result<(Vec<i128>, Vec<i128>), CertificateError> {
        let fail = |what: &str| Err(CertificateError::Malformed(what.into()));
        let mut through = vec![0_i128; instance.different_tasks()];
        for &(task, flow) in &self.tasks {
            match through.get_mut(task as usize) {
                Some(through) => *through += i128::from(flow),
                None => return fail("it names a task that the instance does not have"),
            }
        }
        let (mut begins, mut ends) = (through.clone(), through.clone());
        for &(edge, flow) in &self.edges {
            let Some(edge) = instance.edges().get(edge as usize) else {
                return fail("it names an edge that the instance does not have");
            };
            begins[instance.different(edge.to)] -= i128::from(flow);
            ends[instance.different(edge.from)] -= i128::from(flow);
        }
        if begins.iter().chain(&ends).any(|&rest| rest < 0) {
            return fail("more flows along the edges at a task than through it");
        }
        Ok((through, begins))
    }

    /// What all tasks pay at least for their flow and for what they hold; `None` on overflow.
    fn needed(
        &self,
        instance: &Instance,
        resources: &[(ResourceId, u64)],
        through: &[i128],
        begins: &[i128],
    ) -> Option<i128> {
        let places = Places::new(instance);
        let by_kind = places.least_prices(&self.prices);
        let mut sum = 0_i128;
        for job in instance.jobs() {
            let release = i128::from(job.release.ticks());
            for task in (0..job.different_tasks()).map(|number| job.task(number)) {
                let row = instance.different(task);
                let rates = |run: &Run| self.rate(instance, &places, &by_kind, resources, task, run);
                let (mut on_path, mut beside): (Option<i128>, Option<i128>) = (None, None);
                places.each(task, |run| {
                    // What is too large to be counted is not the least.
                    let Some(held) = rates(run).and_then(|rate| rate.checked_mul(run.time)) else { return };
                    let Some(paid) = through[row].checked_mul(run.time).and_then(|time| time.checked_add(held)) else {
                        return;
                    };
                    on_path = Some(on_path.map_or(paid, |least| least.min(paid)));
                    beside = Some(beside.map_or(held, |least| least.min(held)));
                });
                let others = beside?.checked_mul(i128::from(job.equal_tasks()) - 1)?;
                let began = begins[row].checked_mul(release)?;
                sum = sum.checked_add(on_path?)?.checked_add(others)?.checked_add(began)?;
            }
        }
        Some(sum)
    }

    /// What a task pays a tick for what it holds.
    fn rate(
        &self,
        instance: &Instance,
        places: &Places<'_>,
        by_kind: &[u64],
        resources: &[(ResourceId, u64)],
        task: TaskId,
        run: &Run,
    ) -> Option<i128> {
        let price = if self.prices.is_empty() { 0 } else { places.price(run, &self.prices, by_kind) };
        let mut rate = i128::from(price).checked_mul(run.first.into())?;
        let demands = instance.demands(task);
        for &(resource, price) in resources.iter().filter(|_| !demands.is_empty()) {
            rate = rate.checked_add(i128::from(run.holds(demands, resource)).checked_mul(price.into())?)?;
        }
        Some(rate)
    }
}
