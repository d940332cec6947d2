//! Priority rules for resource-constrained projects. A rule computes a key for each task, for fixed allotments. Tasks
//! with small keys come first.

mod slack;

use super::packing::{Packing, Row};

pub use slack::worst_case_slack;

/// Returns the latest finish time of each task: the latest end that does not extend the longest path. Only the
/// differences between these times are meaningful.
pub fn latest_finish(packing: &Packing<'_>, choices: &[u32]) -> Vec<f64> {
    let ranks = packing.ranks(choices);
    packing.rows().map(|row| packing.fastest(choices[row.index()]) as f64 - ranks[row.index()]).collect()
}

/// Returns the keys of the rule "most total successors": minus the number of direct and indirect successors. The tasks
/// of a bag are counted one by one. Takes O(n (n + e) / 64) for n tasks with e edges.
pub fn most_total_successors(packing: &Packing<'_>) -> Vec<f64> {
    let instance = packing.instance();
    let rows = packing.rows().len();
    let mut counts = vec![0.0; rows];
    let mut reached = vec![0_u64; rows];
    // In each pass, one bit stands for each of 64 rows of equal tasks. Each row collects the bits of its successors, in
    // reverse topological order.
    for block in (0..rows).step_by(64) {
        reached.fill(0);
        for &row in packing.order().iter().rev() {
            let mut bits = 0;
            for edge in instance.outgoing(packing.first_of(row)) {
                let next = packing.row_of(edge.to).index();
                bits |= reached[next];
                if (block..block + 64).contains(&next) {
                    bits |= 1 << (next - block);
                }
            }
            reached[row.index()] = bits;
            while bits != 0 {
                let at = block + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                counts[row.index()] -= f64::from(packing.count_of(Row::at(at)));
            }
        }
    }
    counts
}

/// Returns the keys of the rule "greatest rank positional weight": minus the sum of the time of the task and the times
/// of its direct successors.
pub fn greatest_rank_positional_weight(packing: &Packing<'_>, choices: &[u32]) -> Vec<f64> {
    let instance = packing.instance();
    let time = |row: Row| packing.fastest(choices[row.index()]) as f64 * f64::from(packing.count_of(row));
    let weight = |row: Row| {
        let behind = instance.outgoing(packing.first_of(row)).map(|edge| time(packing.row_of(edge.to)));
        packing.fastest(choices[row.index()]) as f64 + behind.sum::<f64>()
    };
    packing.rows().map(|row| -weight(row)).collect()
}

#[cfg(test)]
mod tests {
    use makespan_core::{Edge, Graph, Instance, Job, NamedTask, Payload, Platform, Profile, Time};
    use proptest::prelude::*;

    use super::*;

    fn instance(times: &[i64], edges: &[(usize, usize)]) -> Instance {
        let task = |(at, &time): (usize, &i64)| {
            NamedTask::new(at.to_string(), Profile::rigid(1, Time::from_ticks(time)).unwrap())
        };
        let mut found: Vec<Edge> = Vec::new();
        for &(a, b) in edges {
            let (from, to) = ((a.min(b) % times.len()) as u32, (a.max(b) % times.len()) as u32);
            if from < to && !found.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
                found.push(Edge { from, to, payload: Payload::Bytes(0) });
            }
        }
        let graph = Graph::new(times.iter().enumerate().map(task).collect(), found).unwrap();
        Instance::new(Platform::flat(2).unwrap(), vec![Job::compound("graph", graph)], vec![]).unwrap()
    }

    proptest! {
        #[test]
        fn keys_are_what_their_names_say(
            times in prop::collection::vec(1_i64..20, 1..150),
            edges in prop::collection::vec((0_usize..150, 0_usize..150), 0..300),
        ) {
            let instance = instance(&times, &edges);
            let packing = Packing::new(&instance).unwrap();
            let choices = packing.fewest();
            let mut behind: Vec<Vec<usize>> = vec![Vec::new(); times.len()];
            let mut tails = vec![0; times.len()];
            for task in (0..times.len()).rev() {
                let next: Vec<usize> =
                    instance.outgoing(makespan_core::TaskId(task as u64)).map(|edge| edge.to.index()).collect();
                let weight: i64 = next.iter().map(|&next| times[next]).sum();
                tails[task] = next.iter().map(|&next| times[next] + tails[next]).max().unwrap_or(0);
                let mut all: Vec<usize> = next.iter().flat_map(|&next| behind[next].iter().copied().chain([next])).collect();
                all.sort_unstable();
                all.dedup();
                behind[task] = all;
                let position = greatest_rank_positional_weight(&packing, &choices)[task];
                prop_assert_eq!(position as i64, -(times[task] + weight));
            }
            for task in 0..times.len() {
                prop_assert_eq!(most_total_successors(&packing)[task] as i64, -(behind[task].len() as i64));
                prop_assert_eq!(latest_finish(&packing, &choices)[task] as i64, -tails[task]);
            }
        }
    }
}
