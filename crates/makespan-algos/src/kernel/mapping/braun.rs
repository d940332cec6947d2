//! The genetic algorithm from a comparison of eleven mapping heuristics.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem, MinMin};

/// Evolves 200 chromosomes. One of them is the mapping of Min-min. Uses selection by rank, one-point crossover and
/// mutation of one gene, and keeps the best chromosome.
///
/// Source: T. D. Braun et al., JPDC 61, 2001, section 3.7, DOI 10.1006/jpdc.2000.1714. The search ends after
/// `iterations` iterations. The search ends earlier if the best chromosome (the elite) did not improve in `patience`
/// iterations. Deviation: there is one run, which starts from the mapping of Min-min and random chromosomes. (The paper
/// takes the best of eight runs, some of which start from random chromosomes only.) Let the P chromosomes be sorted by
/// rank. The chromosome at position i is selected with a probability proportional to P - i. Complexity: O(n P) for each
/// iteration with n tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BraunGenetic {
    /// Number of chromosomes.
    pub population: u32,
    /// Maximum number of iterations.
    pub iterations: u32,
    /// Maximum number of consecutive iterations without an improvement of the elite.
    pub patience: u32,
}

impl Default for BraunGenetic {
    fn default() -> Self {
        Self { population: 200, iterations: 1000, patience: 150 }
    }
}

const CROSSOVER: f64 = 0.6;
const MUTATION: f64 = 0.4;
/// Maximum number of machines that are tried at random until one can run the task.
const TRIES: usize = 16;

impl Mapper for BraunGenetic {
    fn map(&self, problem: &MappingProblem<'_>, random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let seed = MinMin.map(problem, random);
        if problem.tasks() == 0 || problem.machines() == 1 {
            return seed;
        }
        let size = self.population.max(2) as usize;
        let rated = |genes: Vec<MachineId>| (problem.makespan(&genes), genes);
        let anyhow = |random: &mut ChaCha8Rng| {
            (0..problem.tasks()).map(|task| some_machine(problem, task, seed[task], random)).collect::<Vec<MachineId>>()
        };
        let mut population: Vec<(i64, Vec<MachineId>)> = (1..size).map(|_| rated(anyhow(random))).collect();
        population.push(rated(seed.clone()));
        population.sort();
        let mut since = 0;
        for _ in 0..self.iterations {
            if since >= self.patience {
                break;
            }
            let best = population[0].0;
            let elite = population[0].clone();
            population = Self::children(problem, &population, random);
            population.push(elite);
            population.sort();
            since = if population[0].0 < best { 0 } else { since + 1 };
        }
        population.swap_remove(0).1
    }
}

impl BraunGenetic {
    /// Returns the children that form the next generation together with the elite.
    fn children(
        problem: &MappingProblem<'_>,
        population: &[(i64, Vec<MachineId>)],
        random: &mut ChaCha8Rng,
    ) -> Vec<(i64, Vec<MachineId>)> {
        let size = population.len();
        let tickets = size * (size + 1) / 2;
        let mut next: Vec<(i64, Vec<MachineId>)> = (1..size)
            .map(|_| {
                let mut ticket = random.random_range(0..tickets);
                let mut at = 0;
                while ticket >= size - at {
                    ticket -= size - at;
                    at += 1;
                }
                population[at].clone()
            })
            .collect();
        let mut changed = vec![false; next.len()];
        let mut crossing: Vec<usize> = (0..next.len()).filter(|_| random.random_bool(CROSSOVER)).collect();
        crossing.shuffle(random);
        for pair in crossing.chunks_exact(2) {
            let point = random.random_range(0..problem.tasks());
            let (low, high) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            let (before, after) = next.split_at_mut(high);
            before[low].1[point..].swap_with_slice(&mut after[0].1[point..]);
            (changed[low], changed[high]) = (true, true);
        }
        for (at, (_, genes)) in next.iter_mut().enumerate() {
            if random.random_bool(MUTATION) {
                let task = random.random_range(0..genes.len());
                genes[task] = some_machine(problem, task, genes[task], random);
                changed[at] = true;
            }
        }
        for ((rating, genes), _) in next.iter_mut().zip(changed).filter(|(_, changed)| *changed) {
            *rating = problem.makespan(genes);
        }
        next
    }
}

/// Returns a random machine that can run the task. If none is found after `TRIES` attempts, returns `otherwise`.
fn some_machine(problem: &MappingProblem<'_>, task: usize, otherwise: MachineId, random: &mut ChaCha8Rng) -> MachineId {
    let mut tries = (0..TRIES).map(|_| MachineId::at(random.random_range(0..problem.machines())));
    tries.find(|&machine| problem.can_run(task, machine)).unwrap_or(otherwise)
}
