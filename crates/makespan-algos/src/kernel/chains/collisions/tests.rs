use makespan_core::JobId;
use proptest::prelude::*;

use super::super::tests::instance;
use super::*;
use crate::kernel::graph::GraphProblem;
use crate::kernel::graph::placing::calendars;

proptest! {
    /// Checks that a task keeps its planned place if the place is free and the data of the task have arrived. Other
    /// tasks may collide.
    #[test]
    fn what_does_not_collide_is_never_moved(
        (volumes, pairs) in (2_usize..8).prop_flat_map(|tasks| (
            proptest::collection::vec(1_i64..40, tasks),
            proptest::collection::btree_map((0..tasks as u32, 0..tasks as u32), 0_u64..15, 0..8),
        )),
        speeds in proptest::collection::vec(1_u32..3, 2..5),
        closed in proptest::collection::vec((0_u32..2, 0_i64..100, 1_i64..20), 0..3),
        wanted in proptest::collection::vec((0_u32..5, 0_i64..8), 8),
        (end, mean) in (100_i64..400, any::<bool>()),
    ) {
        let edges: Vec<(u32, u32, u64)> =
            pairs.into_iter().filter(|((a, b), _)| a < b).map(|((a, b), data)| (a, b, data)).collect();
        let closed: Vec<(u32, i64, i64)> = closed.into_iter().map(|(p, from, long)| (p, from, from + long)).collect();
        let instance = instance(&volumes, &edges, &speeds, &closed);
        let problem = GraphProblem::new(&instance);
        let frame = Frame::new(&instance, &problem, JobId(0), false);
        let calendars = calendars(&problem);
        let count = speeds.len() as u32;
        // Draw starts from few values, so that equal starts are frequent.
        let planned: Vec<TaskPlace> =
            (0..volumes.len()).map(|task| TaskPlace { processor: ProcessorId(wanted[task].0 % count), start: 10 * wanted[task].1 }).collect();
        let room = if mean { TransferRoom::Mean } else { TransferRoom::Least };
        let penalties = Penalties::default();
        let resolution = Resolution { chosen: &frame, real: &frame, end, room, penalties: &penalties };
        let (draft, collisions) = resolve(&resolution, calendars.clone(), &planned);
        let interval = |task: usize| {
            let place = planned[task];
            (place.start, place.start + frame.time_on(task as u32, place.processor))
        };
        for task in 0..volumes.len() {
            let ((start, end), place) = (interval(task), planned[task]);
            let apart = (0..volumes.len()).all(|other| {
                let (from, until) = interval(other);
                other == task || planned[other].processor != place.processor || until <= start || end <= from
            });
            let free = calendars[place.processor.index()].fits(1, start, end - start);
            let data = draft.arrival(task as u32, place.processor) <= start;
            let logged = collisions.iter().any(|collision| collision.task == task as u32);
            if apart && free && data {
                prop_assert_eq!(draft.place(task as u32), Some(place));
                prop_assert!(!logged);
            }
            // Every task in the list of collisions was moved.
            prop_assert!(!logged || draft.place(task as u32) != Some(place));
        }
    }

    /// Checks that no task collides if tasks are planned on types and each task can have a processor.
    #[test]
    fn a_type_with_enough_processors_has_no_collisions(
        volumes in proptest::collection::vec(1_i64..40, 2..8),
        starts in proptest::collection::vec(0_i64..60, 8),
        wanted in proptest::collection::vec(0_usize..2, 8),
        count in 1_usize..4,
    ) {
        let speeds: Vec<u32> = [vec![1; count], vec![2; count]].concat();
        let instance = instance(&volumes, &[], &speeds, &[]);
        let problem = GraphProblem::new(&instance);
        let real = Frame::new(&instance, &problem, JobId(0), false);
        let chosen = Frame::new(&instance, &problem, JobId(0), true);
        let planned: Vec<TaskPlace> = (0..volumes.len())
            .map(|task| TaskPlace { processor: chosen.machines()[wanted[task] % chosen.machines().len()], start: starts[task] })
            .collect();
        let runs_at = |task: usize, time: i64| {
            planned[task].start <= time && time < planned[task].start + real.time_on(task as u32, planned[task].processor)
        };
        let crowded = (0..volumes.len()).any(|task| {
            let alike = |&other: &usize| planned[other].processor == planned[task].processor;
            (0..volumes.len()).filter(alike).filter(|&other| runs_at(other, planned[task].start)).count() > count
        });
        let penalties = Penalties::default();
        let resolution = Resolution { chosen: &chosen, real: &real, end: 400, room: TransferRoom::Least, penalties: &penalties };
        let (draft, collisions) = resolve(&resolution, calendars(&problem), &planned);
        if !crowded {
            prop_assert!(collisions.is_empty(), "{collisions:?}");
            let kept = |task: usize| draft.place(task as u32).is_some_and(|place| {
                place.start == planned[task].start && real.time_on(task as u32, place.processor) == real.time_on(task as u32, planned[task].processor)
            });
            prop_assert!((0..volumes.len()).all(kept));
        }
    }
}
