//! Simulated annealing with ejection chains between machines. Each machine has a fixed price of its time.

use makespan_core::{Profile, Time};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::members::Members;
use super::{MachineId, MappingProblem};

/// Maximum number of machines that are tried for a task. The machines with the lowest costs are tried.
const MAX_CANDIDATES: usize = 16;
/// The machines for a task are drawn from a list, in which a machine may have several entries. Each pair consists of a
/// limit and a number of entries. The cost of a task on a machine is its time times the price of the machine. Let the
/// excess of a machine be the cost on this machine minus the lowest cost of the task. The first pair with a limit of at
/// least the excess states the number of entries. If there is no such pair, the machine has no entry. Limits are in
/// multiples of the cost of a mean task. In a good mapping, nearly all tasks run on machines with nearly the lowest
/// cost.
const OFTEN: [(f64, u32); 5] = [(0.003, 16), (0.009, 8), (0.03, 4), (0.12, 2), (0.6, 1)];
/// Approximate maximum number of entries in all lists of machines.
const MANY: usize = 20_000_000;
/// The initial temperature, in multiples of the cost of a mean task.
const HOT: f64 = 0.2;
/// The initial temperature if there are few tasks, in multiples of the cost of a mean task.
const HOT_FEW: f64 = 0.5;
/// The final temperature, in multiples of the cost of a mean task.
const COLD: f64 = 5e-3;
/// The width of the penalty at the beginning of the search, as a fraction of the bound. If a load exceeds the bound by
/// the width, the slope of the penalty is e times the slope at the bound.
const SOFT: f64 = 0.03;
/// The width of the penalty at the end of the search, as a fraction of the bound.
const HARD: f64 = 0.0012;
/// If a load exceeds the bound by more than this multiple of the current width, the penalty grows only linearly.
const BENT: f64 = 5.0;
/// If the cost of a change divided by the temperature exceeds this number, the change is rejected without a random
/// number. The probability of acceptance, at most e^-38, is practically 0.
const HOPELESS: f64 = 38.0;
/// Fraction of the changes that are chains. The other changes are moves of one task.
const EJECTIONS: f64 = 0.95;

/// Number of tasks up to which an instance has few tasks. For few tasks, the bound is far below the makespan of every
/// mapping, so the search uses another penalty.
const FEW: usize = 25;
/// Number of tasks per machine up to which an instance has few tasks.
const FEW_EACH: usize = 4;
/// For few tasks, the number of times that the temperature falls from its initial to its final value. A single fall
/// often ends far from the best mapping.
const CYCLES: f64 = 8.0;
/// Position of the target load between the bound (0) and the shortest makespan found (1).
const TARGET: f64 = 0.3;
/// Excess of a load over the target at which the penalty is twice its linear part. The unit is the bound divided by
/// the number of tasks.
const STEEP: f64 = 0.5;

/// The machines that are tried for each task. Machines with lower costs have more entries.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The index in `machines` at which the machines of each task begin.
    first: Vec<usize>,
    machines: Vec<MachineId>,
    /// For each entry of `machines`, the time of the task on this machine, in units of the bound.
    times: Vec<f64>,
    /// The instant from which each machine is free, in units of the bound.
    ready: Vec<f64>,
    /// The bound, in ticks.
    unit: f64,
    /// The tasks that have several machines.
    movable: Vec<u32>,
    /// For each entry of a movable task in `machines`, the task and the index of the entry.
    moves: Vec<(u32, u32)>,
    /// The price of each machine for a time as long as the bound. The sum over the machines that are ready before the
    /// bound is 1.
    prices: Vec<f64>,
    /// Whether the instance has few tasks.
    few: bool,
}

impl Candidates {
    /// Returns the candidates: the machines that are tried for each task. `prices` contains the price of each machine.
    /// `bound` is a bound on the makespan, and `known` is the makespan of a known mapping. If a task would end after
    /// `known` on a machine, the machine is not a candidate for this task. If there are few tasks, each candidate has
    /// one entry.
    pub fn new(problem: &MappingProblem<'_>, prices: &[f64], bound: i64, known: i64) -> Self {
        let unit = bound.max(1) as f64;
        // If a machine is ready only after the bound, the sum does not include its price. The price then only keeps
        // tasks away from this machine.
        let open = prices.iter().zip(problem.ready()).filter(|(_, ready)| **ready < bound);
        let sum: f64 = open.map(|(price, _)| price).sum::<f64>().max(f64::MIN_POSITIVE);
        let prices: Vec<f64> = prices.iter().map(|price| price / sum).collect();
        let tasks = problem.tasks();
        let mean = 1.0 / tasks.max(1) as f64;
        let few = tasks <= FEW.max(FEW_EACH * problem.machines());
        let often = |above: f64| match OFTEN.iter().find(|(reach, _)| above <= reach * mean) {
            _ if few => 1,
            Some(&(_, times)) if tasks * MAX_CANDIDATES <= MANY / 8 => times,
            within => u32::from(within.is_some()),
        };
        let (mut first, mut machines, mut times) = (vec![0], Vec::new(), Vec::new());
        let (mut movable, mut moves) = (Vec::new(), Vec::new());
        let mut costs: Vec<(f64, MachineId)> = Vec::with_capacity(problem.machines());
        for task in 0..tasks {
            let row = problem.row(task).iter().zip(&prices).enumerate();
            let in_time = |machine: usize, time: &Time| problem.ready()[machine].saturating_add(time.ticks()) <= known;
            let able = row.filter(|&(machine, (time, _))| *time < Profile::CANNOT_RUN && in_time(machine, time));
            costs.clear();
            costs.extend(
                able.map(|(machine, (time, price))| (price * time.ticks() as f64 / unit, MachineId::at(machine))),
            );
            let kept = costs.len().min(MAX_CANDIDATES);
            if kept < costs.len() {
                costs.select_nth_unstable_by(kept, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                costs.truncate(kept);
            }
            costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let least = costs.first().map_or(0.0, |least| least.0);
            let from = machines.len();
            for &(cost, machine) in &costs {
                for _ in 0..often(cost - least) {
                    machines.push(machine);
                    times.push(problem.time(task, machine) as f64 / unit);
                }
            }
            if machines[from..].iter().any(|&machine| machine != machines[from]) {
                movable.push(task as u32);
                moves.extend((from..machines.len()).map(|at| (task as u32, at as u32)));
            }
            first.push(machines.len());
        }
        let ready = problem.ready().iter().map(|&ready| ready as f64 / unit).collect();
        Self { first, machines, times, ready, unit, movable, moves, prices, few }
    }

    /// Returns whether the instance has so few tasks that the bound is far below the makespan of every mapping.
    pub fn is_few(&self) -> bool {
        self.few
    }

    /// Returns the cheapest machine of each task. This is the rounded solution of the linear programme.
    pub fn cheapest(&self) -> Vec<MachineId> {
        self.first[..self.first.len() - 1].iter().map(|&first| self.machines[first]).collect()
    }

    /// Draws a candidate machine for a task, and returns the move of the task to this machine.
    fn draw(&self, task: usize, random: &mut ChaCha8Rng) -> Move {
        self.at(task, random.random_range(self.first[task]..self.first[task + 1]))
    }

    /// Returns the move of a task to the machine at index `at` of `machines`. This entry must belong to the task.
    fn at(&self, task: usize, at: usize) -> Move {
        Move { task, machine: self.machines[at], time: self.times[at] }
    }
}

/// A task on a machine, and its time there.
#[derive(Clone, Copy)]
struct Move {
    task: usize,
    machine: MachineId,
    time: f64,
}

/// Returns whether a change of cost `cost` is accepted at a temperature. A random number and a logarithm are computed
/// only if they can change the answer.
fn accepted(cost: f64, heat: f64, random: &mut ChaCha8Rng) -> bool {
    cost <= 0.0 || (cost <= heat * HOPELESS && cost <= crate::search::heat(heat, random))
}

/// A search, with its current mapping and the best mapping.
///
/// The objective is the sum of the penalties of all machines. The penalty of a machine grows exponentially with the
/// excess of its load over the bound, and more steeply in later steps of the search. At a load equal to the bound, the
/// slope of the penalty is the price of the machine. So if a task costs the same on two machines, a move between them
/// changes the sum little. If there are few tasks, the penalty begins at a target load and grows quadratically.
///
/// At the prices of the linear programme, few tasks have several candidates of nearly the lowest cost. These
/// candidates are drawn most often. A change moves one task or two. A move takes the task to one of its candidate
/// machines. In a chain, a first task moves to a machine and ejects a second task from this machine. The second task
/// moves to one of its candidate machines, which may be the old machine of the first task.
///
/// Source: annealing after Kirkpatrick, Gelatt, Vecchi, Science 220, 1983, DOI 10.1126/science.220.4598.671; ejection
/// chains after F. Glover, Discrete Applied Mathematics 65, 1996, DOI 10.1016/0166-218X(94)00037-E. Complexity: O(1)
/// for each change.
pub struct EjectionChains<'a> {
    candidates: &'a Candidates,
    machine_of: Vec<MachineId>,
    time_of: Vec<f64>,
    /// The movable tasks of each machine.
    members: Members,
    loads: Vec<f64>,
    /// Number of tasks of each machine, including tasks that are not movable.
    tasks: Vec<u32>,
    /// The penalty of each machine for its load.
    penalties: Vec<f64>,
    /// The current width of the penalty, as a fraction of the bound: `SOFT` at the beginning of the search, and `HARD`
    /// at the end.
    width: f64,
    target: f64,
    best: f64,
    best_mapping: Vec<MachineId>,
    /// Number of machines that have tasks and a load of at least the best makespan.
    late: usize,
    /// The cost of a mean task: 1 divided by the number of tasks.
    mean: f64,
    /// The inverse of the number of machines.
    weight: f64,
}

impl<'a> EjectionChains<'a> {
    /// Returns a search that starts from a mapping.
    pub fn new(problem: &MappingProblem<'_>, candidates: &'a Candidates, mapping: Vec<MachineId>) -> Self {
        let mut loads = candidates.ready.clone();
        let mut tasks = vec![0; loads.len()];
        let mut members = Members::new(loads.len(), mapping.len());
        let mut time_of = Vec::with_capacity(mapping.len());
        for (task, &machine) in mapping.iter().enumerate() {
            let time = problem.time(task, machine) as f64 / candidates.unit;
            loads[machine.index()] += time;
            tasks[machine.index()] += 1;
            time_of.push(time);
        }
        for &task in &candidates.movable {
            members.add(task as usize, mapping[task as usize]);
        }
        let mut chains = Self {
            candidates,
            best_mapping: mapping.clone(),
            machine_of: mapping,
            time_of,
            members,
            penalties: vec![0.0; loads.len()],
            width: SOFT,
            loads,
            tasks,
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

    /// Returns the best makespan found, in ticks, rounded to an integer.
    pub fn best(&self) -> f64 {
        self.best * self.candidates.unit
    }

    /// Continues from the mapping with the best makespan.
    pub fn go_back(&mut self) {
        for task in 0..self.machine_of.len() {
            let (first, machine) = (self.candidates.first[task], self.best_mapping[task]);
            let all = &self.candidates.machines[first..self.candidates.first[task + 1]];
            if machine != self.machine_of[task]
                && let Some(at) = all.iter().position(|&candidate| candidate == machine)
            {
                self.give(self.candidates.at(task, first + at));
            }
        }
        self.keep();
    }

    /// Returns the mapping with the best makespan.
    pub fn into_best(self) -> Vec<MachineId> {
        self.best_mapping
    }

    /// Tries up to `changes` changes. `done`, from 0 to 1, is the progress of the search. The temperature falls with
    /// `done`.
    pub fn round(&mut self, done: f64, changes: usize, random: &mut ChaCha8Rng) {
        let moves = self.candidates.moves.len();
        if moves == 0 {
            return;
        }
        let part = if self.candidates.few { (done * CYCLES).fract() } else { done };
        let hot = if self.candidates.few { HOT_FEW } else { HOT };
        let temperature = hot * self.mean * (COLD / hot).powf(part);
        self.width = SOFT * (HARD / SOFT).powf(part);
        self.charge();
        for _ in 0..changes {
            let (task, at) = self.candidates.moves[random.random_range(0..moves)];
            let first = self.candidates.at(task as usize, at as usize);
            if first.machine != self.machine_of[first.task] {
                let chain = random.random_bool(EJECTIONS);
                self.change(first, chain, temperature, random);
            }
        }
    }

    /// Tries one change, and accepts it by the rule of Metropolis.
    fn change(&mut self, first: Move, chain: bool, heat: f64, random: &mut ChaCha8Rng) {
        let Move { task, machine: to, time } = first;
        let from = self.machine_of[task];
        let left = self.loads[from.index()] - self.time_of[task];
        let full = self.loads[to.index()] + time;
        let (of_from, of_to) = (self.tasks[from.index()], self.tasks[to.index()]);
        let before = self.penalties[from.index()] + self.penalties[to.index()];
        let there = self.members.of(to);
        if !chain || there.is_empty() {
            let cost = self.penalty(from, left, of_from - 1) + self.penalty(to, full, of_to + 1) - before;
            if accepted(cost, heat, random) {
                self.give(first);
                self.settle();
            }
            return;
        }
        let pushed = there[random.random_range(0..there.len())] as usize;
        let second = self.candidates.draw(pushed, random);
        let Move { machine: third, time: pushed_time, .. } = second;
        if third == to {
            return;
        }
        let mut cost = self.penalty(to, full - self.time_of[pushed], of_to) - before;
        if third == from {
            cost += self.penalty(from, left + pushed_time, of_from);
        } else {
            let at = third.index();
            cost += self.penalty(third, self.loads[at] + pushed_time, self.tasks[at] + 1) - self.penalties[at];
            // Stop early. The cost of the first machine is not computed yet, but it never reduces the total cost.
            if cost > heat * HOPELESS {
                return;
            }
            cost += self.penalty(from, left, of_from - 1);
        }
        if accepted(cost, heat, random) {
            self.give(first);
            self.give(second);
            self.settle();
        }
    }

    /// Returns the penalty of a machine that has this load and this number of tasks.
    fn penalty(&self, machine: MachineId, load: f64, tasks: u32) -> f64 {
        // A machine without tasks never determines the makespan.
        if tasks == 0 && load >= 1.0 {
            return 0.0;
        }
        if self.candidates.few {
            let over = load - self.target;
            return if over > 0.0 { self.weight * over * (1.0 + over / (STEEP * self.mean)) } else { 0.0 };
        }
        let over = (load - 1.0) / self.width;
        let grown = over.min(BENT).exp() * (1.0 + (over - BENT).max(0.0));
        self.candidates.prices[machine.index()] * self.width * grown
    }

    fn give(&mut self, Move { task, machine: to, time }: Move) {
        let from = self.machine_of[task];
        self.load(from, self.loads[from.index()] - self.time_of[task], self.tasks[from.index()] - 1);
        self.load(to, self.loads[to.index()] + time, self.tasks[to.index()] + 1);
        self.members.shift(task, from, to);
        self.machine_of[task] = to;
        self.time_of[task] = time;
    }

    fn load(&mut self, machine: MachineId, load: f64, tasks: u32) {
        let at = machine.index();
        self.late -= usize::from(self.is_late(machine));
        (self.loads[at], self.tasks[at]) = (load, tasks);
        self.late += usize::from(self.is_late(machine));
        self.penalties[at] = self.penalty(machine, load, tasks);
    }

    /// Computes the penalties of all machines again.
    fn charge(&mut self) {
        for machine in MachineId::first(self.loads.len()) {
            let at = machine.index();
            self.penalties[at] = self.penalty(machine, self.loads[at], self.tasks[at]);
        }
    }

    fn is_late(&self, machine: MachineId) -> bool {
        self.tasks[machine.index()] > 0 && self.loads[machine.index()] >= self.best
    }

    /// If the current mapping is the best so far, stores it and lowers the target.
    fn settle(&mut self) {
        if self.late == 0 {
            self.keep();
        }
    }

    fn keep(&mut self) {
        // Compute the sums again, because repeated additions of floats cause errors.
        self.loads.copy_from_slice(&self.candidates.ready);
        for (task, &machine) in self.machine_of.iter().enumerate() {
            self.loads[machine.index()] += self.time_of[task];
        }
        let busy = self.loads.iter().zip(&self.tasks).filter(|(_, tasks)| **tasks > 0);
        let makespan = busy.map(|(&load, _)| load).fold(0.0, f64::max);
        if makespan < self.best {
            self.best = makespan;
            self.best_mapping.copy_from_slice(&self.machine_of);
            self.target = 1.0 + (makespan - 1.0).max(0.0) * TARGET;
        }
        self.charge();
        self.late = MachineId::first(self.loads.len()).filter(|&machine| self.is_late(machine)).count();
    }
}
