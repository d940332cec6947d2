//! Draws random run times from the distributions of known run times.

use super::ForecastOptions;
use super::times::{JobRunTimes, KnownRunTimes, PredictionSource, RunTimeDistribution, longer};
use crate::queue::Queue;

/// The random run times of the jobs of a queue, in several simulations.
pub struct RandomRunTimes {
    seed: u64,
    pub(super) jobs: RunTimesOfJobs,
    /// Another queue, if this queue uses the random numbers of that queue.
    like: Option<RunTimesOfJobs>,
}

/// The known run times of all jobs of a queue, with their elapsed run times in seconds.
pub(super) struct RunTimesOfJobs {
    pub times: Vec<JobRunTimes>,
    pub ran: Vec<i64>,
}

impl RunTimesOfJobs {
    fn of(queue: &Queue, options: &ForecastOptions<'_>) -> Self {
        let ran = |job: &crate::queue::QueueJob| job.run.as_ref().map_or(0, |run| (queue.now - run.started).max(0));
        Self {
            times: KnownRunTimes::of(queue, options.times).of_jobs(&queue.jobs),
            ran: queue.jobs.iter().map(ran).collect(),
        }
    }

    fn draw(&self, drawing: Drawing, states: &[Draws]) -> DrawnRunTimes {
        drawing.all(states, &self.times, |job| self.ran[job])
    }
}

impl RandomRunTimes {
    /// Reads the run times that are known for a queue.
    pub fn of(queue: &Queue, options: &ForecastOptions<'_>) -> Self {
        let of = |queue: &Queue| RunTimesOfJobs::of(queue, options);
        Self { seed: options.seed, jobs: of(queue), like: options.like.map(of) }
    }

    /// Returns the expected run time of a job in seconds. For a running job, the run time includes the elapsed time.
    pub fn mean(&self, job: usize) -> i64 {
        self.jobs.times[job].mean(self.jobs.ran[job])
    }

    /// Returns the distribution of the run time of a pending job.
    pub fn distribution(&self, job: usize) -> RunTimeDistribution {
        self.jobs.times[job].distribution()
    }

    /// Returns the source of the run-time prediction of a job.
    pub fn known(&self, job: usize) -> PredictionSource {
        self.jobs.times[job].known
    }

    /// Returns the run time of each job in simulation `number`, in seconds. For a running job, the run time includes the
    /// elapsed time.
    pub fn draw(&self, number: u32) -> Vec<i64> {
        let drawing = || Drawing::new(number, self.seed);
        let states = self.like.as_ref().map_or_else(Vec::new, |like| like.draw(drawing(), &[]).states);
        self.jobs.draw(drawing(), &states).seconds
    }
}

/// The drawn run times of all jobs in seconds, and the state of the random generator before the draw of each job.
pub(super) struct DrawnRunTimes {
    seconds: Vec<i64>,
    states: Vec<Draws>,
}

/// A random generator with one word of state (`SplitMix64`; Steele, Lea and Flood, OOPSLA 2014). This quality of
/// random numbers is sufficient here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Draws(u64);

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

/// Draws random run times for all jobs. The unknown run times of similar jobs are correlated: for example, each job of
/// a user may use a tenth of its limit, or all of it.
///
/// To model this, the value that is drawn for a job is added to the known values of the next similar job, as in
/// Pólya's urn (Blackwell and `MacQueen`, Annals of Statistics 1(2), 1973). This does not change the distribution for
/// a single job.
struct Drawing {
    draws: Draws,
    /// The number of the simulation, from 0. Equal numbers give equal run times.
    number: u32,
    /// Drawn run times in seconds, by group of jobs of a user with similar names.
    of_name: Vec<Vec<i64>>,
    /// Drawn fractions of time limits, by user.
    of_user: Vec<Vec<f64>>,
}

impl Drawing {
    fn new(number: u32, seed: u64) -> Self {
        let draws = Draws(seed.wrapping_mul(0x1000_0001).wrapping_add(u64::from(number)));
        Self { draws, number, of_name: Vec::new(), of_user: Vec::new() }
    }

    /// Draws the run times of all jobs. `ran` returns the elapsed run time of a job in seconds.
    ///
    /// `states` are the states of the generator for the jobs of another queue, which this queue contains with some
    /// changes. A job of that queue gets the random numbers that it has there, and jobs that are new come last. So a
    /// change of one job changes the random numbers of no other job.
    fn all(mut self, states: &[Draws], times: &[JobRunTimes], ran: impl Fn(usize) -> i64) -> DrawnRunTimes {
        let groups = |of: fn(&JobRunTimes) -> usize| times.iter().map(|one| of(one) + 1).max().unwrap_or(0);
        self.of_name = vec![Vec::new(); groups(|one| one.name)];
        self.of_user = vec![Vec::new(); groups(|one| one.user)];
        let (mut seconds, mut own) = (vec![0; times.len()], vec![Draws::default(); times.len()]);
        // Draw the run times of pending jobs first. Running jobs are long, because short jobs have already ended. So
        // the run times of running jobs say little about pending jobs, but not the reverse.
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by_key(|&job| (job >= states.len(), ran(job) > 0));
        for job in order {
            self.draws = states.get(job).copied().unwrap_or(self.draws);
            own[job] = self.draws;
            seconds[job] = self.one(&times[job], ran(job));
        }
        DrawnRunTimes { seconds, states: own }
    }

    fn one(&mut self, times: &JobRunTimes, ran: i64) -> i64 {
        let own = longer(&times.own, ran);
        let seen = &self.of_name[times.name];
        let at = self.draws.below(own.len() + seen.len() + 1);
        let known = own.get(at).or_else(|| seen.get(at.checked_sub(own.len())?)).copied();
        // For a running job, only times longer than the elapsed time are possible. For a pending job, every known time
        // is possible.
        let drawn = match known.filter(|&seconds| ran == 0 || seconds > ran) {
            Some(seconds) => seconds,
            None => match self.part(times, ran) {
                Some(part) => (part * times.whole as f64).round() as i64,
                None if own.is_empty() => times.unseen(ran),
                None => own[self.draws.below(own.len())],
            },
        };
        if ran == 0 {
            self.of_name[times.name].push(drawn);
        }
        times.within(ran, drawn)
    }

    /// Draws a run time as a fraction of the limit, from the fractions that other jobs used.
    fn part(&mut self, times: &JobRunTimes, ran: i64) -> Option<f64> {
        let (others, usual) = (times.beyond(&times.others, ran), times.beyond(times.usual, ran));
        let seen = &self.of_user[times.user];
        let count = others.len() + usize::from(!usual.is_empty());
        if count == 0 {
            return None;
        }
        let at = self.draws.below(count + seen.len());
        let known = others.get(at).or_else(|| seen.get(at.checked_sub(count)?)).copied();
        let part = match known.filter(|part| ran == 0 || part * times.whole as f64 > ran as f64) {
            Some(part) => part,
            None if usual.is_empty() => others[self.draws.below(others.len())],
            // Over twenty successive simulations, the first fraction for a user takes each of the twenty usual values
            // once.
            None if ran == 0 && seen.is_empty() => usual[spread_out(self.number, times.user, usual.len())],
            None => usual[self.draws.below(usual.len())],
        };
        if ran == 0 {
            self.of_user[times.user].push(part);
        }
        Some(part)
    }
}

/// Returns the index of the value that simulation `number` uses. In `count` successive simulations, each value is used
/// once. Each group has its own order of values.
fn spread_out(number: u32, group: usize, count: usize) -> usize {
    let mut order: Vec<usize> = (0..count).collect();
    let mut draws = Draws(group as u64);
    for at in (1..count).rev() {
        order.swap(at, draws.below(at + 1));
    }
    order[number as usize % count]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::times::ascending;
    use super::super::times::tests::{times, usual};
    use super::*;

    proptest! {
        /// Checks, for each source of run times, that a drawn run time is longer than the elapsed time and at most the
        /// limit.
        #[test]
        fn draws_are_longer_than_what_has_passed_and_within_the_limit(
            own in prop::collection::vec(1_i64..2000, 0..4), others in prop::collection::vec(0.0..1.0, 0..4), has_usual: bool,
            limit in 1_i64..1000, ran in prop::collection::vec(0_i64..1500, 1..20), number in 0_u32..40,
        ) {
            let (mut own, others) = (own, ascending(others));
            own.sort_unstable();
            let known = if has_usual { usual(&own, &others, limit) } else { times(&own, &others, limit) };
            let drawn = Drawing::new(number, 7).all(&[], &vec![known.clone(); ran.len()], |job| ran[job]).seconds;
            for (&ran, drawn) in ran.iter().zip(drawn) {
                for seconds in [drawn, known.mean(ran)] {
                    prop_assert!(seconds > ran && seconds <= limit.max(ran + 1), "{ran}: {seconds}");
                }
            }
        }

        /// Checks two properties of drawn run times: their mean is the value of `mean`, and run times of similar jobs
        /// are correlated. Some known jobs end immediately in this test.
        #[test]
        fn draws_have_the_mean_that_is_said(
            own in prop::collection::vec(1_i64..1000, 0..4),
            others in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0], 0..4),
        ) {
            let (mut own, others) = (own, ascending(others));
            own.sort_unstable();
            let known = usual(&own, &others, 1000);
            let drawn = |number| Drawing::new(number, 3).all(&[], &[known.clone(), known.clone()], |_| 0).seconds;
            let all: Vec<Vec<i64>> = (0..4000).map(drawn).collect();
            for job in [0, 1] {
                let mean = all.iter().map(|one| one[job]).sum::<i64>() as f64 / 4000.0;
                prop_assert!((mean - known.mean(0) as f64).abs() < 30.0, "{mean} for {}", known.mean(0));
            }
            let same = all.iter().filter(|one| one[0] == one[1]).count();
            prop_assert!(same > 4000 / (own.len() + 3), "{same}");
        }

        /// Checks that a change of one job changes the random numbers of no other job, and that a new job changes none.
        #[test]
        fn a_variant_uses_the_random_numbers_of_the_queue(
            own in prop::collection::vec(1_i64..1000, 0..4), ran in prop::collection::vec(0_i64..900, 1..12),
            at in 0_usize..12, number in 0_u32..20,
        ) {
            let mut own = own;
            own.sort_unstable();
            let mut times = vec![usual(&own, &[], 1000); ran.len()];
            let base = Drawing::new(number, 5).all(&[], &times, |job| ran[job]);
            let at = at % times.len();
            times[at].name = 1;
            times[at].user = 1;
            (times[at].limit, times[at].whole) = (2000, 2000);
            let alone = Drawing::new(number, 5).all(&base.states, &times, |job| ran[job]).seconds;
            times.push(times[at].clone());
            let more = Drawing::new(number, 5).all(&base.states, &times, |job| ran.get(job).copied().unwrap_or(0)).seconds;
            prop_assert_eq!(&more[..ran.len()], &alone[..]);
            let mut same = times.clone();
            same[at] = usual(&own, &[], 1000);
            let again = Drawing::new(number, 5).all(&base.states, &same[..ran.len()], |job| ran[job]).seconds;
            prop_assert_eq!(again, base.seconds);
        }
    }
}
