//! Generates the run times of tasks on machines by the range-based method.

use std::str::FromStr;

use makespan_core::{Instance, Job, Platform, Profile, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{MAX_ENTRIES, at_most};
use crate::GenerateError;

/// Consistency of a matrix of run times. In a consistent matrix, the machines have the same order by speed for every
/// task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Consistency {
    /// If a machine is faster than another machine for one task, it is faster than the other machine for all tasks.
    Consistent,
    /// The machines with even numbers form a consistent matrix.
    SemiConsistent,
    /// The order of the machines by speed differs from task to task.
    Inconsistent,
}

impl Consistency {
    /// Returns the letter (`c`, `s` or `i`) that stands for this consistency in the names of benchmark instances.
    pub fn letter(self) -> char {
        match self {
            Self::Consistent => 'c',
            Self::SemiConsistent => 's',
            Self::Inconsistent => 'i',
        }
    }
}

impl FromStr for Consistency {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let all = [Self::Consistent, Self::SemiConsistent, Self::Inconsistent];
        let found = all.into_iter().find(|each| text.chars().eq([each.letter()]));
        found.ok_or_else(|| GenerateError::Option {
            name: "consistency",
            value: format!("`{text}`"),
            expected: "write c (consistent), s (semi-consistent) or i (inconsistent)",
        })
    }
}

/// Options for a matrix of expected run times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EtcOptions {
    /// Number of tasks (512 in the benchmark).
    pub tasks: usize,
    /// Number of machines (16 in the benchmark).
    pub machines: u32,
    /// Consistency of the matrix.
    pub consistency: Consistency,
    /// True if the times of tasks on one machine vary by a factor of up to 3000. If false, these times vary by a
    /// factor of up to 100.
    pub high_tasks: bool,
    /// True if the times of one task on different machines vary by a factor of up to 1000. If false, these times vary
    /// by a factor of up to 10.
    pub high_machines: bool,
    /// Seed; the same seed gives the same matrix.
    pub seed: u64,
}

/// Generates a matrix. The time of a task on a machine, in seconds, is the product of two random numbers, rounded to a
/// microsecond. The first number is drawn once for each task, uniform from 1 to the maximum factor between tasks. The
/// second number is drawn for each pair of task and machine, uniform from 1 to the maximum factor between machines. In
/// a consistent matrix, each row is sorted.
///
/// Source: T. D. Braun et al., JPDC 61, 2001, section 2, DOI 10.1006/jpdc.2000.1714. Each task has its own random
/// stream.
///
/// # Errors
/// [`GenerateError`] if there are no tasks or machines, or too many.
pub fn etc(options: &EtcOptions) -> Result<Instance, GenerateError> {
    let wrong = |name, value: String, expected| GenerateError::Option { name, value, expected };
    if options.tasks == 0 {
        return Err(wrong("tasks", "0".into(), "give at least 1 task"));
    }
    at_most("number of tasks", options.tasks as u64)?;
    if options.tasks as u64 * u64::from(options.machines) > MAX_ENTRIES {
        return Err(wrong("tasks", options.tasks.to_string(), "the tasks times the machines must be at most 50000000"));
    }
    let platform = Platform::cluster(options.machines, 1).map_err(|error| {
        wrong("machines", format!("{} ({error})", options.machines), "give from 1 to 16777216 machines")
    })?;
    let tasks = if options.high_tasks { 3000.0 } else { 100.0 };
    let machines = if options.high_machines { 1000.0 } else { 10.0 };
    let job = |task: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        random.set_stream(task as u64);
        let size = random.random_range(1.0..tasks);
        let micros = |factor: f64| Time::from_ticks((size * factor * 1e6).round() as i64 * 1000);
        let mut row: Vec<Time> = (0..options.machines).map(|_| micros(random.random_range(1.0..machines))).collect();
        match options.consistency {
            Consistency::Consistent => row.sort_unstable(),
            Consistency::SemiConsistent => {
                let mut even: Vec<Time> = row.iter().copied().step_by(2).collect();
                even.sort_unstable();
                row.iter_mut().step_by(2).zip(even).for_each(|(time, sorted)| *time = sorted);
            }
            Consistency::Inconsistent => {}
        }
        let profile = Profile::on_machines(row)
            .map_err(|error| wrong("tasks", error.to_string(), "this is a defect of Makespan; please report it"))?;
        Ok(Job::new(format!("t{task}"), profile))
    };
    let jobs = (0..options.tasks).map(job).collect::<Result<Vec<_>, GenerateError>>()?;
    Instance::new(platform, jobs, Vec::new()).map_err(|error| {
        wrong("tasks", error.to_string(), "give fewer tasks, so that the sum of their times is smaller")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_as_far_as_they_are_consistent() {
        let draw = |consistency| {
            let options =
                EtcOptions { tasks: 40, machines: 9, consistency, high_tasks: true, high_machines: true, seed: 7 };
            etc(&options).unwrap()
        };
        let rows = |instance: &Instance, step: usize| {
            let each = instance.simple_jobs().map(|job| job.profile().machine_times().unwrap());
            each.filter(|row| row.iter().step_by(step).is_sorted()).count()
        };
        let matrices = [Consistency::Consistent, Consistency::SemiConsistent, Consistency::Inconsistent].map(draw);
        assert_eq!([rows(&matrices[0], 1), rows(&matrices[1], 2)], [40, 40]);
        assert!(rows(&matrices[1], 1) < 3 && rows(&matrices[2], 2) < 5);
        let longest = matrices[2].simple_jobs().map(|job| job.profile().longest()).max().unwrap();
        assert!(longest > Time::from_seconds(100_000) && longest < Time::from_seconds(3_000_000));
    }
}
