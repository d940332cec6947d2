//! The allotments among which a job chooses, grouped where there are many.

use crate::{Area, Profile, Time};

/// An allotment, or something that costs no more than any of a group of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::certificate) struct Choice {
    pub(in crate::certificate) processors: i128,
    /// For how long the processors are paid.
    pub(in crate::certificate) paid: i128,
    /// When the job ends after its start.
    pub(in crate::certificate) time: i128,
}

/// Profiles that accept at most this many numbers of processors are searched through.
const ALL: u32 = 256;
/// Beyond, a group that starts at k holds `k / GROUP` allotments, at least one.
const GROUP: u32 = 32;

/// The choices under prices that never rise after the release date, or under any.
pub(in crate::certificate) fn of(profile: &Profile, never_rises: bool, choices: &mut Vec<Choice>) {
    choices.clear();
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first < ALL {
        choices.extend(profile.allotments().map(|processors| single(profile, processors)));
    } else if profile.speedup().is_some() {
        // A law is not enumerated.
        let mut from = first;
        while from <= last {
            let until = last.min(from.saturating_add(size(from) - 1));
            choices.push(group(profile, from, until, never_rises));
            from = until.saturating_add(1);
        }
    } else {
        let mut allotments = profile.allotments().peekable();
        while let Some(from) = allotments.next() {
            let mut until = from;
            while let Some(next) = allotments.next_if(|&next| next - from < size(from)) {
                until = next;
            }
            choices.push(group(profile, from, until, never_rises));
        }
    }
}

fn size(from: u32) -> u32 {
    (from / GROUP).max(1)
}

fn single(profile: &Profile, processors: u32) -> Choice {
    let time = ticks(profile.time(processors));
    Choice { processors: i128::from(processors), paid: time, time }
}

fn ticks(time: Time) -> i128 {
    i128::from(time.ticks())
}

/// Stands for the allotments `from ..= until`, of which `until` is the fastest.
fn group(profile: &Profile, from: u32, until: u32, never_rises: bool) -> Choice {
    let processors = i128::from(from);
    if from == until {
        return single(profile, from);
    }
    let fastest = ticks(profile.time(until));
    // Along a law a float may fall by less than its rounding where it should not.
    let slack = if profile.speedup().is_some() { 1 + fastest / 1_000_000_000_000 } else { 0 };
    let time = (fastest - slack).max(1);
    // With k >= from processors for p >= time: whatever the prices, that pays for `from` processors for `time`. And let
    // q = least work / from. If p >= q it pays for `from` processors for q; otherwise k p >= from q at the mean price
    // of a shorter run from the same start, which is no lower when prices never rise.
    let least: Area = if never_rises { profile.least_work(profile.time(from)).unwrap_or(0) } else { 0 };
    Choice { processors, paid: time.max(least / processors), time }
}
