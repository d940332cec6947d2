//! When tasks may run on each node, with the transfers that no placement avoids.

mod phases;
mod routes;

use std::cmp::Reverse;

use phases::Phase;
use routes::Routes;

use super::spans::{Span, Times};
use crate::model::{Instance, JobId, Payload, TaskId};

/// More times of tasks on nodes, and nodes, are not looked at one by one.
const MAX_TIMES: usize = 1 << 22;
const MAX_NODES: usize = 256;
/// Rounds in which nodes are ruled out.
const ROUNDS: usize = 8;
/// Stands for a task on a node that cannot run it in time.
const NEVER: i128 = i128::MAX / 4;

/// The tasks of one compound job, each on one processor: times by kind of node, and the least times of transfers.
///
/// Of a task's predecessors those whose data cannot come from another node by an instant must have run on the task's own
/// node, where they share its processors. So the task starts on this node no earlier than the least s for which all
/// predecessors from which data arrive after s fit onto the processors of the node before s: an argument of C. H.
/// Papadimitriou and M. Yannakakis, SIAM J. Comput. 19(2), 1990, DOI 10.1137/0219021, for tasks that are not run twice. What
/// is behind a task is seen in the same way from the end. A node on which a task would be too early or too late is ruled
/// out, and earliest starts are computed again.
///
/// Where paths that part at one task join again at another, all between them runs away from the nodes of these two, with transfers on both sides,
/// or on these nodes, for which there may be too much of it. So there is a least time from the one task to the other for each pair
/// of kinds of nodes (`phases`).
#[derive(Clone, Debug)]
pub struct Reaching {
    /// When each task may begin at the earliest, and how long it is from its end to the end of all at least, whatever its node.
    heads: Vec<i128>,
    tails: Vec<i128>,
    /// For each node of the platform its kind; none of a node without processors.
    kind_of: Vec<Option<usize>>,
    /// How many nodes are of each kind, and how many processors one of them has.
    kinds: Vec<(u32, i128)>,
    /// For each task its time on each kind.
    times: Vec<i128>,
    /// Tasks, each after all that it waits for.
    order: Vec<u32>,
    /// For each task what it waits for, and what waits for it.
    before: Vec<Vec<Link>>,
    after: Vec<Vec<Link>>,
    phases: Vec<Phase>,
    /// For each task the phase that it ends, and those that it begins.
    ended: Vec<Option<usize>>,
    begun: Vec<Vec<usize>>,
}

/// Whether heads are raised, or tails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Heads,
    Tails,
}

/// The other end of an edge, and the least times of the transfer: on one node, and between two.
#[derive(Clone, Copy, Debug)]
struct Link {
    task: u32,
    near: i128,
    far: i128,
}

/// The earliest starts of tasks, and the least times from their ends to the end of all, by kind of node.
#[derive(Clone, Debug)]
pub struct Reach {
    kinds: usize,
    heads: Vec<i128>,
    tails: Vec<i128>,
}

/// What a pass over the tasks keeps.
struct Pass {
    /// Of the tasks that it has passed.
    ends: Vec<Ends>,
    /// Those of one task, kept for the memory.
    neighbours: Vec<Beside>,
}

/// A task beside another one: when its data are there from another node and from the same one, and what it takes there.
#[derive(Clone, Copy, Debug)]
struct Beside {
    elsewhere: i128,
    here: i128,
    head: i128,
    time: i128,
}

/// The earliest ends of a task: of all nodes, on which kind, and of all other nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: i128,
    kind: usize,
    second: i128,
}

impl Reach {
    /// The earliest start of a task on a kind of node, and the least time from its end to the end of all; `None` where it
    /// cannot run in time.
    pub fn of(&self, task: usize, kind: usize) -> Option<(i128, i128)> {
        let at = task * self.kinds + kind;
        let (head, tail) = (self.heads[at], self.tails[at]);
        (head < NEVER && tail < NEVER).then_some((head, tail))
    }
}

impl Reaching {
    /// `None` for jobs without edges, with tasks that may hold several processors, and of more tasks and nodes than are looked
    /// at one by one. O(tasks * nodes + nodes^2).
    pub fn new(instance: &Instance, id: JobId) -> Option<Self> {
        let job = instance.job(id);
        if instance.edges_of(id).is_empty() {
            return None;
        }
        let times = Times::new(instance);
        let tasks = job.different_tasks() as usize;
        let sequential = |task: u32| instance.profile(job.task(task)).max_processors() == 1;
        if times.nodes.len() > MAX_NODES || tasks * times.nodes.len() > MAX_TIMES || !(0..tasks as u32).all(sequential)
        {
            return None;
        }
        let column = |processor| {
            (0..tasks as u32).map(|task| times.on(job.task(task), processor).unwrap_or(NEVER)).collect::<Vec<i128>>()
        };
        let platform = instance.platform();
        let mut columns: Vec<Vec<i128>> = Vec::new();
        let mut kinds: Vec<(u32, i128)> = Vec::new();
        let mut kind_of = vec![None; platform.nodes().len()];
        for (node, processor) in &times.nodes {
            let own = column(processor);
            let processors = i128::from(platform.nodes()[*node].processors);
            let same = (0..kinds.len()).find(|&kind| kinds[kind].1 == processors && columns[kind] == own);
            let kind = same.unwrap_or_else(|| {
                columns.push(own);
                kinds.push((0, processors));
                kinds.len() - 1
            });
            kinds[kind].0 += 1;
            kind_of[*node] = Some(kind);
        }
        let routes = Routes::of(instance);
        let number = |task: TaskId| (task.0 - job.first().0) as u32;
        let link = |task: TaskId, payload: Payload| Link {
            task: number(task),
            near: routes.near(payload),
            far: routes.far(payload),
        };
        let links = |of: &dyn Fn(u32) -> Vec<Link>| (0..tasks as u32).map(of).collect::<Vec<_>>();
        let mut reaching = Self {
            heads: vec![i128::from(job.release.ticks()); tasks],
            tails: vec![0; tasks],
            kind_of,
            times: (0..tasks).flat_map(|task| columns.iter().map(move |column| column[task])).collect(),
            kinds,
            order: instance.order(id).map(number).collect(),
            before: links(&|task| {
                instance
                    .incoming(job.task(task))
                    .filter(|edge| job.has_task(edge.from))
                    .map(|edge| link(edge.from, edge.payload))
                    .collect()
            }),
            after: links(&|task| {
                instance
                    .outgoing(job.task(task))
                    .filter(|edge| job.has_task(edge.to))
                    .map(|edge| link(edge.to, edge.payload))
                    .collect()
            }),
            phases: Vec::new(),
            ended: vec![None; tasks],
            begun: vec![Vec::new(); tasks],
        };
        reaching.phases = phases::of(&reaching);
        for (number, phase) in reaching.phases.iter().enumerate() {
            reaching.ended[phase.to as usize] = Some(number);
            reaching.begun[phase.from as usize].push(number);
        }
        Some(reaching)
    }

    /// The time of a task on a kind of node.
    fn time(&self, task: usize, kind: usize) -> i128 {
        self.times[task * self.kinds.len() + kind]
    }

    /// The least time of a task.
    fn fastest(&self, task: usize) -> i128 {
        (0..self.kinds.len()).map(|kind| self.time(task, kind)).min().unwrap_or(0)
    }

    /// The same where the paths of other jobs count too: no task begins before its span.
    #[must_use]
    pub fn within(self, spans: &[Span]) -> Self {
        let heads = spans.iter().map(|span| span.head).collect();
        Self { heads, tails: spans.iter().map(|span| span.tail).collect(), ..self }
    }

    /// How many tasks the job has.
    pub fn tasks(&self) -> usize {
        self.order.len()
    }

    /// The kind of a node of the platform; none without processors.
    pub fn kind_of(&self, node: usize) -> Option<usize> {
        self.kind_of[node]
    }

    /// When tasks may run if all end by a deadline; `None` where some task then has no place. O(r e k (log d + d')) for r
    /// rounds, e edges, k kinds of nodes, d neighbours of a task and d' of them that must share its node.
    pub fn by(&self, deadline: i128) -> Option<Reach> {
        let kinds = self.kinds.len();
        let each = |own: &[i128]| own.iter().flat_map(|&one| std::iter::repeat_n(one, kinds)).collect::<Vec<i128>>();
        let (mut heads, mut tails) = (each(&self.heads), each(&self.tails));
        for at in 0..self.times.len() {
            if self.times[at] >= NEVER {
                (heads[at], tails[at]) = (NEVER, NEVER);
            }
        }
        let mut pass = Pass { ends: vec![Ends::default(); self.order.len()], neighbours: Vec::new() };
        for _ in 0..ROUNDS {
            for &task in &self.order {
                self.raise(task, Side::Heads, &mut heads, &mut pass);
            }
            for &task in self.order.iter().rev() {
                self.raise(task, Side::Tails, &mut tails, &mut pass);
            }
            let mut changed = false;
            for task in 0..self.order.len() {
                let mut possible = false;
                for at in task * kinds..(task + 1) * kinds {
                    let (head, tail) = (heads[at], tails[at]);
                    let fits = head < NEVER && tail < NEVER && head + self.times[at] + tail <= deadline;
                    changed |= !fits && (head < NEVER || tail < NEVER);
                    if !fits {
                        (heads[at], tails[at]) = (NEVER, NEVER);
                    }
                    possible |= fits;
                }
                if !possible {
                    return None;
                }
            }
            if !changed {
                break;
            }
        }
        Some(Reach { kinds, heads, tails })
    }

    /// Raises the earliest start of a task on each kind of node, by its neighbours on one side, whose `ends` are known.
    fn raise(&self, task: u32, side: Side, heads: &mut [i128], pass: &mut Pass) {
        let Pass { ends, neighbours } = pass;
        let links = if side == Side::Heads { &self.before[task as usize] } else { &self.after[task as usize] };
        let row = task as usize * self.kinds.len();
        let mut own = Ends { first: NEVER, kind: 0, second: NEVER };
        for (kind, &(nodes, processors)) in self.kinds.iter().enumerate() {
            if heads[row + kind] >= NEVER {
                continue;
            }
            neighbours.clear();
            neighbours.extend(links.iter().map(|link| self.beside(link, kind, heads, &ends[link.task as usize])));
            let head = heads[row + kind].max(Self::earliest(neighbours, processors));
            let head = head.max(self.over_phases(task as usize, kind, side, heads)).min(NEVER);
            heads[row + kind] = head;
            if head < NEVER {
                let end = head + self.times[row + kind];
                if end < own.first {
                    // A second node of this kind is as good.
                    own = Ends { first: end, kind, second: if nodes > 1 { end } else { own.first } };
                } else {
                    own.second = own.second.min(end);
                }
            }
        }
        ends[task as usize] = own;
    }

    /// No earlier than this may a task start on a kind of node by the phases on this side of it.
    fn over_phases(&self, task: usize, kind: usize, side: Side, heads: &[i128]) -> i128 {
        let end = |task: u32, kind: usize| {
            let head = heads[task as usize * self.kinds.len() + kind];
            if head < NEVER { head + self.time(task as usize, kind) } else { NEVER }
        };
        let own = match side {
            Side::Heads => self.ended[task].as_slice(),
            Side::Tails => &self.begun[task],
        };
        let each = own.iter().map(|&number| &self.phases[number]).map(|phase| match side {
            Side::Heads => phase.after(kind, &self.kinds, |other| end(phase.from, other)),
            Side::Tails => phase.before(kind, &self.kinds, |other| end(phase.to, other)),
        });
        each.max().unwrap_or(0)
    }

    /// What a neighbour means for a task on a kind of node.
    fn beside(&self, link: &Link, kind: usize, heads: &[i128], ends: &Ends) -> Beside {
        let at = link.task as usize * self.kinds.len() + kind;
        let elsewhere = if ends.kind == kind { ends.second } else { ends.first };
        let here = if heads[at] < NEVER { heads[at] + self.times[at] } else { NEVER };
        Beside { elsewhere: elsewhere + link.far, here: here + link.near, head: heads[at], time: self.times[at] }
    }

    /// The least instant at which all data are there: of some neighbours from other nodes, and the others, whose data arrive
    /// later, have run here, on so many processors.
    fn earliest(neighbours: &mut [Beside], processors: i128) -> i128 {
        neighbours.sort_unstable_by_key(|other| (Reverse(other.elsewhere), other.head, other.time));
        let (mut best, mut here) = (NEVER, 0);
        for count in 0..=neighbours.len() {
            let rest = neighbours.get(count).map_or(0, |next| next.elsewhere);
            best = best.min(here.max(rest));
            // Those of the front, which run here, stay sorted by the earliest start.
            let Some(next) = neighbours.get(count).filter(|next| here < best && next.head < NEVER) else { break };
            here = here.max(next.here);
            let place = neighbours[..count].partition_point(|other| other.head <= next.head);
            neighbours[place..=count].rotate_right(1);
            let mut work = 0;
            for other in neighbours[..=count].iter().rev() {
                work += other.time;
                here = here.max(other.head + (work + processors - 1) / processors);
            }
        }
        best
    }
}
