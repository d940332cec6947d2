//! The choice of the tasks of the first shelf.

use makespan_bounds::dual::{Need, choose};
use makespan_core::{Area, Profile, Time};
use makespan_verify::proof::{Rejection, Selection};

use super::Cluster;

/// The result of [`partition`] for a guessed makespan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partition {
    /// No schedule ends by the guessed makespan, even without best placement.
    Refuted(Rejection),
    /// For each task, whether the task is in the first shelf. The work of all tasks is at most the processor time up to
    /// the guessed makespan.
    Chosen(Vec<bool>),
    /// An undecided guess: the table of the knapsack would be too large, and the bound by dual prices does not refute
    /// the guessed makespan. Contains, for each task, whether the task is in the first shelf. The work of this choice
    /// exceeds the processor time up to the guessed makespan.
    Undecided(Vec<bool>),
}

/// Chooses the first shelf for a guessed makespan, or refutes this guess.
///
/// A task of the first shelf must take at most the guessed makespan, and a task of the second shelf at most half of the
/// guess. Among the allotments with such a time, the task gets the allotment with the least work. On m nodes of k
/// processors, all tasks of the first shelf together use at most m k processors. If a task takes at most half of the
/// guess on one processor, it is never in the first shelf, because the first shelf would not reduce its work. If a task
/// takes more than half of the guess on every allotment, it is always in the first shelf.
///
/// In every schedule that ends by the guessed makespan, all tasks that take more than half of the guess run at the
/// instant of half the guess. So together they use at most m k processors. Thus the least total work over all choices
/// of the first shelf is a lower bound on the work of the schedule. Takes O(n m k) for n tasks.
pub fn partition(profiles: &[&Profile], cluster: Cluster, guess: Time) -> Partition {
    let half = Time::from_ticks(guess.ticks() / 2);
    let need = |profile: &&Profile| Need {
        short: profile.least_work(half),
        // If a task exceeds the guessed makespan on every allotment, use a work that exceeds the area of any platform.
        crossing: profile.least_work(guess).unwrap_or(Area::MAX >> 32),
        width: profile.min_allotment(guess).unwrap_or(u32::MAX),
    };
    let needs: Vec<Need> = profiles.iter().map(need).collect();
    let target = guess.area(cluster.processors());
    let choice = choose(&needs, cluster.processors(), target);
    if choice.least > target {
        let selection = choice.price.map_or(Selection::Knapsack, Selection::Price);
        return Partition::Refuted(Rejection { deadline: guess, from: Time::ZERO, at: half, selection });
    }
    match choice.found {
        Some((work, first_shelf)) if work <= target => Partition::Chosen(first_shelf),
        Some((_, first_shelf)) => Partition::Undecided(first_shelf),
        None => Partition::Undecided(vec![false; profiles.len()]),
    }
}
