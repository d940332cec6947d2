//! The allotments among which a job chooses, grouped where there are many.

use crate::model::{Area, Profile};

/// An allotment, or something that costs no more than any of a group of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proof) struct Choice {
    pub(in crate::proof) processors: i128,
    /// For how long the processors are paid.
    pub(in crate::proof) paid: i128,
    /// When the job ends after its start.
    pub(in crate::proof) time: i128,
}

/// Profiles that accept at most this many numbers of processors are searched through.
const ALL: u32 = 256;
/// Beyond, a group that starts at k holds `k / GROUP` allotments, at least one.
const GROUP: u32 = 32;

/// Successive allotments that become one choice, of which the last is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proof) struct Group {
    pub(in crate::proof) first: u32,
    pub(in crate::proof) last: u32,
    /// When the job ends after its start; the choice is never paid for less.
    pub(in crate::proof) time: i64,
}

/// The choices under prices that never rise after the release date, or under any.
pub(in crate::proof) fn of(profile: &Profile, never_rises: bool, choices: &mut Vec<Choice>) {
    let mut groups = Vec::new();
    self::groups(profile, &mut groups);
    choices.clear();
    choices.extend(groups.iter().map(|group| Choice {
        processors: i128::from(group.first),
        paid: i128::from(group.paid(profile, never_rises)),
        time: i128::from(group.time),
    }));
}

/// The same without what is paid, which takes longer to find than the rest.
pub(in crate::proof) fn groups(profile: &Profile, groups: &mut Vec<Group>) {
    groups.clear();
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first < ALL {
        groups.extend(profile.allotments().map(|processors| Group::new(profile, processors, processors)));
    } else if profile.speedup().is_some() {
        // A law is not enumerated.
        let mut from = first;
        while from <= last {
            let until = last.min(from.saturating_add(size(from) - 1));
            groups.push(Group::new(profile, from, until));
            from = until.saturating_add(1);
        }
    } else {
        let mut allotments = profile.allotments().peekable();
        while let Some(from) = allotments.next() {
            let mut until = from;
            while let Some(next) = allotments.next_if(|&next| next - from < size(from)) {
                until = next;
            }
            groups.push(Group::new(profile, from, until));
        }
    }
}

fn size(from: u32) -> u32 {
    (from / GROUP).max(1)
}

impl Group {
    fn new(profile: &Profile, first: u32, last: u32) -> Self {
        Self { first, last, time: profile.time(last).ticks() }
    }

    /// For how long the first allotment is paid.
    ///
    /// With k >= first processors for p >= time: whatever the prices, that pays for `first` processors for `time`. And
    /// let q = least work / first. If p >= q it pays for `first` processors for q; otherwise k p >= first q at the mean
    /// price of a shorter run from the same start, which is no lower when prices never rise.
    pub(in crate::proof) fn paid(&self, profile: &Profile, never_rises: bool) -> i64 {
        if self.first == self.last || !never_rises {
            return self.time;
        }
        let least: Area = profile.least_work(profile.time(self.first)).unwrap_or(0);
        self.time.max(share(least, self.first))
    }
}

/// What each of so many processors does of some work; the work is at most that of so many over a time.
pub(in crate::proof) fn share(work: Area, processors: u32) -> i64 {
    // The same division as of 128 bits, and several times faster where it is enough.
    match u64::try_from(work) {
        Ok(narrow) => (narrow / u64::from(processors)) as i64,
        Err(_) => (work / Area::from(processors)) as i64,
    }
}
