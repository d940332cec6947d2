//! Annealing of ejection chains between machines at prices.

use makespan_core::Profile;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Problem;

/// Machines that are tried for a task, those of least price, at most.
const MOST_CANDIDATES: usize = 12;
/// The temperature, in multiples of the price of a mean task, at the beginning and at the end.
const HOT: f64 = 0.5;
const COLD: f64 = 5e-3;
/// It falls so often, each time from the start, for at most `FEW` tasks: one descent often ends far from the best.
const CYCLES: f64 = 8.0;
const FEW: usize = 25;
/// Where the target lies between the bound and the shortest makespan so far.
const TARGET: f64 = 0.3;
/// What is over the target by so many mean tasks counts double.
const STEEP: f64 = 0.5;
/// A chain is tried so often for each move of one task.
const CHAINS: f64 = 0.8;

/// The machines that are worth trying for each task: what they cost at the prices, above the cheapest, is less than the whole
/// way to the bound.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Where the machines of each task begin.
    first: Vec<usize>,
    machines: Vec<u32>,
    /// In units of the bound.
    times: Vec<f64>,
    /// From when on each machine is free, in units of the bound.
    ready: Vec<f64>,
    /// Ticks of the bound.
    unit: f64,
    /// The tasks of which there is more than one.
    movable: Vec<u32>,
}

impl Candidates {
    /// For these prices of machines, where `bound` is a bound on the makespan: for each task the machines that cost at most
    /// `reach` more than its cheapest, as a share of what all tasks cost on their cheapest.
    pub fn new(problem: &Problem<'_>, prices: &[f64], bound: i64, reach: f64) -> Self {
        let unit = bound.max(1) as f64;
        let sum: f64 = prices.iter().sum();
        let prices: Vec<f64> = prices.iter().map(|price| price / sum).collect();
        let (mut first, mut machines, mut times) = (vec![0], Vec::new(), Vec::new());
        let mut costs: Vec<(f64, u32)> = Vec::with_capacity(problem.machines());
        for task in 0..problem.tasks() {
            let row = problem.row(task).iter().zip(&prices).enumerate();
            let able = row.filter(|(_, (time, _))| **time < Profile::CANNOT_RUN);
            costs.clear();
            costs.extend(able.map(|(machine, (time, price))| (price * time.ticks() as f64 / unit, machine as u32)));
            let kept = costs.len().min(MOST_CANDIDATES);
            if kept < costs.len() {
                costs.select_nth_unstable_by(kept, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                costs.truncate(kept);
            }
            costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let limit = costs.first().map_or(0.0, |least| least.0) + reach;
            for &(_, machine) in costs.iter().take_while(|cost| cost.0 <= limit) {
                machines.push(machine);
                times.push(problem.time(task, machine as usize) as f64 / unit);
            }
            first.push(machines.len());
        }
        let movable =
            (0..problem.tasks()).filter(|&task| first[task + 1] - first[task] > 1).map(|task| task as u32).collect();
        let ready = problem.ready().iter().map(|&ready| ready as f64 / unit).collect();
        Self { first, machines, times, ready, unit, movable }
    }

    /// Each task on its cheapest machine: the linear programme, rounded.
    pub fn cheapest(&self) -> Vec<u32> {
        self.first[..self.first.len() - 1].iter().map(|&first| self.machines[first]).collect()
    }

    /// A machine of the task, and its time there.
    fn draw(&self, task: usize, random: &mut ChaCha8Rng) -> (usize, f64) {
        let at = random.random_range(self.first[task]..self.first[task + 1]);
        (self.machines[at] as usize, self.times[at])
    }
}

/// One search: a mapping that changes, and the best one.
///
/// What is minimised is what the machines do after a target between the bound and the shortest makespan so far, more than in
/// proportion. At the prices of the linear programme only few tasks have several candidates that cost nearly the same, and only
/// these move. A change moves one task to a candidate, or two: the first pushes the second out of its machine to a
/// candidate of that one, which may be where the first came from.
///
/// Source: annealing after Kirkpatrick, Gelatt, Vecchi, Science 220, 1983, DOI 10.1126/science.220.4598.671; ejection chains
/// after F. Glover, Discrete Applied Mathematics 65, 1996, DOI 10.1016/0166-218X(94)00037-E. Complexity: O(1) a change.
pub struct Chains<'a> {
    candidates: &'a Candidates,
    machine_of: Vec<u32>,
    time_of: Vec<f64>,
    tasks_of: Vec<Vec<u32>>,
    position: Vec<u32>,
    loads: Vec<f64>,
    target: f64,
    best: f64,
    best_mapping: Vec<u32>,
    /// Machines that are not done before the best makespan.
    late: usize,
    /// The price of a mean task, as a share of the bound.
    mean: f64,
    /// One over the number of machines.
    weight: f64,
}

impl<'a> Chains<'a> {
    /// From a mapping on, of the same problem.
    pub fn new(problem: &Problem<'_>, candidates: &'a Candidates, mapping: Vec<u32>) -> Self {
        let mut loads = candidates.ready.clone();
        let mut tasks_of = vec![Vec::new(); loads.len()];
        let (mut position, mut time_of) = (Vec::with_capacity(mapping.len()), Vec::with_capacity(mapping.len()));
        for (task, &machine) in mapping.iter().enumerate() {
            let time = problem.time(task, machine as usize) as f64 / candidates.unit;
            loads[machine as usize] += time;
            time_of.push(time);
            position.push(tasks_of[machine as usize].len() as u32);
            if candidates.first[task + 1] - candidates.first[task] > 1 {
                tasks_of[machine as usize].push(task as u32);
            }
        }
        let mut chains = Self {
            candidates,
            best_mapping: mapping.clone(),
            machine_of: mapping,
            time_of,
            tasks_of,
            position,
            loads,
            target: 0.0,
            best: f64::INFINITY,
            late: 0,
            mean: 0.0,
            weight: 1.0 / problem.machines() as f64,
        };
        chains.mean = 1.0 / chains.machine_of.len().max(1) as f64;
        chains.keep();
        chains
    }

    /// The best makespan so far, in ticks but for the rounding of floats.
    pub fn best(&self) -> f64 {
        self.best * self.candidates.unit
    }

    /// The mapping of the best makespan.
    pub fn into_best(self) -> Vec<u32> {
        self.best_mapping
    }

    /// Tries so many changes when `done`, from 0 to 1, of the way from hot to cold is behind.
    pub fn round(&mut self, done: f64, changes: usize, random: &mut ChaCha8Rng) {
        let tasks = self.candidates.movable.len();
        if tasks == 0 {
            return;
        }
        let cycles = if tasks <= FEW { CYCLES } else { 1.0 };
        let temperature = HOT * self.mean * (COLD / HOT).powf((done * cycles).fract());
        for _ in 0..changes {
            let task = self.candidates.movable[random.random_range(0..tasks)] as usize;
            let chain = random.random_bool(CHAINS);
            let allowed = -temperature * (1.0 - random.random::<f64>()).ln();
            self.change(task, chain, allowed, random);
        }
    }

    /// Tries one change, and makes it if it costs no more than `allowed`.
    fn change(&mut self, task: usize, chain: bool, allowed: f64, random: &mut ChaCha8Rng) {
        let from = self.machine_of[task] as usize;
        let (to, time) = self.candidates.draw(task, random);
        if to == from {
            return;
        }
        let left = self.loads[from] - self.time_of[task];
        let full = self.loads[to] + time;
        if !chain || self.tasks_of[to].is_empty() {
            let cost =
                self.penalty(left) + self.penalty(full) - self.penalty(self.loads[from]) - self.penalty(self.loads[to]);
            if cost <= allowed {
                self.give(task, to, time);
                self.settle();
            }
            return;
        }
        let pushed = self.tasks_of[to][random.random_range(0..self.tasks_of[to].len())] as usize;
        let (third, pushed_time) = self.candidates.draw(pushed, random);
        if third == to {
            return;
        }
        let full = full - self.time_of[pushed];
        let before = self.penalty(self.loads[from]) + self.penalty(self.loads[to]);
        let cost = if third == from {
            self.penalty(left + pushed_time) + self.penalty(full) - before
        } else {
            self.penalty(left) + self.penalty(full) + self.penalty(self.loads[third] + pushed_time)
                - before
                - self.penalty(self.loads[third])
        };
        if cost <= allowed {
            self.give(task, to, time);
            self.give(pushed, third, pushed_time);
            self.settle();
        }
    }

    /// What it costs that a machine is done so late.
    fn penalty(&self, load: f64) -> f64 {
        let over = load - self.target;
        if over > 0.0 { self.weight * over * (1.0 + over / (STEEP * self.mean)) } else { 0.0 }
    }

    fn give(&mut self, task: usize, to: usize, time: f64) {
        let from = self.machine_of[task] as usize;
        self.load(from, self.loads[from] - self.time_of[task]);
        self.load(to, self.loads[to] + time);
        let at = self.position[task] as usize;
        self.tasks_of[from].swap_remove(at);
        if let Some(&moved) = self.tasks_of[from].get(at) {
            self.position[moved as usize] = at as u32;
        }
        self.position[task] = self.tasks_of[to].len() as u32;
        self.tasks_of[to].push(task as u32);
        self.machine_of[task] = to as u32;
        self.time_of[task] = time;
    }

    fn load(&mut self, machine: usize, load: f64) {
        self.late -= usize::from(self.loads[machine] >= self.best);
        self.late += usize::from(load >= self.best);
        self.loads[machine] = load;
    }

    /// After a change: keeps what is better, and aims lower.
    fn settle(&mut self) {
        if self.late == 0 {
            self.keep();
        }
    }

    fn keep(&mut self) {
        // Sums of floats drift; here they are made anew.
        self.loads.copy_from_slice(&self.candidates.ready);
        for (task, &machine) in self.machine_of.iter().enumerate() {
            self.loads[machine as usize] += self.time_of[task];
        }
        let makespan = self.loads.iter().copied().fold(0.0, f64::max);
        if makespan < self.best {
            self.best = makespan;
            self.best_mapping.copy_from_slice(&self.machine_of);
            self.target = 1.0 + (makespan - 1.0).max(0.0) * TARGET;
        }
        let (best, loads, tasks_of) = (self.best, &self.loads, &self.tasks_of);
        self.late = loads.iter().zip(tasks_of).filter(|(load, _)| **load >= best).count();
    }
}
