//! Needs of jobs for resources other than processors, in files of other programs. A need for a resource that the
//! machines lack is ignored.

use std::collections::BTreeMap;

use makespan_core::{Need, Needs, Platform, Resource, counted};
use rustc_hash::FxHashSet;

/// Largest supported amount of a resource.
const MOST: f64 = i64::MAX as f64;

/// Returns `count` bytes, rounded up, or `None` if `count` is not positive.
pub(crate) fn bytes(count: f64) -> Option<u64> {
    // A float that is too large for `u64` becomes the largest `u64`.
    (count > 0.0).then(|| (count.min(MOST).ceil() as u64).min(i64::MAX as u64))
}

/// Converts an amount such as `2000M` or `1.5G` to bytes. Units are powers of 1024, and an amount without a unit is in
/// MiB.
pub(crate) fn memory(text: &str) -> Option<u64> {
    let shift = match text.bytes().last()? {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        b'P' => 50,
        _ => 0,
    };
    let (number, shift) = if shift == 0 { (text, 20) } else { (&text[..text.len() - 1], shift) };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let count = number.parse::<f64>().ok().filter(|_| plain)?;
    if count == 0.0 { Some(0) } else { bytes(count * (1_u64 << shift) as f64) }
}

/// Pool that stores equal needs only once.
#[derive(Default)]
pub(crate) struct Pool(FxHashSet<Needs>);

impl Pool {
    /// Returns `needs` as one value, shared with equal needs from earlier calls. If a resource occurs twice, its first
    /// need is used.
    pub(crate) fn of<N: Into<Box<str>>>(&mut self, needs: impl IntoIterator<Item = (N, Need)>) -> Needs {
        let Ok(needs) = Needs::new(needs) else { return Needs::NONE };
        if needs.is_empty() {
            return needs;
        }
        if let Some(known) = self.0.get(&needs) {
            return known.clone();
        }
        self.0.insert(needs.clone());
        needs
    }
}

/// Ignored needs for one resource.
#[derive(Default)]
struct IgnoredNeeds {
    count: usize,
    /// The name of the job or task with the largest need.
    name: String,
    most: u64,
}

/// Needs for resources that the platform does not state.
#[derive(Default)]
pub(crate) struct UnstatedNeeds(BTreeMap<Box<str>, IgnoredNeeds>);

impl UnstatedNeeds {
    /// Returns the needs of a task for resources that the platform has, and counts the other needs as ignored.
    /// `processors` is the number of processors of the task, and `name` its name.
    pub(crate) fn kept(&mut self, needs: &Needs, platform: &Platform, processors: u32, name: &str) -> Needs {
        if needs.iter().all(|(resource, _)| platform.resource(resource).is_some()) {
            return needs.clone();
        }
        for (resource, need) in needs.iter().filter(|(resource, _)| platform.resource(resource).is_none()) {
            self.count(resource, need.total(processors), name);
        }
        if platform.resources().is_empty() {
            return Needs::NONE;
        }
        let stated = needs.iter().filter(|(resource, _)| platform.resource(resource).is_some());
        Needs::new(stated.map(|(resource, need)| (resource, need.clone()))).unwrap_or_default()
    }

    /// Counts one more ignored need of `total` units.
    pub(crate) fn count(&mut self, resource: &str, total: u64, name: &str) {
        if !self.0.contains_key(resource) {
            self.0.insert(resource.into(), IgnoredNeeds::default());
        }
        let Some(without) = self.0.get_mut(resource) else { return };
        without.count += 1;
        if without.count == 1 || total > without.most {
            (without.name, without.most) = (name.to_owned(), total);
        }
    }

    /// Returns one warning for each resource with ignored needs. `who` is the noun for one owner of a need, such as
    /// "job". `why` is a clause that states why the needs are ignored.
    pub(crate) fn remarks<'a>(&'a self, who: &'a str, why: &'a str) -> impl Iterator<Item = String> + 'a {
        self.0.iter().map(move |(resource, without)| {
            let IgnoredNeeds { count, name, most } = without;
            let most = if &**resource == Resource::MEMORY { rounded(*most as f64) } else { most.to_string() };
            format!(
                "`{resource}` is needed by {} (largest need: {most}, of {who} `{name}`); {why}",
                counted(count, who)
            )
        })
    }
}

/// Reason why needs for resources that the platform does not state are ignored.
pub(crate) const UNSTATED: &str = "the machines state no such resource, so these needs are ignored; \
                                   state the resources of nodes with --platform FILE";

/// Returns a number of bytes as a rounded text for people.
pub(crate) fn rounded(bytes: f64) -> String {
    let units = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|unit| bytes >= unit.0) {
        Some((size, unit)) => format!("{:.2} {unit}", bytes / size),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_up_and_stay_in_range() {
        assert_eq!([bytes(0.0), bytes(-3.0), bytes(f64::NAN)], [None; 3]);
        assert_eq!((bytes(0.5), bytes(1024.0)), (Some(1), Some(1024)));
        assert_eq!(bytes(1e300), Some(i64::MAX as u64));
    }

    #[test]
    fn needs_of_what_is_not_stated_are_counted() {
        let platform = Platform::flat(4).unwrap();
        let platform = platform.with_licences(makespan_core::Resources::new([("gpus", 3)]).unwrap()).unwrap();
        let (mut pool, mut unstated) = (Pool::default(), UnstatedNeeds::default());
        let needs = pool.of([("memory", Need::per_processor(1_500_000_000)), (Resource::GPUS, Need::whole(1))]);
        let kept = unstated.kept(&needs, &platform, 2, "a");
        assert_eq!(kept, Needs::new([(Resource::GPUS, Need::whole(1))]).unwrap());
        unstated.kept(&needs, &platform, 1, "b");
        let remarks: Vec<String> = unstated.remarks("job", "so").collect();
        assert_eq!(remarks, ["`memory` is needed by 2 jobs (largest need: 3.00 GB, of job `a`); so"]);
        assert_eq!(unstated.kept(&kept, &platform, 1, "c"), kept);
    }
}
