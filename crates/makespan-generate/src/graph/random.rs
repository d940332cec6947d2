//! Generates graphs of random layers, chains, and graphs of forks and joins.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::drawn::DrawnGraph;

pub(super) fn layers(tasks: usize, width: usize, density: f64, random: &mut ChaCha8Rng) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    let mut before: Vec<u32> = Vec::new();
    while drawn.shares.len() < tasks {
        let count = random.random_range(1..=width).min(tasks - drawn.shares.len());
        let mut layer = Vec::with_capacity(count);
        for _ in 0..count {
            let certain = if before.is_empty() { 0 } else { random.random_range(0..before.len()) };
            let mut after = Vec::new();
            for (at, &task) in before.iter().enumerate() {
                if at == certain || random.random::<f64>() < density {
                    after.push(task);
                }
            }
            layer.push(drawn.add("t", 1.0, &after));
        }
        before = layer;
    }
    drawn
}

pub(super) fn chain(tasks: usize) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    let mut last = Vec::new();
    for _ in 0..tasks {
        last = vec![drawn.add("t", 1.0, &last)];
    }
    drawn
}

pub(super) fn fork_join(tasks: usize) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    let fork = drawn.add("fork", 1.0, &[]);
    let branches: Vec<u32> = (0..tasks.saturating_sub(2)).map(|_| drawn.add("branch", 1.0, &[fork])).collect();
    drawn.add("join", 1.0, if branches.is_empty() { &[0] } else { &branches });
    drawn
}

/// Generates a sequence of fork-joins. The last task (join) of each fork-join is the first task (fork) of the next
/// fork-join. The mean number of branches of a fork-join is about the square root of the number of tasks. The number of
/// branches is uniform from 1 to twice this mean.
pub(super) fn stages(tasks: usize, random: &mut ChaCha8Rng) -> DrawnGraph {
    let mean = (tasks as f64).sqrt().round().max(1.0) as usize;
    let mut drawn = DrawnGraph::new();
    let mut last = drawn.add("fork", 1.0, &[]);
    while drawn.shares.len() + 1 < tasks {
        let left = tasks - drawn.shares.len() - 1;
        let width = random.random_range(1..=2 * mean).min(left);
        let branches: Vec<u32> = (0..width).map(|_| drawn.add("branch", 1.0, &[last])).collect();
        last = drawn.add("join", 1.0, &branches);
    }
    if drawn.shares.len() < 2 {
        drawn.add("join", 1.0, &[last]);
    }
    drawn
}

/// Minimum number of tasks of a part of the graph that may be divided further. A part with fewer tasks becomes a chain.
const FORKS: usize = 4;

/// Generates a series-parallel graph. The tasks are divided either into two parts in series, or into parallel parts
/// between a fork and a join. Then each part is divided again in one of these two ways.
pub(super) fn series_parallel(tasks: usize, random: &mut ChaCha8Rng) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    part(&mut drawn, tasks.max(2), &[], random);
    drawn
}

/// Adds a part with `tasks` tasks. The first task of the part waits for the tasks `after`. Returns the last task of the
/// part. Parts are divided at random positions, so the depth of the recursion is about the logarithm of the number of
/// tasks.
fn part(drawn: &mut DrawnGraph, tasks: usize, after: &[u32], random: &mut ChaCha8Rng) -> u32 {
    if tasks < FORKS {
        let first = drawn.add("t", 1.0, after);
        return (1..tasks).fold(first, |last, _| drawn.add("t", 1.0, &[last]));
    }
    if random.random::<bool>() {
        let first = random.random_range(1..tasks);
        let middle = part(drawn, first, after, random);
        return part(drawn, tasks - first, &[middle], random);
    }
    let (fork, inner) = (drawn.add("fork", 1.0, after), tasks - 2);
    let branches = random.random_range(2..=FORKS).min(inner);
    let mut cuts: Vec<usize> = (1..branches).map(|_| random.random_range(1..inner)).collect();
    cuts.extend([0, inner]);
    cuts.sort_unstable();
    cuts.dedup();
    let ends: Vec<u32> = cuts.windows(2).map(|cut| part(drawn, cut[1] - cut[0], &[fork], random)).collect();
    drawn.add("join", 1.0, &ends)
}
