use makespan_core::{Edge, Graph, Instance, Job, JobId, NamedTask, Node, Payload, Platform, Profile, Time};
use proptest::prelude::*;

use super::super::frame::Frame;
use super::*;
use crate::kernel::graph::placing::calendars;
use crate::kernel::graph::{GraphProblem, TaskPlace};

/// Returns an instance of tasks and edges. `times` contains the time of each task on each machine, or `None` if the
/// machine cannot run the task. The transfer time of an edge does not depend on the machines.
fn instance(times: &[Vec<Option<i64>>], edges: &[(u32, u32, i64)]) -> Instance {
    let machines = times[0].len();
    let node = |at: usize| Node::new(at.to_string(), 1);
    let platform = Platform::new((0..machines).map(node).collect()).unwrap();
    let task = |(at, times): (usize, &Vec<Option<i64>>)| {
        let times: Vec<Time> = times.iter().map(|time| time.map_or(Profile::CANNOT_RUN, Time::from_ticks)).collect();
        NamedTask::new(at.to_string(), Profile::on_machines(times).unwrap())
    };
    let edge = |&(from, to, time): &(u32, u32, i64)| Edge { from, to, payload: Payload::Fixed(Time::from_ticks(time)) };
    let graph = Graph::new(times.iter().enumerate().map(task).collect(), edges.iter().map(edge).collect()).unwrap();
    Instance::new(platform, vec![Job::compound("j", graph)], vec![]).unwrap()
}

/// Finds all schedules that end in time and keep the places in `draft`. Places one task after another.
fn all(
    frame: &Frame,
    end: i64,
    given: &[Option<TaskPlace>],
    places: &mut Vec<TaskPlace>,
    found: &mut Vec<Vec<TaskPlace>>,
) {
    let task = places.len() as u32;
    if places.len() == frame.tasks() {
        found.push(places.clone());
        return;
    }
    for processor in frame.problem().processor_ids() {
        let time = frame.time_on(task, processor);
        if time == NEVER {
            continue;
        }
        let data = frame.incoming(task).map(|from| {
            let place = places[from.task as usize];
            place.start
                + frame.time_on(from.task, place.processor)
                + frame.transfer(from.edge, place.processor, processor)
        });
        for start in data.fold(0, i64::max)..=end - time {
            let place = TaskPlace { processor, start };
            let is_free = |(other, at): (usize, &TaskPlace)| {
                let until = at.start + frame.time_on(other as u32, at.processor);
                at.processor != processor || until <= start || start + time <= at.start
            };
            let kept = given.is_empty() || given[task as usize].is_none_or(|given| given == place);
            if kept && places.iter().enumerate().all(is_free) {
                places.push(place);
                all(frame, end, given, places, found);
                places.pop();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_schedule_is_excluded(
        times in (1_usize..4).prop_flat_map(|machines| proptest::collection::vec(
            proptest::collection::vec(prop_oneof![1 => Just(None), 2 => (1_i64..4).prop_map(Some)], machines), 2..5)),
        pairs in proptest::collection::btree_map((0_u32..4, 0_u32..4), 0_i64..4, 0..5),
        (end, pick, placed) in (3_i64..7, any::<prop::sample::Index>(), 0_u32..16),
    ) {
        let times: Vec<Vec<Option<i64>>> = times.into_iter().map(|mut row| {
            // Make sure that each task can run on some machine.
            if row.iter().all(Option::is_none) { row[0] = Some(2) }
            row
        }).collect();
        let count = times.len() as u32;
        let edges: Vec<(u32, u32, i64)> = pairs.into_iter()
            .filter(|((a, b), _)| a < b && *b < count).map(|((a, b), time)| (a, b, time)).collect();
        let instance = instance(&times, &edges);
        let problem = GraphProblem::new(&instance);
        let frame = Frame::new(&instance, &problem, JobId(0), false);
        let (mut found, mut empty) = (Vec::new(), Vec::new());
        all(&frame, end, &[], &mut empty, &mut found);
        prop_assume!(!found.is_empty());
        let base = found[pick.index(found.len())].clone();
        let mut draft = Draft::new(&frame, calendars(&problem));
        let given: Vec<Option<TaskPlace>> =
            (0..count).map(|task| (placed >> task & 1 == 1).then(|| base[task as usize])).collect();
        for (task, place) in (0..count).zip(&given) {
            place.iter().for_each(|&place| draft.put_on(task, place));
        }
        let open: Vec<u32> = (0..count).filter(|&task| !draft.is_placed(task)).collect();
        let span = PlanningLimits { end, room: TransferRoom::Least, run: &open };
        let windows = draft.windows(&open, &span);
        let ends = |&task: &u32| -> Vec<Vec<(i64, i64)>> {
            (0..problem.processors() as u32).map(|machine| draft.ends(task, machine, &windows, &span)).collect()
        };
        let ends: Vec<_> = open.iter().map(ends).collect();
        let mut extending = Vec::new();
        all(&frame, end, &given, &mut empty, &mut extending);
        for schedule in extending {
            for (&task, ends) in open.iter().zip(&ends) {
                let TaskPlace { processor, start } = schedule[task as usize];
                let until = start + frame.time_on(task, processor);
                prop_assert!(windows.earliest_start(task) <= start, "{task} starts at {start}");
                prop_assert!(until <= windows.latest_end(task), "{task} ends at {until}");
                let ends = &ends[processor.index()];
                prop_assert!(ends.iter().any(|&(first, last)| first <= until && until <= last), "{ends:?} {until}");
            }
        }
    }
}
