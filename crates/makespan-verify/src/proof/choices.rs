//! The allotments from which a job chooses, grouped if there are many.

use makespan_core::{Area, Profile};

/// A choice of a job: an allotment or a group of allotments. The fields of a group give a lower bound on the cost of
/// every allotment in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proof) struct Choice {
    pub(in crate::proof) processors: i128,
    /// Time for which the job pays for the processors.
    pub(in crate::proof) paid: i128,
    /// Time from the start to the end of the job.
    pub(in crate::proof) time: i128,
}

/// Maximum number of allotments of a profile that are enumerated. Larger profiles are grouped.
const ALL: u32 = 256;
/// Divisor that determines the size of groups: a group that starts at allotment k contains `k / GROUP` allotments, but
/// at least one.
const GROUP: u32 = 32;

/// Successive allotments that form one choice. The last allotment of the group is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::proof) struct Group {
    pub(in crate::proof) first: u32,
    pub(in crate::proof) last: u32,
    /// Time from the start to the end of the job. The job pays for at least this time.
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

/// Collects the choices like [`of`], but without the times for which the job pays. These times take longer to compute
/// than the other fields.
pub(in crate::proof) fn groups(profile: &Profile, groups: &mut Vec<Group>) {
    groups.clear();
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first < ALL {
        groups.extend(profile.allotments().map(|processors| Group::new(profile, processors, processors)));
    } else if profile.speedup().is_some() {
        // The allotments of a speed-up law are not enumerated, because there may be millions.
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

    /// Returns a time t, in ticks, such that every allotment of the group pays at least the price of `first` processors
    /// for t. Here, `first` is the smallest allotment of the group.
    ///
    /// Proof: consider an allotment of the group. It holds k >= `first` processors for p >= `time`, so it pays at least
    /// the price of `first` processors for `time`. If prices never rise, let q be the minimum work of all allotments of
    /// the group, divided by `first`. If p >= q, the allotment pays at least the price of `first` processors for q. If
    /// p < q, then k * p >= `first` * q. Because prices never rise, the mean price during a run of length p is at least
    /// the mean price during a longer run of length q from the same start. So the allotment pays at least the price of
    /// `first` processors for q.
    pub(in crate::proof) fn paid(&self, profile: &Profile, never_rises: bool) -> i64 {
        if self.first == self.last || !never_rises {
            return self.time;
        }
        let least: Area = profile.least_work(profile.time(self.first)).unwrap_or(0);
        self.time.max(share(least, self.first))
    }
}

/// Returns the time, in ticks, that `processors` processors need for some work if the work is divided evenly. The work
/// must be at most `processors` multiplied by a valid time.
pub(in crate::proof) fn share(work: Area, processors: u32) -> i64 {
    // If the work fits into 64 bits, a 64-bit division suffices. The 64-bit division is several times faster than a
    // 128-bit division.
    match u64::try_from(work) {
        Ok(narrow) => (narrow / u64::from(processors)) as i64,
        Err(_) => (work / Area::from(processors)) as i64,
    }
}
