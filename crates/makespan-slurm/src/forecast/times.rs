//! How long jobs really run, learned from those that ended.

use std::collections::HashMap;

use crate::queue::{PastRun, Queue, QueueJob};

/// From what the run time of a job is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// From so many runs of the same user and name, numbers in it aside.
    Name(usize),
    /// From so many jobs of the same user, by the part of their limit that they used.
    User(usize),
    /// From so many jobs of anybody, by the part of their limit that they used.
    Anybody(usize),
    /// From nothing: the limit is taken.
    Limit,
}

/// A random generator with one word of state (`SplitMix64`; Steele, Lea and Flood, OOPSLA 2014): draws need no more.
#[derive(Clone, Debug)]
pub(super) struct Draws(pub u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

/// What is known of one job.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// Seconds of alike jobs, ascending.
    own: std::sync::Arc<[i64]>,
    /// Parts of limits that other jobs used, ascending.
    others: std::sync::Arc<[f64]>,
    limit: i64,
    pub known: Known,
}

/// What is known of all.
pub(super) struct Learned {
    by_name: HashMap<(String, String), std::sync::Arc<[i64]>>,
    by_user: HashMap<String, std::sync::Arc<[f64]>>,
    all: std::sync::Arc<[f64]>,
}

/// So many runs of one kind are enough: more make draws no better.
const ENOUGH: usize = 500;
/// The limit of a job that has none, in seconds.
pub(super) const FOR_EVER: i64 = 365 * 86_400;

impl Learned {
    pub(super) fn of(queue: &Queue) -> Self {
        let mut by_name: HashMap<(String, String), Vec<i64>> = HashMap::new();
        let mut by_user: HashMap<String, Vec<f64>> = HashMap::new();
        let mut all = Vec::new();
        // The last ones come first where there are too many.
        let mut runs: Vec<&PastRun> = queue.past.iter().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.id));
        let keep = |list: &mut Vec<f64>, part| {
            if list.len() < ENOUGH {
                list.push(part)
            }
        };
        for run in runs {
            let seconds = i64::try_from(run.seconds).unwrap_or(FOR_EVER).min(FOR_EVER);
            let own = by_name.entry((run.user.clone(), plain(&run.name))).or_default();
            if own.len() < ENOUGH {
                own.push(seconds);
            }
            if let Some(limit) = run.limit.filter(|&limit| limit > 0) {
                let part = (run.seconds as f64 / limit as f64).min(1.0);
                keep(by_user.entry(run.user.clone()).or_default(), part);
                keep(&mut all, part);
            }
        }
        let sorted = |mut list: Vec<i64>| {
            list.sort_unstable();
            list.into()
        };
        Self {
            by_name: by_name.into_iter().map(|(key, list)| (key, sorted(list))).collect(),
            by_user: by_user.into_iter().map(|(key, list)| (key, ascending(list))).collect(),
            all: ascending(all),
        }
    }

    /// Nothing is learned: every job takes its limit.
    pub(super) fn nothing() -> Self {
        Self { by_name: HashMap::new(), by_user: HashMap::new(), all: [].into() }
    }

    pub(super) fn of_job(&self, job: &QueueJob) -> Times {
        let limit = limit(job);
        let own = self.by_name.get(&(job.user.clone(), plain(&job.name))).cloned().unwrap_or_else(|| [].into());
        let of_user = self.by_user.get(&job.user).filter(|list| list.len() >= 3);
        let others = of_user.unwrap_or(&self.all).clone();
        let known = match (own.len(), of_user, self.all.len()) {
            (0, Some(list), _) => Known::User(list.len()),
            (0, None, 0) => Known::Limit,
            (0, None, count) => Known::Anybody(count),
            (count, ..) => Known::Name(count),
        };
        Times { own, others, limit, known }
    }
}

/// Seconds that a job may run.
pub(super) fn limit(job: &QueueJob) -> i64 {
    job.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(FOR_EVER).clamp(1, FOR_EVER)
}

fn ascending(mut list: Vec<f64>) -> std::sync::Arc<[f64]> {
    list.sort_by(f64::total_cmp);
    list.into()
}

/// A name without its numbers: `fit-3` and `fit-17` are runs of the same.
fn plain(name: &str) -> String {
    // Short names that are told apart by a number alone may be different programs.
    let mut plain = String::new();
    for character in name.chars() {
        match character.is_ascii_digit() {
            true if plain.ends_with('#') => {}
            true => plain.push('#'),
            false => plain.push(character),
        }
    }
    plain
}

impl Times {
    /// The mean of what is known, given that it has run for so long already.
    pub(super) fn mean(&self, ran: i64) -> i64 {
        let own = longer(&self.own, ran);
        let others: Vec<i64> = self.other_times(ran).collect();
        let other = (!others.is_empty()).then(|| others.iter().sum::<i64>() as f64 / others.len() as f64);
        let sum = own.iter().sum::<i64>() as f64;
        let mean = match (own.len(), other) {
            (0, None) => return self.beyond(ran),
            (0, Some(other)) => other,
            (count, None) => sum / count as f64,
            // What is known of others counts as one run.
            (count, Some(other)) => (sum + other) / (count + 1) as f64,
        };
        (mean.round() as i64).clamp(ran + 1, self.limit.max(ran + 1))
    }

    /// A time drawn from what is known.
    pub(super) fn draw(&self, ran: i64, draws: &mut Draws) -> i64 {
        let own = longer(&self.own, ran);
        let from_own = !own.is_empty() && draws.below(own.len() + 1) < own.len();
        let drawn = if from_own {
            own[draws.below(own.len())]
        } else {
            let first = self.others.partition_point(|&part| part * self.limit as f64 <= ran as f64);
            let others = &self.others[first..];
            match (others.len(), own.len()) {
                (0, 0) => self.beyond(ran),
                (0, count) => own[draws.below(count)],
                (count, _) => (others[draws.below(count)] * self.limit as f64) as i64,
            }
        };
        drawn.clamp(ran + 1, self.limit.max(ran + 1))
    }

    fn other_times(&self, ran: i64) -> impl Iterator<Item = i64> + '_ {
        self.others.iter().map(|part| (part * self.limit as f64) as i64).filter(move |&seconds| seconds > ran)
    }

    /// Of one that has run for longer than any that is known: a quarter longer, at most its limit. Where nothing is known: its limit.
    fn beyond(&self, ran: i64) -> i64 {
        match self.known {
            Known::Limit => self.limit.max(ran + 1),
            _ => (ran + (ran / 4).max(1)).min(self.limit.max(ran + 1)),
        }
    }
}

/// Those that are longer.
fn longer(list: &[i64], ran: i64) -> &[i64] {
    &list[list.partition_point(|&seconds| seconds <= ran)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(own: &[i64], others: &[f64], limit: i64) -> Times {
        let known = if own.is_empty() && others.is_empty() { Known::Limit } else { Known::Name(own.len()) };
        Times { own: own.into(), others: others.into(), limit, known }
    }

    #[test]
    fn a_job_that_runs_is_as_long_as_those_that_ran_longer() {
        let known = times(&[10, 20, 60], &[], 100);
        assert_eq!((known.mean(0), known.mean(15), known.mean(30), known.mean(70)), (30, 40, 60, 87));
        assert_eq!((times(&[], &[], 100).mean(0), times(&[], &[], 100).mean(99)), (100, 100));
        assert_eq!(times(&[], &[0.1, 0.3], 100).mean(0), 20);
        assert_eq!(times(&[500], &[], 100).mean(0), 100, "nothing runs beyond its limit");
    }

    #[test]
    fn draws_are_longer_than_what_has_passed_and_within_the_limit() {
        let mut draws = Draws(7);
        for ran in [0, 15, 30, 99] {
            for known in [times(&[10, 20, 60], &[0.5], 100), times(&[], &[0.2], 100), times(&[], &[], 100)] {
                let drawn = known.draw(ran, &mut draws);
                assert!(drawn > ran && drawn <= 100, "{ran}: {drawn}");
            }
        }
    }

    #[test]
    fn names_differ_by_more_than_numbers() {
        assert_eq!((plain("fit-3"), plain("fit-17"), plain("a1b22")), ("fit-#".into(), "fit-#".into(), "a#b#".into()));
    }
}
