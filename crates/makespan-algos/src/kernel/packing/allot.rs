//! Chooses allotments, and orders tasks.

use makespan_core::ResourceKind;

use super::afford::AffordableAllotments;
use super::{ListEntry, Packing, Row};

/// Weights of time against area in the cost of an allotment. The weight 0 gives the allotments with the least work.
/// Larger weights give faster allotments.
const BALANCES: [f64; 9] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97, 1.0];
/// Number of rounds. Each round adds the longest path to the prices.
const ROUNDS: u32 = 12;
/// For more rows of equal tasks than this number, fewer balances and rounds are tried.
const MANY: usize = 20_000;
/// Maximum number of changes for each row of equal tasks in a repair. A repair changes allotments until the consumables
/// suffice.
const REPAIRS: usize = 20;

impl Packing<'_> {
    /// Returns several sets of allotments for all rows of equal tasks. The sets range from allotments with the least
    /// area to allotments with the shortest critical path.
    ///
    /// The cost of an allotment is its area plus its time multiplied by a price. The price of a task is the fraction of
    /// the earlier rounds in which the task was on the longest path. These prices approximately maximise the dual of
    /// the linear programme of R. Lepère, D. Trystram and G. Woeginger (Int. J. Found. Comput. Sci. 13, 2002, DOI
    /// 10.1142/S0129054102001308), by averaged best replies.
    pub fn balanced(&self) -> Vec<Vec<u32>> {
        let many = self.rows.len() > MANY;
        let rounds = if many { 3 } else { ROUNDS };
        let balances = BALANCES.iter().enumerate().filter(|(at, _)| !many || at % 3 == 1).map(|(_, balance)| *balance);
        let mut found: Vec<Vec<u32>> = Vec::new();
        for balance in balances {
            let mut shares = vec![0.0; self.rows.len()];
            let mut choices = self.priced(&shares, balance);
            for round in 1..=rounds {
                let kept = 1.0 - 1.0 / f64::from(round);
                shares.iter_mut().for_each(|share| *share *= kept);
                for row in self.longest_path(&choices) {
                    shares[row.index()] += 1.0 / f64::from(round);
                }
                choices = self.priced(&shares, balance);
            }
            if self.repair(&mut choices) && !found.contains(&choices) {
                found.push(choices);
            }
        }
        if found.is_empty()
            && let AffordableAllotments::Choices(choices) = self.affordable()
        {
            found.push(choices);
        }
        found
    }

    /// Returns the allotment with the fewest processors for each row of equal tasks.
    pub fn fewest(&self) -> Vec<u32> {
        self.rows().map(|row| self.choices_of(row).start).collect()
    }

    /// Returns the fastest allotment for each row of equal tasks. Among equally fast allotments, returns the allotment
    /// with the fewest processors.
    pub fn quickest(&self) -> Vec<u32> {
        let best = |row| self.choices_of(row).min_by_key(|&choice| self.choice(choice).time);
        self.rows().map(|row| best(row).unwrap_or_default()).collect()
    }

    /// Returns, for each row of equal tasks, the allotment with the lowest cost.
    fn priced(&self, shares: &[f64], balance: f64) -> Vec<u32> {
        let best = |row: Row| {
            let cost = |choice: u32| {
                let time = self.fastest(choice) as f64;
                (1.0 - balance) * self.area(choice) + (balance * shares[row.index()] + 1e-9) * time
            };
            self.choices_of(row).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or_default()
        };
        self.rows().map(best).collect()
    }

    /// Returns the rank of each row of equal tasks: the longest path from its start to the end of its direct and
    /// indirect successors, in ticks.
    pub fn ranks(&self, choices: &[u32]) -> Vec<f64> {
        self.ranks_by(|row| self.fastest(choices[row.index()]) as f64)
    }

    /// Returns the rank of each row of equal tasks: the longest path from its start to the end of its direct and
    /// indirect successors, in ticks. `time` returns the time of a row.
    pub fn ranks_by(&self, time: impl Fn(Row) -> f64) -> Vec<f64> {
        let mut ranks = vec![0.0; self.rows.len()];
        for &row in self.order.iter().rev() {
            let behind = self.instance.outgoing_edges(self.first_of(row)).iter().map(|&edge| {
                let transfer = self.machines.transfers.as_ref().map_or(0.0, |transfers| transfers.mean(edge));
                transfer + ranks[self.row_of(self.instance.edges()[edge as usize].to).index()]
            });
            ranks[row.index()] = time(row) + behind.fold(0.0, f64::max);
        }
        ranks
    }

    /// Returns the rows of equal tasks on a longest path.
    fn longest_path(&self, choices: &[u32]) -> Vec<Row> {
        let ranks = self.ranks(choices);
        let first = self.rows().filter(|row| self.rows[row.index()].waits == 0);
        let longest =
            |rows: &mut dyn Iterator<Item = Row>| rows.max_by(|a, b| ranks[a.index()].total_cmp(&ranks[b.index()]));
        let mut path = Vec::new();
        let mut at = longest(&mut first.into_iter());
        while let Some(row) = at {
            path.push(row);
            let behind = self.instance.outgoing(self.first_of(row)).map(|edge| self.row_of(edge.to));
            at = longest(&mut behind.into_iter());
        }
        path
    }

    /// Returns a list of all tasks with these allotments, by ascending key. Tasks with equal keys are in the order of
    /// the instance.
    pub fn list(&self, choices: &[u32], key: impl Fn(Row) -> f64) -> Vec<ListEntry> {
        let keys: Vec<f64> = self.rows().map(key).collect();
        let mut rows: Vec<Row> = self.rows().collect();
        rows.sort_by(|a, b| keys[a.index()].total_cmp(&keys[b.index()]));
        let tasks = rows.into_iter().flat_map(|row| {
            let first = self.first_of(row).0;
            (0..u64::from(self.count_of(row))).map(move |number| (row, first + number))
        });
        tasks.map(|(row, task)| ListEntry { task: makespan_core::TaskId(task), choice: choices[row.index()] }).collect()
    }

    /// Changes allotments until the available consumables suffice. Each change minimises the remaining excess, and then
    /// the increase of the time of the task. Returns whether the consumables suffice at the end. If not,
    /// [`Packing::affordable`] may still find a solution.
    pub fn repair(&self, choices: &mut [u32]) -> bool {
        let consumables: Vec<_> = self.consumables().collect();
        if consumables.is_empty() {
            return true;
        }
        let used_by = |row: Row, choice: u32| -> Vec<f64> {
            let amount = |resource| {
                let demand = self.demands_of(row).iter().find(|demand| demand.resource == resource);
                let total = demand.map_or(0, |demand| demand.need.total(self.choice(choice).processors));
                total as f64 * f64::from(self.count_of(row))
            };
            consumables.iter().map(|&resource| amount(resource)).collect()
        };
        let there: Vec<f64> = consumables.iter().map(|&resource| self.machines.ever_left(resource) as f64).collect();
        let excess = |used: &[f64]| -> f64 {
            used.iter().zip(&there).map(|(used, there)| (used - there).max(0.0) / there.max(1.0)).sum()
        };
        let sum = |choices: &[u32]| {
            let mut sum = vec![0.0; there.len()];
            for row in self.rows() {
                sum.iter_mut().zip(used_by(row, choices[row.index()])).for_each(|(sum, used)| *sum += used);
            }
            sum
        };
        let uses = |row: &Row| self.demands_of(*row).iter().any(|demand| demand.kind == ResourceKind::Consumable);
        let rows: Vec<Row> = self.rows().filter(uses).collect();
        let mut used = sum(choices);
        for attempt in 0..2 {
            for _ in 0..REPAIRS * rows.len() {
                let present = excess(&used);
                if present <= 0.0 {
                    return true;
                }
                let mut best: Option<(f64, f64, Row, u32)> = None;
                for &row in &rows {
                    let old = choices[row.index()];
                    let own = used_by(row, old);
                    for choice in self.choices_of(row).filter(|&choice| choice != old) {
                        let after: Vec<f64> = used
                            .iter()
                            .zip(&own)
                            .zip(used_by(row, choice))
                            .map(|((all, own), new)| all - own + new)
                            .collect();
                        let longer = (self.fastest(choice) - self.fastest(old)) as f64;
                        let value = (excess(&after), longer);
                        if value.0 < present && best.is_none_or(|best| value < (best.0, best.1)) {
                            best = Some((value.0, value.1, row, choice));
                        }
                    }
                }
                let Some((.., row, choice)) = best else { break };
                choices[row.index()] = choice;
                used = sum(choices);
            }
            if attempt == 0 {
                // Begin again. For each row of equal tasks, use the allotment with the smallest sum of all consumables.
                for &row in &rows {
                    let cost = |choice: u32| -> f64 {
                        used_by(row, choice).iter().zip(&there).map(|(used, there)| used / there.max(1.0)).sum()
                    };
                    let least = self.choices_of(row).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
                    choices[row.index()] = least.unwrap_or_default();
                }
                used = sum(choices);
            }
        }
        excess(&used) <= 0.0
    }
}
