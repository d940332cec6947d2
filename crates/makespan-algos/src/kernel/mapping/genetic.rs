//! The genetic algorithm of the task-flow paper.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem};

/// The fitness of a mapping. Lower values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// The fitness as printed in the paper. Let c be the ideal completion, at which all machines would complete
    /// together. For each machine, take the squared difference between the completion of the machine and c. The
    /// fitness is the root of the sum of these squares. A machine is omitted if it has no tasks and is not ready
    /// before c.
    Balance,
    /// The makespan: the last completion of a machine with tasks.
    Makespan,
}

/// Creates one child in each generation, by tournaments, two-point crossover, exchange of two genes and a refinery (a
/// step of local search). If the child is better than the worst individual and not equal to another individual, it
/// replaces the worst one.
///
/// Source: W. Sun, Y. Zhang, Y. Wu, Y. Inoguchi, "Practical Task Flow Scheduling for High Throughput Computational
/// Grid", section 4. Choices that the paper does not specify:
///
/// * A subset has 1 to `subset` tasks, and a tournament has 3 individuals.
/// * The child is always mutated.
/// * The refinery tries moves before exchanges, and makes the first change that improves the fitness.
/// * The search ends after `generations` generations, or after `patience` generations without an improvement by a
///   millionth.
///
/// The ideal completion is (sum of sizes + sum of capacity times ready time) / sum of capacities. The capacity of a
/// machine is the inverse of its mean time. For each machine, multiply the time of a task by the capacity of the
/// machine. The size of the task is the minimum of these products. On uniform machines, this is the formula of the
/// paper. As in the paper, the ideal completion is never after the makespan of a mapping, because it equals the lower
/// bound that follows from the capacities as dual prices. (Suppose that the size were a mean instead of a minimum. Good
/// mappings on unrelated machines would then end long before the ideal completion, and a better fitness would make the
/// mappings worse.)
///
/// Machines that are not ready before the ideal completion are omitted from both sums. Otherwise, the ideal completion
/// could be long after every sensible end, and the fittest mapping would have all tasks on the slowest machine. If no
/// machine is omitted, the formula is the formula in the paper.
///
/// Complexity for n tasks on m machines: the initial population of P individuals takes O(n m s P), with subsets of s
/// tasks. Each generation takes O(n + n m), and its refinery at most O(n^2 / m) more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Genetic {
    /// The fitness.
    pub fitness: Fitness,
    /// Maximum size of the random subsets that create the initial mappings. Each step maps the best task of a subset.
    /// The value 8 is good if times are sizes divided by speeds, and the value 64 for ETC matrices.
    pub subset: u32,
    /// Number of individuals.
    pub population: u32,
    /// Maximum number of generations without improvement.
    pub patience: u32,
    /// Maximum number of generations.
    pub generations: u32,
}

impl Default for Genetic {
    fn default() -> Self {
        Self { fitness: Fitness::Balance, subset: 8, population: 80, patience: 1000, generations: 100_000 }
    }
}

const TOURNAMENT: usize = 3;
/// Maximum number of random pairs of genes that a mutation examines. The mutation exchanges the first pair that has
/// different machines, if each of the two tasks can run on the machine of the other.
const TRIES: usize = 32;
/// Minimum relative gain that is an improvement.
const GAIN: f64 = 1e-6;

#[derive(Clone, Debug)]
struct Individual {
    genes: Vec<MachineId>,
    machines: Vec<Load>,
    fitness: f64,
}

/// The completion of a machine, and its number of tasks.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// The completion, in ticks.
    end: f64,
    /// The number of tasks that the mapping gives to the machine.
    tasks: u32,
}

struct Evolution<'a> {
    problem: &'a MappingProblem<'a>,
    options: Genetic,
    /// The ideal completion, at which all machines would complete together.
    ideal: f64,
    ready: Vec<f64>,
}

impl Mapper for Genetic {
    fn map(&self, problem: &MappingProblem<'_>, random: &mut ChaCha8Rng) -> Vec<MachineId> {
        if problem.tasks() == 0 {
            return Vec::new();
        }
        let ready: Vec<f64> = problem.ready().iter().map(|&ready| ready as f64).collect();
        let evolution = Evolution { problem, options: *self, ideal: ideal(problem), ready };
        evolution.run(random)
    }
}

impl Evolution<'_> {
    fn run(&self, random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let mut population: Vec<Individual> =
            (0..self.options.population.max(2)).map(|_| self.individual(self.initiate(random))).collect();
        let fittest = |population: &[Individual]| {
            let least = population.iter().enumerate().min_by(|a, b| a.1.fitness.total_cmp(&b.1.fitness));
            least.map_or(0, |(at, _)| at)
        };
        let mut best = population[fittest(&population)].fitness;
        let mut since = 0;
        for _ in 0..self.options.generations {
            if since >= self.options.patience {
                break;
            }
            since += 1;
            let (mother, father) = (Self::tournament(&population, random), Self::tournament(&population, random));
            let mut child = self.crossed(&population[mother], &population[father], random);
            self.mutate(&mut child, random);
            self.refine(&mut child);
            let worst = population.iter().enumerate().max_by(|a, b| a.1.fitness.total_cmp(&b.1.fitness));
            let Some((worst, _)) = worst else { break };
            let is_copy = || population.iter().any(|one| one.genes == child.genes);
            if child.fitness < population[worst].fitness && !is_copy() {
                if child.fitness < best * (1.0 - GAIN) {
                    (best, since) = (child.fitness, 0);
                }
                population[worst] = child;
            }
        }
        let at = fittest(&population);
        population.swap_remove(at).genes
    }

    /// Returns the genes of an initial individual. Each step draws a random subset of the remaining tasks, and maps
    /// the task of this subset that can complete first.
    fn initiate(&self, random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let problem = self.problem;
        let mut ready = self.ready.clone();
        let mut genes = vec![MachineId(0); problem.tasks()];
        let mut left: Vec<usize> = (0..problem.tasks()).collect();
        while !left.is_empty() {
            let size = random.random_range(1..=self.options.subset.max(1) as usize).min(left.len());
            let mut best = (f64::INFINITY, usize::MAX, MachineId(0), 0);
            for taken in 0..size {
                // Collect the subset at the end of the list.
                let end = left.len() - 1 - taken;
                let chosen = random.random_range(0..=end);
                left.swap(chosen, end);
                let task = left[end];
                for (machine, (ready, time)) in problem.machine_ids().zip(ready.iter().zip(problem.row(task))) {
                    let completion = ready + time.ticks() as f64;
                    if (completion, task, machine) < (best.0, best.1, best.2) {
                        best = (completion, task, machine, end);
                    }
                }
            }
            let (completion, task, machine, at) = best;
            genes[task] = machine;
            ready[machine.index()] = completion;
            left.swap_remove(at);
        }
        genes
    }

    fn individual(&self, genes: Vec<MachineId>) -> Individual {
        let mut machines: Vec<Load> = self.ready.iter().map(|&end| Load { end, tasks: 0 }).collect();
        for (task, &machine) in genes.iter().enumerate() {
            let load = &mut machines[machine.index()];
            load.end += self.time(task, machine);
            load.tasks += 1;
        }
        let fitness = self.fitness(&machines);
        Individual { genes, machines, fitness }
    }

    fn time(&self, task: usize, machine: MachineId) -> f64 {
        self.problem.time(task, machine) as f64
    }

    fn fitness(&self, machines: &[Load]) -> f64 {
        match self.options.fitness {
            Fitness::Balance => {
                let imbalances =
                    self.problem.machine_ids().zip(machines).map(|(machine, &load)| self.imbalance(machine, load));
                imbalances.sum::<f64>().sqrt()
            }
            Fitness::Makespan => machines.iter().map(|load| load.counted()).fold(0.0, f64::max),
        }
    }

    /// Returns the squared difference between a completion and the ideal completion. If the fitness omits the machine,
    /// returns zero.
    fn imbalance(&self, machine: MachineId, load: Load) -> f64 {
        if load.tasks == 0 && self.ready[machine.index()] >= self.ideal { 0.0 } else { (load.end - self.ideal).powi(2) }
    }

    fn tournament(population: &[Individual], random: &mut ChaCha8Rng) -> usize {
        let drawn = [(); TOURNAMENT].map(|()| random.random_range(0..population.len()));
        let fitter = |a: &usize, b: &usize| population[*a].fitness.total_cmp(&population[*b].fitness);
        drawn.into_iter().min_by(fitter).unwrap_or_default()
    }

    /// Returns a child with the genes of the mother. Between two random points, the child has the genes of the father.
    fn crossed(&self, mother: &Individual, father: &Individual, random: &mut ChaCha8Rng) -> Individual {
        let points = [(); 2].map(|()| random.random_range(0..=mother.genes.len()));
        let (from, until) = (points[0].min(points[1]), points[0].max(points[1]));
        let mut genes = mother.genes.clone();
        genes[from..until].copy_from_slice(&father.genes[from..until]);
        self.individual(genes)
    }

    /// Exchanges two genes that differ, if such a pair is found.
    fn mutate(&self, child: &mut Individual, random: &mut ChaCha8Rng) {
        for _ in 0..TRIES {
            let [a, b] = [(); 2].map(|()| random.random_range(0..child.genes.len()));
            let (on_a, on_b) = (child.genes[a], child.genes[b]);
            if on_a != on_b && self.problem.can_run(a, on_b) && self.problem.can_run(b, on_a) {
                child.machines[on_a.index()].end += self.time(b, on_a) - self.time(a, on_a);
                child.machines[on_b.index()].end += self.time(a, on_b) - self.time(b, on_b);
                child.genes.swap(a, b);
                child.fitness = self.fitness(&child.machines);
                return;
            }
        }
    }

    /// Makes one change that improves the fitness, if there is one. First tries to move a task of the machine that
    /// completes last to another machine. Then tries to exchange such a task with a task of another machine. Makes the
    /// first change that improves the fitness.
    fn refine(&self, child: &mut Individual) {
        let machines = &child.machines;
        let end = |machine: &MachineId| machines[machine.index()].counted();
        let last = self.problem.machine_ids().max_by(|a, b| end(a).total_cmp(&end(b))).unwrap_or_default();
        let own: Vec<usize> = (0..child.genes.len()).filter(|&task| child.genes[task] == last).collect();
        let from = child.machines[last.index()];
        for &task in &own {
            let rest = Load { end: from.end - self.time(task, last), tasks: from.tasks - 1 };
            for machine in self.problem.machine_ids().filter(|&machine| machine != last) {
                let to = child.machines[machine.index()];
                let full = Load { end: to.end + self.time(task, machine), tasks: to.tasks + 1 };
                if self.problem.can_run(task, machine) && self.betters(child, [(last, rest), (machine, full)]) {
                    child.genes[task] = machine;
                    return self.settle(child, [(last, rest), (machine, full)]);
                }
            }
        }
        for &task in &own {
            let rest = from.end - self.time(task, last);
            let row = self.problem.row(task);
            for other in 0..child.genes.len() {
                let machine = child.genes[other];
                if machine == last {
                    continue;
                }
                let (to, others) = (child.machines[machine.index()], self.problem.row(other));
                let first = Load { end: rest + others[last.index()].ticks() as f64, ..from };
                let second = Load {
                    end: to.end + (row[machine.index()].ticks() as f64 - others[machine.index()].ticks() as f64),
                    ..to
                };
                if self.betters(child, [(last, first), (machine, second)]) {
                    child.genes.swap(task, other);
                    return self.settle(child, [(last, first), (machine, second)]);
                }
            }
        }
    }

    /// Returns whether the mapping becomes fitter if the loads of two machines change. The first of them is the
    /// machine that completes last.
    fn betters(&self, child: &Individual, changed: [(MachineId, Load); 2]) -> bool {
        let old = changed.map(|(machine, _)| (machine, child.machines[machine.index()]));
        match self.options.fitness {
            Fitness::Balance => {
                let sum = |pair: [(MachineId, Load); 2]| -> f64 {
                    pair.into_iter().map(|(machine, load)| self.imbalance(machine, load)).sum()
                };
                sum(changed) < sum(old)
            }
            // The last machine and the changed machine must complete earlier, and no third machine may complete as
            // late as the last machine did.
            Fitness::Makespan => {
                let last = old[0].1.end;
                let is_other = |at: MachineId| changed.iter().all(|&(machine, _)| machine != at);
                let equal = |(at, load): (MachineId, &Load)| is_other(at) && load.counted() >= last;
                changed.iter().all(|(_, load)| load.counted() < last)
                    && !self.problem.machine_ids().zip(&child.machines).any(equal)
            }
        }
    }

    fn settle(&self, child: &mut Individual, changed: [(MachineId, Load); 2]) {
        for (machine, load) in changed {
            child.machines[machine.index()] = load;
        }
        child.fitness = self.fitness(&child.machines);
    }
}

impl Load {
    /// Returns the completion of the machine, or negative infinity if it has no tasks.
    fn counted(self) -> f64 {
        if self.tasks == 0 { f64::NEG_INFINITY } else { self.end }
    }
}

/// Returns the ideal completion, in ticks. This is the first instant before which the machines have enough time for
/// all tasks. A machine that is not ready before this instant contributes no time.
pub(super) fn ideal(problem: &MappingProblem<'_>) -> f64 {
    let tasks = problem.tasks();
    let mut sums = vec![(0.0, 0_u32); problem.machines()];
    let able = |task: usize| problem.machine_ids().filter(move |&machine| problem.can_run(task, machine));
    for task in 0..tasks {
        for machine in able(task) {
            let sum = &mut sums[machine.index()];
            sum.0 += problem.time(task, machine) as f64;
            sum.1 += 1;
        }
    }
    let capacity: Vec<f64> =
        sums.iter().map(|&(sum, count)| if sum > 0.0 { f64::from(count) / sum } else { 0.0 }).collect();
    let size = |task: usize| {
        able(task)
            .map(|machine| problem.time(task, machine) as f64 * capacity[machine.index()])
            .fold(f64::INFINITY, f64::min)
    };
    let mut work: f64 = (0..tasks).map(size).sum();
    let mut order: Vec<usize> = (0..problem.machines()).filter(|&machine| capacity[machine] > 0.0).collect();
    order.sort_unstable_by_key(|&machine| (problem.ready()[machine], machine));
    // Add the machines in the order of their ready times. Stop at the first machine that is not ready before the ideal
    // completion of the machines added so far.
    let (mut capacities, mut end) = (0.0, f64::INFINITY);
    for machine in order {
        let ready = problem.ready()[machine] as f64;
        if ready >= end {
            break;
        }
        work += ready * capacity[machine];
        capacities += capacity[machine];
        end = work / capacities;
    }
    end
}
