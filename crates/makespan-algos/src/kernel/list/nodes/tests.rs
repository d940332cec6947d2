use makespan_core::{Job, Node, Platform, Profile, ScheduleBuilder, Unavailable, validate};
use proptest::prelude::*;

use super::super::{ListSweep, place};
use super::*;

fn ticks(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

fn platform(sizes: &[u32]) -> Platform {
    let node = |(index, &processors): (usize, &u32)| Node::new(index.to_string(), processors);
    Platform::new(sizes.iter().enumerate().map(node).collect()).unwrap().requiring_compact()
}

fn instance(sizes: &[u32], jobs: &[(u32, i64, i64)], closed: &[(u32, i64, i64)]) -> Instance {
    let platform = platform(sizes);
    let job = |(index, &(width, time, release)): (usize, &(u32, i64, i64))| {
        let width = 1 + (width - 1) % platform.processors();
        Job::new(index.to_string(), Profile::rigid(width, ticks(time)).unwrap()).with_release(ticks(release))
    };
    let period = |&(id, start, length): &(u32, i64, i64)| {
        let id = id % platform.processors();
        Unavailable { processors: ProcSet::range(id, id), start: ticks(start), end: ticks(start + length) }
    };
    let jobs = jobs.iter().enumerate().map(job).collect();
    Instance::new(platform.clone(), jobs, closed.iter().map(period).collect()).unwrap()
}

fn list(instance: &Instance) -> Vec<AllottedTask> {
    let allotted = |task| AllottedTask { task, processors: instance.profile(task).min_processors() };
    instance.task_ids().map(allotted).collect()
}

/// Returns whether `width` processors can form a best placement. Considers only processors that are not held at `now`
/// and stay open until the job ends. Tries all sets of whole nodes, as in the definition.
fn fits(instance: &Instance, held: &[(Time, Vec<u32>)], width: u32, now: Time, end: Time) -> bool {
    let platform = instance.platform();
    let is_free = |id: u32| {
        let closed = instance.unavailable().iter();
        let mut meeting = closed.filter(|period| period.start < end && now < period.end);
        held.iter().all(|(until, ids)| *until <= now || !ids.contains(&id))
            && !meeting.any(|period| period.processors.contains(id))
    };
    let free: Vec<u32> = (0..platform.nodes().len())
        .map(|node| platform.processors_of(node).iter().filter(|&id| is_free(id)).count() as u32)
        .collect();
    let size = |node: usize| platform.nodes()[node].processors;
    let largest = platform.largest_node();
    if width <= largest {
        return free.iter().any(|&free| free >= width);
    }
    (0_u32..1 << free.len()).any(|mask| {
        let whole = |node: usize| mask >> node & 1 == 1;
        let taken: u32 = (0..free.len()).filter(|&node| whole(node)).map(size).sum();
        let possible = (0..free.len()).all(|node| !whole(node) || free[node] == size(node))
            && (0..free.len()).any(|node| whole(node) && size(node) == largest);
        let rest = |rest: u32| rest == 0 || (0..free.len()).any(|node| !whole(node) && free[node] >= rest);
        possible && width.checked_sub(taken).is_some_and(rest)
    })
}

proptest! {
    #[test]
    fn a_job_waits_only_where_no_best_placement_is_free(
        sizes in proptest::collection::vec(1_u32..5, 1..4),
        jobs in proptest::collection::vec((1_u32..13, 1_i64..6, 0_i64..8), 1..10),
        closed in prop_oneof![Just(vec![]), proptest::collection::vec((0_u32..12, 0_i64..10, 1_i64..8), 1..4)],
    ) {
        let instance = instance(&sizes, &jobs, &closed);
        let list = list(&instance);
        let found = starts(&instance, &list, Time::ZERO);
        let mut builder = ScheduleBuilder::new(&instance);
        let end = place(&mut builder, &instance, &list, Time::ZERO);
        let schedule = builder.finish();
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        prop_assert_eq!(end, schedule.makespan());
        // Replay the schedule instant by instant with the chosen processors. Each job must start at the first instant
        // at which it fits.
        for now in (0..60).map(ticks) {
            let mut held: Vec<(Time, Vec<u32>)> = vec![];
            for (allotted, (start, ids)) in list.iter().zip(&found) {
                if *start < now {
                    held.push((*start + allotted.time(&instance), ids.clone()));
                }
            }
            for (allotted, (start, ids)) in list.iter().zip(&found) {
                let end = now + allotted.time(&instance);
                let released = instance.release(allotted.task) <= now;
                if *start >= now && released {
                    let could = fits(&instance, &held, allotted.processors, now, end);
                    prop_assert_eq!(could, *start == now, "{:?} at {:?}", allotted, now);
                }
                if *start == now {
                    held.push((end, ids.clone()));
                }
            }
        }
    }
}

#[test]
fn completions_are_those_of_the_placements() {
    let instance = instance(&[2, 2], &[(3, 4, 0), (1, 2, 0), (2, 5, 1), (2, 3, 0)], &[]);
    let list = list(&instance);
    let mut builder = ScheduleBuilder::new(&instance);
    let ends = ListSweep::default().completions(&mut builder, &instance, &list, Time::ZERO).to_vec();
    // Task a runs on processors 0 to 2, and task b on processor 3. Task d needs both processors of a node, so task d
    // waits for the end of a.
    assert_eq!(ends, [4, 2, 9, 7].map(ticks));
}
