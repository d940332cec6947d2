//! Compares schedules of lists with a direct application of the rule.

use makespan_core::{Instance, Job, Need, Needs, Node, Platform, Profile, Resources, Schedule, Time, validate};
use proptest::prelude::*;

use super::{ListEntry, Packer, Packing};

/// Width, time, release, and two amounts of memory: in total and for each processor.
type Row = (u32, i64, i64, u64, u64);

fn instance(nodes: &[(u32, u64)], rows: &[Row]) -> Option<Instance> {
    let node = |(at, &(processors, memory)): (usize, &(u32, u64))| Node {
        resources: Resources::new([("memory", memory)]).unwrap(),
        ..Node::new(format!("n{at}"), processors)
    };
    let job = |(at, &(width, time, release, whole, per_processor)): (usize, &Row)| {
        let needs = Needs::new([("memory", Need::Linear { whole, per_processor })]).unwrap();
        let job = Job::new(at.to_string(), Profile::rigid(width, Time::from_ticks(time)).unwrap());
        job.with_needs(needs).with_release(Time::from_ticks(release))
    };
    let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap();
    Instance::new(platform, rows.iter().enumerate().map(job).collect(), vec![]).ok()
}

/// Returns whether a task fits on the nodes together. `held` contains the processors and the memory that are in use on
/// each node.
fn fits(nodes: &[(u32, u64)], held: &[(u32, u64)], row: &Row) -> bool {
    let &(width, _, _, whole, each) = row;
    let most = nodes.iter().zip(held).map(|(node, held)| {
        let share = |here: u32| (whole * u64::from(here)).div_ceil(width.into()) + each * u64::from(here);
        (0..=(node.0 - held.0).min(width)).filter(|&here| share(here) <= node.1 - held.1).max().unwrap_or(0)
    });
    most.sum::<u32>() >= width
}

/// Returns the amounts that running tasks hold on each node at an instant. If a task starts at this instant, it is
/// included only if it comes before position `place` of the list.
fn held(
    instance: &Instance,
    nodes: usize,
    rows: &[Row],
    schedule: &Schedule,
    at: i64,
    before: usize,
) -> Vec<(u32, u64)> {
    let mut held = vec![(0, 0); nodes];
    for one in schedule.placements() {
        let runs = one.start.ticks() < at || (one.start.ticks() == at && one.task.index() < before);
        if !runs || one.end.ticks() <= at {
            continue;
        }
        let (width, .., whole, each) = rows[one.task.index()];
        for (node, here) in instance.platform().parts(&one.processors) {
            held[node].0 += here;
            held[node].1 += (whole * u64::from(here)).div_ceil(width.into()) + each * u64::from(here);
        }
    }
    held
}

proptest! {
    /// Checks each waiting task. Either it does not fit, or an earlier waiting task that needs no more does not fit.
    #[test]
    fn nobody_waits_without_a_reason(
        nodes in proptest::collection::vec((1_u32..4, 2_u64..9), 1..4),
        rows in proptest::collection::vec((1_u32..5, 1_i64..6, 0_i64..6, 0_u64..9, 0_u64..3), 1..9),
    ) {
        let Some(instance) = instance(&nodes, &rows) else { return Ok(()) };
        let packing = Packing::new(&instance).unwrap();
        let choices = packing.fewest();
        let list: Vec<ListEntry> = packing.list(&choices, |_| 0.0);
        let mut packer = Packer::new(&packing);
        packer.run(&list, 0, false).unwrap();
        let schedule = packer.schedule(&list);
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        let starts = packer.starts();
        let asked = |row: &Row| (row.0, row.3.div_ceil(row.0.into()) + row.4);
        for (place, row) in rows.iter().enumerate() {
            for at in row.2..starts[place] {
                let waits = |other: &usize| rows[*other].2 <= at && at < starts[*other];
                let speaks = |other: usize| {
                    let (mine, other) = (asked(row), asked(&rows[other]));
                    other.0 <= mine.0 && other.1 <= mine.1
                };
                if (0..place).filter(waits).any(speaks) {
                    continue;
                }
                let held = held(&instance, nodes.len(), &rows, &schedule, at, place);
                prop_assert!(!fits(&nodes, &held, row), "{} waits at {}", place, at);
            }
        }
    }
}
