//! Compares insertion with a reference implementation that counts instant by instant.

use makespan_core::{
    Instance, Job, Need, Needs, Node, Platform, ProcSet, Profile, Resources, Time, Unavailable, validate,
};
use proptest::prelude::*;

use super::{Inserter, NodeSet};
use crate::kernel::packing::{ListEntry, Packing};

/// An instant after which nothing is closed and no task runs.
const HORIZON: usize = 160;

#[derive(Clone, Debug)]
struct DraftJob {
    width: u32,
    /// The time at speed 1, in twelfths of a tick.
    time: i64,
    release: i64,
    memory: (u64, u64),
    licence: u64,
    budget: u64,
    after: Option<usize>,
}

/// A node: its number of processors, its memory and its speed.
type DraftNode = (u32, u64, u32);

fn instance(
    nodes: &[DraftNode],
    jobs: &[DraftJob],
    closed: Option<(u32, i64, i64)>,
    compact: bool,
) -> Option<Instance> {
    let node = |(at, &(processors, memory, speed)): (usize, &DraftNode)| Node {
        resources: Resources::new([("memory", memory)]).unwrap(),
        speed: f64::from(speed),
        ..Node::new(format!("n{at}"), processors)
    };
    let job = |(at, job): (usize, &DraftJob)| {
        let memory = Need::Linear { whole: job.memory.0, per_processor: job.memory.1 };
        let needs = [("memory", memory), ("licence", Need::whole(job.licence)), ("budget", Need::whole(job.budget))];
        let needs = Needs::new(needs.into_iter().filter(|(_, need)| !need.is_nothing())).unwrap();
        let profile = Profile::rigid(job.width, Time::from_ticks(12 * job.time)).unwrap();
        let after = job.after.filter(|&before| before < at).map(|before| before.to_string());
        let job = Job::new(at.to_string(), profile).with_needs(needs).with_release(Time::from_ticks(job.release));
        job.with_after(after.into_iter().collect::<Vec<String>>())
    };
    let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap();
    let platform = platform.with_licences(Resources::new([("licence", 2)]).unwrap()).unwrap();
    let platform = platform.with_consumables(Resources::new([("budget", 4)]).unwrap()).unwrap();
    let platform = if compact { platform.requiring_compact() } else { platform };
    let last = platform.processors() - 1;
    let closed = closed.map(|(id, start, length)| Unavailable {
        processors: ProcSet::range(id.min(last), id.min(last)),
        start: Time::from_ticks(start),
        end: Time::from_ticks(start + length),
    });
    Instance::new(platform, jobs.iter().enumerate().map(job).collect(), closed.into_iter().collect()).ok()
}

/// The remaining amounts at each instant.
struct Naive<'a> {
    nodes: &'a [DraftNode],
    compact: bool,
    /// For each instant and node, two numbers of free processors: first for the processor that closes, then for all
    /// others.
    free: Vec<Vec<[u32; 2]>>,
    memory: Vec<Vec<u64>>,
    licence: Vec<u64>,
    budget: Vec<u64>,
}

impl<'a> Naive<'a> {
    fn new(nodes: &'a [DraftNode], closed: Option<(u32, i64, i64)>, compact: bool) -> Self {
        let mut free: Vec<[u32; 2]> = nodes.iter().map(|node| [0, node.0]).collect();
        let total: u32 = nodes.iter().map(|node| node.0).sum();
        let mut closes = None;
        if let Some((id, start, length)) = closed {
            let (mut at, mut id) = (0, id.min(total - 1));
            while id >= nodes[at].0 {
                id -= nodes[at].0;
                at += 1;
            }
            free[at] = [1, nodes[at].0 - 1];
            closes = Some((at, start, start + length));
        }
        let mut free = vec![free; HORIZON];
        if let Some((node, start, end)) = closes {
            (start..end).for_each(|at| free[at as usize][node][0] = 0);
        }
        let memory = vec![nodes.iter().map(|node| node.1).collect(); HORIZON];
        Self { nodes, compact, free, memory, licence: vec![2; HORIZON], budget: vec![4; HORIZON] }
    }

    /// Returns the maximum number of processors of a node that a job can have in a period.
    fn room(&self, node: usize, job: &DraftJob, from: usize, until: usize) -> u32 {
        let least = |cell: usize| (from..until).map(|at| self.free[at][node][cell]).min().unwrap();
        let memory = (from..until).map(|at| self.memory[at][node]).min().unwrap();
        let share = |here: u32| share(job, here);
        (0..=(least(0) + least(1)).min(job.width)).rev().find(|&here| share(here) <= memory).unwrap()
    }

    /// Returns whether the job fits on these nodes from an instant on.
    fn fits(&self, job: &DraftJob, nodes: &[usize], from: usize, length: usize) -> bool {
        let until = from + length;
        let licence = (from..until).all(|at| self.licence[at] >= job.licence);
        let budget = self.budget[from..].iter().all(|&left| left >= job.budget);
        let rooms: Vec<u32> = nodes.iter().map(|&node| self.room(node, job, from, until)).collect();
        licence
            && budget
            && if self.compact { self.is_compact(job, nodes, &rooms) } else { rooms.iter().sum::<u32>() >= job.width }
    }

    /// Returns whether the placement is a best placement. If one node is large enough, the placement must be on one
    /// node. Otherwise, it must use whole nodes, one of the largest among them, and a part of at most one more node.
    fn is_compact(&self, job: &DraftJob, nodes: &[usize], rooms: &[u32]) -> bool {
        let largest = self.nodes.iter().map(|node| node.0).max().unwrap();
        if job.width <= largest {
            return rooms.iter().any(|&room| room >= job.width);
        }
        (0..1_u32 << nodes.len()).any(|bits| {
            let whole = (0..nodes.len()).filter(|at| bits & (1 << at) != 0);
            let all_free = whole.clone().all(|at| rooms[at] == self.nodes[nodes[at]].0);
            let sum: u32 = whole.map(|at| self.nodes[nodes[at]].0).sum();
            let others = (0..nodes.len()).filter(|at| bits & (1 << at) == 0);
            let mut whole = (0..nodes.len()).filter(|at| bits & (1 << at) != 0);
            all_free
                && whole.any(|at| self.nodes[nodes[at]].0 == largest)
                && sum <= job.width
                && (sum == job.width || others.into_iter().any(|at| rooms[at] >= job.width - sum))
        })
    }

    /// Returns the end and the start of the best place. The earliest end is best, then the earliest start. Several
    /// nodes are used only if they end earlier than one node. The fastest nodes are tried first.
    fn best(&self, job: &DraftJob, ready: i64) -> (i64, i64) {
        let all: Vec<usize> = (0..self.nodes.len()).collect();
        let first = |nodes: &[usize], speed: u32| {
            let length = (12 * job.time / i64::from(speed)) as usize;
            let start = (ready as usize..HORIZON - length).find(|&at| self.fits(job, nodes, at, length));
            start.map_or((i64::MAX, i64::MAX), |start| ((start + length) as i64, start as i64))
        };
        let mut best = all.iter().map(|&node| first(&[node], self.nodes[node].2)).min().unwrap();
        for slowest in (1..4).rev() {
            let fast: Vec<usize> = all.iter().copied().filter(|&node| self.nodes[node].2 >= slowest).collect();
            let together = if fast.is_empty() { best } else { first(&fast, slowest) };
            if together.0 < best.0 {
                best = together;
            }
        }
        best
    }
}

fn share(job: &DraftJob, here: u32) -> u64 {
    (job.memory.0 * u64::from(here)).div_ceil(job.width.into()) + job.memory.1 * u64::from(here)
}

fn draft_job() -> impl Strategy<Value = DraftJob> {
    let needs = ((0_u64..5, 0_u64..3), prop_oneof![3 => Just(0_u64), 1 => 1..=2_u64], 0_u64..2);
    let after = proptest::option::weighted(0.3, 0_usize..4);
    (1_u32..5, 1_i64..3, prop_oneof![Just(0), 0_i64..20], needs, after).prop_map(
        |(width, time, release, (memory, licence, budget), after)| DraftJob {
            width,
            time,
            release,
            memory,
            licence,
            budget,
            after,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Checks that each task of a list ends as early as in the reference implementation, given the places of all tasks
    /// before it in the list. The schedule must be valid. The nodes to which a task is restricted are tried first.
    #[test]
    fn each_task_ends_where_it_ends_first(
        nodes in proptest::collection::vec((1_u32..4, 2_u64..9, 1_u32..4), 1..4),
        jobs in proptest::collection::vec(draft_job(), 1..7),
        closed in proptest::option::of((0_u32..9, 0_i64..40, 1_i64..30)),
        compact in proptest::bool::weighted(0.3), order in any::<u64>(), told in any::<u32>(),
    ) {
        let Some(instance) = instance(&nodes, &jobs, closed, compact) else { return Ok(()) };
        let Ok(packing) = Packing::new(&instance) else { return Ok(()) };
        let list: Vec<ListEntry> = packing.list(&packing.fewest(), |row| ((order >> (8 * row.index())) & 7) as f64);
        let mut inserter = Inserter::new(&packing, 0);
        let mut placed: Vec<usize> = Vec::new();
        if inserter.run(&list, &[], |place, _| { placed.push(place); true }).is_err() {
            // A list fails only if the consumables are insufficient.
            let used: u64 = jobs.iter().map(|job| job.budget).sum();
            prop_assert!(used > 4);
            return Ok(());
        }
        let schedule = inserter.schedule(&list);
        prop_assert_eq!(validate(&instance, &schedule), Ok(()));
        let mut naive = Naive::new(&nodes, closed, compact);
        let mut ends = vec![0; jobs.len()];
        for &place in &placed {
            let at = list[place].task.index();
            let job = &jobs[at];
            let before = job.after.filter(|&before| before < at).map_or(0, |before| ends[before]);
            let (end, start) = naive.best(job, job.release.max(before));
            prop_assert_eq!((inserter.ends()[place], inserter.starts()[place]), (end, start), "{:?}", placed);
            ends[at] = end;
            let (from, until) = (start as usize, end as usize);
            let own = schedule.placements().iter().find(|one| one.task == list[place].task).unwrap();
            for (node, here) in instance.platform().parts(&own.processors) {
                let ids = own.processors.intersection(&instance.platform().processors_of(node));
                // Find out whether the task uses the processor that closes.
                let total: u32 = nodes.iter().map(|node| node.0).sum();
                let closing = closed.map_or(0, |(id, ..)| u32::from(ids.contains(id.min(total - 1))));
                for instant in from..until {
                    naive.memory[instant][node] -= share(job, here);
                    naive.free[instant][node][0] -= closing;
                    naive.free[instant][node][1] -= here - closing;
                }
            }
            (from..until).for_each(|at| naive.licence[at] -= job.licence);
            (from..HORIZON).for_each(|at| naive.budget[at] -= job.budget);
        }
        // A task that is restricted to some nodes runs on these nodes if it can.
        let sites: Vec<NodeSet> = jobs.iter().map(|_| inserter.sites().at(told % inserter.sites().count())).collect();
        if inserter.run(&list, &sites, |_, _| true).is_ok() {
            prop_assert_eq!(validate(&instance, &inserter.schedule(&list)), Ok(()));
        }
    }
}
