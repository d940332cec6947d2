//! Lower bounds on the makespan.

use makespan_core::{Area, Instance, JobId, Objective, SimpleJob, Time};
use makespan_verify::proof::{Alone, Rejection, Selection, earliest_completion};
use makespan_verify::{Bound, Proof};

use crate::dual::{self, Need, choose};
use crate::{Clock, dual_feasible, minsum};

/// Maximum number of release dates that are tried. For each release date r, the bound compares the work of the jobs
/// released at or after r with the available processor time after r.
const RELEASES: usize = 8;

/// Returns the best proven lower bound on the makespan.
///
/// The candidates are:
/// * the run time of the longest job;
/// * the work of all jobs divided by the number of processors;
/// * the largest deadline that the dual approximation refutes;
/// * later deadlines that dual-feasible functions refute.
///
/// All these bounds take release dates and unavailable processors into account. The tasks of a bag are treated as equal
/// jobs, and the search handles many of them in one step.
///
/// Complexity: if all jobs are released together, all processors are always available and no job is a bag, takes the
/// time of [`dual_feasible::search`] plus the time of [`dual::search`]. Otherwise, a bisection for each of a few
/// release dates replaces [`dual::search`]. Each bisection takes at most 62 steps of O(n log n). If the processors
/// differ in speed or form a tree, the bound is zero.
pub fn makespan(instance: &Instance) -> Bound {
    counted_by(instance, &Clock::ENDLESS)
}

/// Returns the bound of [`makespan()`], but stops the search for dual-feasible functions when `clock` expires. The
/// other bounds are always computed.
pub fn counted_by(instance: &Instance, clock: &Clock) -> Bound {
    if !instance.has_equal_processors() || instance.has_compound_jobs() {
        return nothing();
    }
    let alone = longest_alone(instance);
    let rejection = if !instance.has_bags()
        && instance.first_release() == Time::ZERO
        && !instance.has_release_dates()
        && instance.availability().is_always_open()
    {
        dual::search(instance.simple_jobs().map(|job| job.profile()), instance.processors()).rejection
    } else {
        with_releases(instance, alone.as_ref().map_or(0, |bound| bound.value.integer()))
    };
    let proved = |proof| Bound::proved_by(Objective::Makespan, proof, instance).ok();
    let from = rejection.as_ref().map_or(instance.first_release(), |rejection| rejection.from);
    let rejected = rejection.and_then(|rejection| proved(Proof::Rejection(rejection)));
    let best = alone.into_iter().chain(rejected).max_by_key(|bound| bound.value.integer()).unwrap_or_else(nothing);
    let Ok(known) = i64::try_from(best.value.integer()) else { return best };
    dual_feasible::search_until(instance, from, Time::from_ticks(known), clock).unwrap_or(best)
}

/// Returns the bound of [`makespan()`], or a better bound from prices for processors in time ([`crate::refuted`]). The
/// search for prices takes some tenths of a second if jobs have release dates or processors are unavailable at times.
pub fn makespan_in_time(instance: &Instance) -> Bound {
    makespan_by(instance, &Clock::ENDLESS)
}

/// Returns the bound of [`makespan_in_time`], but ends the searches when `clock` expires.
pub fn makespan_by(instance: &Instance, clock: &Clock) -> Bound {
    let best = counted_by(instance, &clock.part(0.5));
    let Ok(known) = i64::try_from(best.value.integer()) else { return best };
    if !instance.has_equal_processors() || instance.has_compound_jobs() {
        return best;
    }
    minsum::refuted_until(instance, Time::from_ticks(known), clock)
        .filter(|bound| bound.value > best.value)
        .unwrap_or(best)
}

/// Returns the bound zero, which needs no proof.
fn nothing() -> Bound {
    let rejection =
        Rejection { deadline: Time::ZERO, from: Time::ZERO, at: Time::ZERO, selection: Selection::Price(0) };
    Bound {
        objective: Objective::Makespan,
        value: 0.into(),
        makespan_at_most: None,
        proof: Proof::Rejection(rejection),
    }
}

/// Returns the largest bound from a single job: the earliest possible end of this job. If processors are unavailable
/// at times, only the 64 most promising jobs are examined.
fn longest_alone(instance: &Instance) -> Option<Bound> {
    let simple = |id: JobId| instance.job(id).release + instance.profile_of(id).shortest();
    let latest = |&id: &JobId| (simple(id), std::cmp::Reverse(id));
    let candidates: Vec<JobId> = if instance.availability().is_always_open() {
        instance.ids().max_by_key(latest).into_iter().collect()
    } else {
        let mut ids: Vec<JobId> = instance.ids().collect();
        ids.sort_by_cached_key(|id| std::cmp::Reverse(latest(id)));
        ids.truncate(64);
        ids
    };
    let (job, completion) = candidates
        .into_iter()
        .map(|id| (id, earliest_completion(instance, id)))
        .max_by_key(|&(_, completion)| completion)?;
    let value = i128::from(completion.ticks()).into();
    let proof = Proof::Alone(Alone { job });
    Some(Bound { objective: Objective::Makespan, value, makespan_at_most: None, proof })
}

/// Returns the refutation of the largest refuted deadline. A deadline is refuted if, for some release date, the jobs
/// released at or after this date cannot all end by the deadline. `known` is a bound that is already proved. Returns
/// `None` if no deadline of at least `known` is refuted.
fn with_releases(instance: &Instance, known: i128) -> Option<Rejection> {
    let mut best = i64::try_from(known).ok()? - 1;
    let mut found = None;
    for from in promising_releases(instance) {
        let jobs: Vec<SimpleJob<'_>> = instance.simple_jobs().filter(|job| job.release >= from).collect();
        let refute = |deadline: i64| refute(instance, &jobs, from, Time::from_ticks(deadline));
        // First try the known bound as the deadline. Then try later deadlines, in steps that double. Finally, bisect.
        let Some(mut rejection) = refute(best + 1) else { continue };
        let mut step = 1 + (best - from.ticks()).max(1) / 64;
        let mut high = loop {
            best = rejection.deadline.ticks();
            found = Some(rejection.clone());
            let next = best.saturating_add(step);
            step = step.saturating_mul(2);
            match refute(next) {
                Some(higher) => rejection = higher,
                None => break next,
            }
        };
        while high - best > 1 {
            let middle = best + (high - best) / 2;
            match refute(middle) {
                Some(higher) => {
                    best = middle;
                    found = Some(higher);
                }
                None => high = middle,
            }
        }
    }
    found
}

/// Returns up to `RELEASES` release dates r. For each release date r, let l be the work of the jobs released at or
/// after r, divided by the number of processors. The release dates with the largest sum r + l come first.
fn promising_releases(instance: &Instance) -> Vec<Time> {
    let work = |job: &SimpleJob<'_>| Some(job.profile().least_work(Time::MAX)?.saturating_mul(Area::from(job.tasks())));
    let mut jobs: Vec<(Time, Area)> =
        instance.simple_jobs().filter_map(|job| Some((job.release, work(&job)?))).collect();
    jobs.sort_unstable();
    let processors = Area::from(instance.processors());
    let mut load = 0;
    let mut scored: Vec<(Area, Time)> = Vec::new();
    for &(release, work) in jobs.iter().rev() {
        load += work;
        let score = Area::from(release.ticks()) + load / processors;
        match scored.last_mut() {
            Some(last) if last.1 == release => last.0 = score,
            _ => scored.push((score, release)),
        }
    }
    scored.sort_unstable_by(|a, b| b.cmp(a));
    scored.into_iter().take(RELEASES).map(|(_, release)| release).collect()
}

/// Proves that the jobs released at or after `from` cannot all end by `deadline`. The proof uses the jobs that run at
/// the middle between `from` and `deadline`. Returns `None` if no proof is found.
fn refute(instance: &Instance, jobs: &[SimpleJob<'_>], from: Time, deadline: Time) -> Option<Rejection> {
    if deadline <= from {
        return None;
    }
    let at = from + Time::from_ticks((deadline - from).ticks() / 2);
    let available = instance.availability().open_area(from, deadline);
    let capacity = instance.availability().open_at(at);
    let proof = |selection| Some(Rejection { deadline, from, at, selection });
    let mut needs = Vec::with_capacity(jobs.len());
    for job in jobs {
        let profile = job.profile();
        let longest = deadline - job.release;
        let Some(crossing) = profile.least_work(longest) else { return proof(Selection::Price(0)) };
        let short = (at - job.release).max(deadline - at - Time::TICK).min(longest);
        let width = profile.min_allotment(longest).unwrap_or(u32::MAX);
        let need = Need { short: profile.least_work(short), crossing, width };
        if !push_tasks(&mut needs, &need, job.tasks(), capacity) {
            return proof(Selection::Price(0));
        }
    }
    let choice = choose(&needs, capacity, available);
    if choice.least <= available {
        return None;
    }
    proof(choice.price.map_or(Selection::Knapsack, Selection::Price))
}

/// Appends the equal tasks of a bag to `needs`, the items of the knapsack problem of [`dual::choose`].
///
/// A task *crosses* if it runs at the middle of the span. The tasks that can cross together are grouped into bundles:
/// either all tasks of a bundle cross, or none. The sizes of the bundles are 1, 2, 4, .., and the last bundle contains
/// all tasks that are left. So every number of crossing tasks is the sum of some of the sizes. If the bag has more
/// tasks than can cross together, one more item represents the tasks without a bundle. This item is too wide to cross.
/// Returns false if more tasks must cross than can run side by side.
fn push_tasks(needs: &mut Vec<Need>, task: &Need, tasks: u64, capacity: u32) -> bool {
    if tasks == 1 {
        needs.push(*task);
        return true;
    }
    let crossing = tasks.min(u64::from(capacity / task.width.max(1)));
    if task.short.is_none() && crossing < tasks {
        return false;
    }
    let times = |tasks: u64, width| Need {
        short: task.short.map(|short| short.saturating_mul(Area::from(tasks))),
        crossing: task.crossing.saturating_mul(Area::from(tasks)),
        width,
    };
    let (mut left, mut bundle) = (crossing, 1);
    while left > 0 {
        let part = left.min(bundle);
        needs.push(times(part, part as u32 * task.width));
        left -= part;
        bundle *= 2;
    }
    if tasks > crossing {
        needs.push(times(tasks - crossing, u32::MAX));
    }
    true
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, ProcSet, Profile, Unavailable};

    use super::*;

    fn rigid(name: &str, width: u32, seconds: i64, release: i64) -> Job {
        let profile = Profile::rigid(width, Time::from_seconds(seconds)).unwrap();
        Job::new(name, profile).with_release(Time::from_seconds(release))
    }

    fn seconds(bound: &Bound, instance: &Instance) -> f64 {
        assert_eq!(bound.verify(instance), Ok(()));
        bound.value.integer() as f64 / 1e9
    }

    #[test]
    fn what_is_released_late_counts_from_its_release() {
        let jobs = vec![rigid("a", 1, 1, 0), rigid("b", 2, 4, 100), rigid("c", 2, 3, 100), rigid("d", 1, 2, 100)];
        let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
        assert!((seconds(&makespan(&instance), &instance) - 108.0).abs() < 1e-6);
    }

    #[test]
    fn outages_push_the_bound_up() {
        let jobs = vec![rigid("a", 2, 4, 0), rigid("b", 2, 4, 0)];
        let period =
            Unavailable { processors: ProcSet::range(0, 0), start: Time::from_seconds(5), end: Time::from_seconds(50) };
        let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![period]).unwrap();
        assert!(seconds(&makespan(&instance), &instance) >= 11.0);
    }

    #[test]
    fn a_bag_is_bounded_like_as_many_jobs() {
        for (width, time, count, processors) in [(1, 10, 5, 2), (2, 10, 3, 3), (2, 7, 5, 5), (3, 4, 20, 7)] {
            let jobs = (0..count).map(|index| rigid(&index.to_string(), width, time, 0));
            let jobs = jobs.chain([rigid("other", 2, 9, 0)]).collect();
            let bag = rigid("bag", width, time, 0).with_count((count as u64).try_into().unwrap());
            let platform = || Platform::flat(processors).unwrap();
            let jobs = Instance::new(platform(), jobs, vec![]).unwrap();
            let bag = Instance::new(platform(), vec![bag, rigid("other", 2, 9, 0)], vec![]).unwrap();
            let refuted = |instance| with_releases(instance, 0).map(|rejection| rejection.deadline);
            assert_eq!(refuted(&bag), refuted(&jobs), "{count} of {width}");
            let bound = makespan(&bag);
            assert_eq!(bound.verify(&bag), Ok(()));
            assert!(bound.value.integer() <= makespan(&jobs).value.integer(), "{count} of {width}");
        }
        let many = rigid("bag", 1, 1, 0).with_count(4_000_000.try_into().unwrap());
        let instance = Instance::new(Platform::flat(4).unwrap(), vec![many], vec![]).unwrap();
        assert!((seconds(&makespan(&instance), &instance) - 1e6).abs() < 1e-6);
    }

    #[test]
    fn an_instance_without_jobs_has_the_bound_zero() {
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![], vec![]).unwrap();
        let bound = makespan(&instance);
        assert_eq!((bound.value.integer(), bound.verify(&instance)), (0, Ok(())));
    }
}
