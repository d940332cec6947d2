//! The allotments from which a job chooses, grouped if there are many.

use crate::model::{Area, Profile};

/// An allotment, or a lower bound on the costs of a group of allotments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proof) struct Choice {
    pub(in crate::proof) processors: i128,
    /// Time for which the processors are paid.
    pub(in crate::proof) paid: i128,
    /// Time from start to end of the job.
    pub(in crate::proof) time: i128,
}

/// Profiles with at most this many allotments are enumerated.
const ALL: u32 = 256;
/// In larger profiles, a group that starts at k contains `k / GROUP` allotments, but at least one.
const GROUP: u32 = 32;

/// Successive allotments that form one choice. The last one is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proof) struct Group {
    pub(in crate::proof) first: u32,
    pub(in crate::proof) last: u32,
    /// Time from start to end of the job. The choice is paid for at least this time.
    pub(in crate::proof) time: i64,
}

/// Collects the choices of a profile. `never_rises` is true if prices never rise after the release date.
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

/// Like [`of`], but without the paid times, which take longer to compute than the rest.
pub(in crate::proof) fn groups(profile: &Profile, groups: &mut Vec<Group>) {
    groups.clear();
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first < ALL {
        groups.extend(profile.allotments().map(|processors| Group::new(profile, processors, processors)));
    } else if profile.speedup().is_some() {
        // Allotments of a law are not enumerated.
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

    /// Returns the time for which the first allotment is paid.
    ///
    /// An allotment of the group has k >= first processors for p >= time. Whatever the prices, it pays at least for
    /// `first` processors for `time`. Let q = least work / first. If p >= q, it pays at least for `first` processors
    /// for q. Otherwise, k p >= first q, and the mean price is the mean price of a shorter run from the same start,
    /// which is not lower if prices never rise.
    pub(in crate::proof) fn paid(&self, profile: &Profile, never_rises: bool) -> i64 {
        if self.first == self.last || !never_rises {
            return self.time;
        }
        let least: Area = profile.least_work(profile.time(self.first)).unwrap_or(0);
        self.time.max(share(least, self.first))
    }
}

/// Returns the share of each of `processors` processors of some work. The work is at most this number times a time.
pub(in crate::proof) fn share(work: Area, processors: u32) -> i64 {
    // Equivalent to the division of 128 bits, but several times faster if 64 bits suffice.
    match u64::try_from(work) {
        Ok(narrow) => (narrow / u64::from(processors)) as i64,
        Err(_) => (work / Area::from(processors)) as i64,
    }
}
