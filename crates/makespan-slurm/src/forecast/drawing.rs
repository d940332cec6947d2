//! Run times that are drawn from what is known.

use super::times::{Times, longer};

/// A random generator with one word of state (`SplitMix64`; Steele, Lea and Flood, OOPSLA 2014): draws need no more.
#[derive(Clone, Debug)]
struct Draws(u64);

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

/// Run times of all jobs, drawn from what is known.
///
/// What is not known of a job is not known of all that are like it: whether a user's jobs use a tenth of their limits or all of them. So a
/// value that was drawn for one of them counts for the next as one that was seen: an urn of Pólya (Blackwell and `MacQueen`, Annals of
/// Statistics 1(2), 1973). Each job's own distribution stays what it is.
pub(super) struct Drawing {
    draws: Draws,
    /// Which of the draws it is.
    number: u32,
    /// By user and name: seconds; by user: parts of limits.
    of_name: Vec<Vec<i64>>,
    of_user: Vec<Vec<f64>>,
}

impl Drawing {
    pub(super) fn new(number: u32, seed: u64) -> Self {
        let draws = Draws(seed.wrapping_mul(0x1000_0001).wrapping_add(u64::from(number)));
        Self { draws, number, of_name: Vec::new(), of_user: Vec::new() }
    }

    /// Of all jobs, each of which has run for so long already.
    pub(super) fn all(mut self, times: &[Times], ran: impl Fn(usize) -> i64) -> Vec<i64> {
        let groups = |of: fn(&Times) -> usize| times.iter().map(|one| of(one) + 1).max().unwrap_or(0);
        self.of_name = vec![Vec::new(); groups(|one| one.name)];
        self.of_user = vec![Vec::new(); groups(|one| one.user)];
        let mut drawn = vec![0; times.len()];
        // What runs already is known to be long, so that what is drawn for it says less of the others than theirs say of it.
        let (waits, runs): (Vec<usize>, Vec<usize>) = (0..times.len()).partition(|&job| ran(job) == 0);
        for job in waits.into_iter().chain(runs) {
            drawn[job] = self.one(&times[job], ran(job));
        }
        drawn
    }

    fn one(&mut self, times: &Times, ran: i64) -> i64 {
        let own = longer(&times.own, ran);
        let seen = &self.of_name[times.name];
        let at = self.draws.below(own.len() + seen.len() + 1);
        let known = own.get(at).or_else(|| seen.get(at.checked_sub(own.len())?)).copied();
        // All of what has not begun is to come, however short it was elsewhere.
        let drawn = match known.filter(|&seconds| ran == 0 || seconds > ran) {
            Some(seconds) => seconds,
            None => match self.part(times, ran) {
                Some(part) => (part * times.limit as f64).round() as i64,
                None if own.is_empty() => times.unseen(ran),
                None => own[self.draws.below(own.len())],
            },
        };
        if ran == 0 {
            self.of_name[times.name].push(drawn);
        }
        times.within(ran, drawn)
    }

    /// A part of the limit, as other jobs used it.
    fn part(&mut self, times: &Times, ran: i64) -> Option<f64> {
        let (others, usual) = (times.beyond(&times.others, ran), times.beyond(times.usual, ran));
        let seen = &self.of_user[times.user];
        let count = others.len() + usize::from(!usual.is_empty());
        if count == 0 {
            return None;
        }
        let at = self.draws.below(count + seen.len());
        let known = others.get(at).or_else(|| seen.get(at.checked_sub(count)?)).copied();
        let part = match known.filter(|part| ran == 0 || part * times.limit as f64 > ran as f64) {
            Some(part) => part,
            None if usual.is_empty() => others[self.draws.below(others.len())],
            // The first of each user's, in twenty draws, are all that are usual.
            None if ran == 0 && seen.is_empty() => usual[spread_out(self.number, times.user, usual.len())],
            None => usual[self.draws.below(usual.len())],
        };
        if ran == 0 {
            self.of_user[times.user].push(part);
        }
        Some(part)
    }
}

/// Which of so many values a draw takes, so that as many draws take each of them once, and groups in another order.
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
        /// Whatever is known, and for how long it has run.
        #[test]
        fn draws_are_longer_than_what_has_passed_and_within_the_limit(
            own in prop::collection::vec(1_i64..2000, 0..4), others in prop::collection::vec(0.0..1.0, 0..4), has_usual: bool,
            limit in 1_i64..1000, ran in prop::collection::vec(0_i64..1500, 1..20), number in 0_u32..40,
        ) {
            let (mut own, others) = (own, ascending(others));
            own.sort_unstable();
            let known = if has_usual { usual(&own, &others, limit) } else { times(&own, &others, limit) };
            let drawn = Drawing::new(number, 7).all(&vec![known.clone(); ran.len()], |job| ran[job]);
            for (&ran, drawn) in ran.iter().zip(drawn) {
                for seconds in [drawn, known.mean(ran)] {
                    prop_assert!(seconds > ran && seconds <= limit.max(ran + 1), "{ran}: {seconds}");
                }
            }
        }

        /// Each job's draws are in the mean what its mean says, and those of alike jobs are alike; also where jobs ended at once.
        #[test]
        fn draws_have_the_mean_that_is_said(
            own in prop::collection::vec(1_i64..1000, 0..4),
            others in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0], 0..4),
        ) {
            let (mut own, others) = (own, ascending(others));
            own.sort_unstable();
            let known = usual(&own, &others, 1000);
            let drawn = |number| Drawing::new(number, 3).all(&[known.clone(), known.clone()], |_| 0);
            let all: Vec<Vec<i64>> = (0..4000).map(drawn).collect();
            for job in [0, 1] {
                let mean = all.iter().map(|one| one[job]).sum::<i64>() as f64 / 4000.0;
                prop_assert!((mean - known.mean(0) as f64).abs() < 30.0, "{mean} for {}", known.mean(0));
            }
            let same = all.iter().filter(|one| one[0] == one[1]).count();
            prop_assert!(same > 4000 / (own.len() + 3), "{same}");
        }
    }
}
