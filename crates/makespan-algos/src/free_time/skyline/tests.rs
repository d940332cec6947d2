use makespan_core::{
    FreeTime, Instance, Job, Node, Platform, ProcSet, Profile, Reservation, ScheduleBuilder, Time, Unavailable,
    validate,
};
use proptest::prelude::*;

use super::Skyline;

/// Returns the first instant from `after` on at which a best placement of `width` processors is free for `duration`,
/// if the reservations `held` exist.
fn earliest(instance: &Instance, pools: &[ProcSet], held: &[Reservation], question: (u32, i64, i64)) -> Option<i64> {
    let (width, duration, after) = question;
    let platform = instance.platform();
    let free = |pool: usize, now: i64| {
        let at = Time::from_ticks(now);
        let first = pools[pool].iter().next().unwrap();
        let mut closed = instance.unavailable().iter().filter(|period| period.start <= at && at < period.end);
        let holding = held.iter().filter(|held| held.start <= at && at < held.end);
        let taken: u32 = holding.map(|held| held.parts().unwrap()[pool]).sum();
        if closed.any(|period| period.processors.contains(first)) { 0 } else { pools[pool].len() - taken }
    };
    (after..500).find(|&start| {
        let least = |pool: usize| (start..start + duration).map(|now| free(pool, now)).min().unwrap();
        let mut nodes = vec![0; platform.nodes().len()];
        for (pool, processors) in pools.iter().enumerate() {
            nodes[platform.node_of(processors.iter().next().unwrap())] += least(pool);
        }
        // If one node is large enough, a best placement is on one node. Otherwise, the placement consists of whole
        // nodes and a part of one other node. One of the whole nodes must be of the largest size. The test tries all
        // sets of whole nodes.
        let largest = platform.largest_node();
        if width <= largest {
            return nodes.iter().any(|&free| free >= width);
        }
        (0_u32..1 << nodes.len()).any(|mask| {
            let size = |node: usize| platform.nodes()[node].processors;
            let whole = || (0..nodes.len()).filter(|&node| mask >> node & 1 == 1);
            let rest = width.checked_sub(whole().map(size).sum());
            let part = |rest: u32| (0..nodes.len()).any(|node| mask >> node & 1 == 0 && nodes[node] >= rest);
            let has_largest = whole().any(|node| size(node) == largest);
            has_largest
                && whole().all(|node| nodes[node] == size(node))
                && rest.is_some_and(|rest| rest == 0 || part(rest))
        })
    })
}

proptest! {
    /// Checks best placement, which depends on more than the number of free processors at each tick.
    #[test]
    fn a_fit_is_where_a_best_placement_is_free(
        nodes in prop::collection::vec(1_u32..5, 2..4),
        questions in prop::collection::vec((1_u32..13, 1_i64..9, 0_i64..12, any::<bool>()), 1..25),
        closed in prop::collection::vec((0_u32..4, 0_i64..30, 1_i64..9), 0..3),
    ) {
        let node = |(index, &processors): (usize, &u32)| {
            Node::new(index.to_string(), processors)
        };
        let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap().requiring_compact();
        let all = platform.processors();
        let job = |(index, &(width, duration, ..)): (usize, &(u32, i64, i64, bool))| {
            let profile = Profile::rigid(1 + (width - 1) % all, Time::from_ticks(duration)).unwrap();
            Job::new(index.to_string(), profile)
        };
        let jobs = questions.iter().enumerate().map(job).collect();
        let period = |&(first, start, length): &(u32, i64, i64)| Unavailable {
            processors: ProcSet::range(first.min(all - 1), 3.min(all - 1)),
            start: Time::from_ticks(start),
            end: Time::from_ticks(start + length),
        };
        let instance = Instance::new(platform, jobs, closed.iter().map(period).collect()).unwrap();
        let mut skyline = Skyline::new(&instance);
        let pools = skyline.pools().map(<[ProcSet]>::to_vec);
        prop_assert_eq!(pools.is_some(), instance.platform().restricts_placement());
        let Some(pools) = pools else { return Ok(()) };
        let (mut tasks, mut held) = (Vec::new(), Vec::new());
        for (task, &(width, duration, after, back)) in instance.task_ids().zip(&questions) {
            if back && !held.is_empty() {
                let at = width as usize % held.len();
                tasks.swap_remove(at);
                skyline.release(&held.swap_remove(at));
            }
            let width = 1 + (width - 1) % all;
            let start = skyline.earliest_fit(width, duration, after);
            prop_assert_eq!(Some(start), earliest(&instance, &pools, &held, (width, duration, after)));
            tasks.push(task);
            held.push(skyline.hold(width, start, start + duration));
        }
        prop_assert!(held.iter().all(|held| held.parts().unwrap().iter().sum::<u32>() == held.width));
        // Place all tasks without a reservation last, in the order of the instance.
        let mut builder = ScheduleBuilder::new(&instance);
        for task in instance.task_ids().filter(|task| !tasks.contains(task)) {
            let profile = instance.profile(task);
            let (width, duration) = (profile.min_processors(), profile.shortest().ticks());
            let start = skyline.earliest_fit(width, duration, 0);
            builder.hold(task, skyline.hold(width, start, start + duration));
        }
        tasks.into_iter().zip(held).for_each(|(task, held)| builder.hold(task, held));
        prop_assert_eq!(validate(&instance, &builder.finish_from(pools)), Ok(()));
    }
}
