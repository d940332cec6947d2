//! Annealing of a mapping in which each machine runs its tasks in Smith's order.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{MachineId, MappingProblem};

/// The initial temperature, in multiples of the cost of a mean task.
const HOT: f64 = 0.3;
/// The final temperature, in multiples of the cost of a mean task.
const COLD: f64 = 1e-4;
/// On average, one in `SWAPS` changes exchanges two tasks. All other changes move one task.
const SWAPS: u32 = 3;
/// Price of a tick after the limit, as a multiple of the maximum cost that the tick can save.
const DEAR: f64 = 2.0;

/// A search that minimises the sum of weight times completion over all tasks. If a machine completes after a limit, a
/// price is added.
///
/// Each machine runs its tasks by increasing time divided by weight. This order is optimal for one machine (W. E.
/// Smith, Naval Research Logistics Quarterly 3, 1956, DOI 10.1002/nav.3800030106). A change moves a task to another
/// machine or exchanges two tasks. The change is accepted by the rule of Metropolis (Kirkpatrick, Gelatt, Vecchi,
/// Science 220, 1983, DOI 10.1126/science.220.4598.671). Complexity: O(k) for each change, for machines with k tasks.
pub struct Smith<'a> {
    problem: &'a MappingProblem<'a>,
    weights: &'a [f64],
    limit: Option<i64>,
    /// Price of each tick by which a machine completes after the limit.
    price: f64,
    machine_of: Vec<MachineId>,
    /// The tasks of each machine, in Smith's order.
    lines: Vec<Vec<u32>>,
    loads: Vec<i64>,
    /// Weighted completion of the current mapping.
    value: f64,
    /// The sum, over all machines, of the ticks by which a machine completes after the limit.
    late: i64,
    /// The values `late` and `value` of the best mapping, and this mapping.
    best: (i64, f64, Vec<MachineId>),
    /// Cost of a mean task in the initial mapping.
    scale: f64,
}

impl<'a> Smith<'a> {
    /// Returns a search that starts from a mapping. The search avoids machines that complete after `limit`, but the
    /// initial mapping may contain such machines.
    pub fn new(
        problem: &'a MappingProblem<'a>,
        weights: &'a [f64],
        limit: Option<i64>,
        mapping: Vec<MachineId>,
    ) -> Self {
        let mut lines = vec![Vec::new(); problem.machines()];
        for (task, &machine) in mapping.iter().enumerate() {
            lines[machine.index()].push(task as u32);
        }
        let loads = problem.completions(&mapping);
        // At worst, all tasks wait for the work after the limit. So each tick of this work costs at most the sum of
        // all weights.
        let price = DEAR * weights.iter().sum::<f64>();
        let best = (i64::MAX, f64::INFINITY, mapping.clone());
        let (machine_of, value, late, scale) = (mapping, 0.0, 0, 0.0);
        let mut smith = Self { problem, weights, limit, price, machine_of, lines, loads, value, late, best, scale };
        for machine in problem.machine_ids() {
            let mut line = std::mem::take(&mut smith.lines[machine.index()]);
            line.sort_unstable_by(|&a, &b| smith.compare(a, b, machine));
            smith.lines[machine.index()] = line;
        }
        smith.keep();
        let ready = |machine: &MachineId| problem.ready()[machine.index()] as f64;
        let ready: f64 = smith.machine_of.iter().zip(weights).map(|(machine, weight)| weight * ready(machine)).sum();
        smith.scale = (smith.weighed() - ready).max(1.0) / smith.machine_of.len().max(1) as f64;
        smith
    }

    /// Returns the best mapping.
    pub fn into_best(self) -> Vec<MachineId> {
        self.best.2
    }

    /// Tries up to `changes` changes. `done`, from 0 to 1, is the progress of the search. The temperature falls with
    /// `done`.
    pub fn round(&mut self, done: f64, changes: usize, random: &mut ChaCha8Rng) {
        if self.lines.len() < 2 || self.machine_of.is_empty() {
            return;
        }
        let heat = HOT * self.scale * (COLD / HOT).powf(done);
        for _ in 0..changes {
            if random.random_range(0..SWAPS) == 0 {
                self.exchange(heat, random);
            } else {
                self.shift(heat, random);
            }
        }
        // Compute the sums again, because repeated additions of floats cause errors.
        self.keep();
    }

    fn shift(&mut self, heat: f64, random: &mut ChaCha8Rng) {
        let task = random.random_range(0..self.machine_of.len()) as u32;
        let to = MachineId::at(random.random_range(0..self.lines.len()));
        let from = self.machine_of[task as usize];
        if to == from || !self.problem.can_run(task as usize, to) {
            return;
        }
        let cost = self.cost(to, task, None) - self.cost(from, task, None);
        let late = self.later(from, -self.time(task, from)) + self.later(to, self.time(task, to));
        if self.accepts(cost, late, heat, random) {
            self.take(task);
            self.put(task, to);
            self.settle(cost, late);
        }
    }

    fn exchange(&mut self, heat: f64, random: &mut ChaCha8Rng) {
        let [a, b] = [(); 2].map(|()| random.random_range(0..self.machine_of.len()) as u32);
        let (on_a, on_b) = (self.machine_of[a as usize], self.machine_of[b as usize]);
        if on_a == on_b || !self.problem.can_run(a as usize, on_b) || !self.problem.can_run(b as usize, on_a) {
            return;
        }
        let cost = self.cost(on_b, a, Some(b)) - self.cost(on_a, a, None) + self.cost(on_a, b, Some(a))
            - self.cost(on_b, b, None);
        let late = self.later(on_a, self.time(b, on_a) - self.time(a, on_a))
            + self.later(on_b, self.time(a, on_b) - self.time(b, on_b));
        if self.accepts(cost, late, heat, random) {
            self.take(a);
            self.take(b);
            self.put(a, on_b);
            self.put(b, on_a);
            self.settle(cost, late);
        }
    }

    fn accepts(&self, cost: f64, late: i64, heat: f64, random: &mut ChaCha8Rng) -> bool {
        let cost = cost + self.price * late as f64;
        cost <= 0.0 || cost <= crate::search::heat(heat, random)
    }

    fn time(&self, task: u32, machine: MachineId) -> i64 {
        self.problem.time(task as usize, machine)
    }

    fn compare(&self, a: u32, b: u32, machine: MachineId) -> std::cmp::Ordering {
        let key = |task: u32, other: u32| self.time(task, machine) as f64 * self.weights[other as usize];
        key(a, b).total_cmp(&key(b, a)).then(a.cmp(&b))
    }

    /// Returns the cost of a task on a machine: its own weighted completion, and the weighted delay of the tasks after
    /// it. The task `without` is ignored.
    fn cost(&self, machine: MachineId, task: u32, without: Option<u32>) -> f64 {
        let time = self.time(task, machine);
        let (mut start, mut behind) = (self.problem.ready()[machine.index()], 0.0);
        for &other in self.lines[machine.index()].iter().filter(|&&other| other != task && Some(other) != without) {
            if self.compare(other, task, machine).is_lt() {
                start += self.time(other, machine);
            } else {
                behind += self.weights[other as usize];
            }
        }
        self.weights[task as usize] * (start + time) as f64 + behind * time as f64
    }

    /// Returns the increase of [`Smith::over`] if the load of a machine increases by `more`.
    fn later(&self, machine: MachineId, more: i64) -> i64 {
        self.over(machine, self.loads[machine.index()] + more) - self.over(machine, self.loads[machine.index()])
    }

    /// Returns the number of ticks by which a machine with this load completes after the limit. Returns zero for a
    /// machine without tasks.
    fn over(&self, machine: MachineId, load: i64) -> i64 {
        let Some(limit) = self.limit else { return 0 };
        if load > self.problem.ready()[machine.index()] { (load - limit).max(0) } else { 0 }
    }

    fn take(&mut self, task: u32) {
        let machine = self.machine_of[task as usize];
        let line = &mut self.lines[machine.index()];
        let at = line.iter().position(|&other| other == task).unwrap_or_default();
        line.remove(at);
        self.loads[machine.index()] -= self.time(task, machine);
    }

    fn put(&mut self, task: u32, machine: MachineId) {
        let at = self.lines[machine.index()].partition_point(|&other| self.compare(other, task, machine).is_lt());
        self.lines[machine.index()].insert(at, task);
        self.loads[machine.index()] += self.time(task, machine);
        self.machine_of[task as usize] = machine;
    }

    fn settle(&mut self, cost: f64, late: i64) {
        self.value += cost;
        self.late += late;
        if (self.late, self.value) < (self.best.0, self.best.1) {
            (self.best.0, self.best.1) = (self.late, self.value);
            self.best.2.copy_from_slice(&self.machine_of);
        }
    }

    /// Computes the cost of the current mapping anew.
    fn keep(&mut self) {
        self.value = self.weighed();
        self.late = self.problem.machine_ids().map(|machine| self.over(machine, self.loads[machine.index()])).sum();
        self.settle(0.0, 0);
    }

    fn weighed(&self) -> f64 {
        let each = self.problem.machine_ids().zip(&self.lines).map(|(machine, line)| {
            let mut end = self.problem.ready()[machine.index()];
            let cost = |&task: &u32| {
                end += self.time(task, machine);
                self.weights[task as usize] * end as f64
            };
            line.iter().map(cost).sum::<f64>()
        });
        each.sum()
    }
}
