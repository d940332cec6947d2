//! Computes, for each task and node, the earliest start of the task, and the minimum time from its end to the end of
//! the job. Both values include the transfers that no placement can avoid.

mod phases;
mod routes;

use std::cmp::Reverse;

use phases::Phase;
use routes::Routes;

use super::spans::{NodeTimes, TaskSpan};
use makespan_core::{Instance, JobId, Payload, TaskId};

/// A job is examined only if it has at most `MAX_TIMES` pairs of a task and a kind of node, and if the platform has at
/// most `MAX_NODES` nodes.
const MAX_TIMES: usize = 1 << 22;
const MAX_NODES: usize = 256;
/// Maximum number of rounds. Each round excludes nodes on which a task cannot meet the deadline.
const ROUNDS: usize = 8;
/// The value that marks a node on which a task cannot run by the deadline.
const NEVER: i128 = i128::MAX / 4;

/// The tasks of one compound job, each on one processor: their times by kind of node, and the minimum times of
/// transfers between them.
///
/// Consider a node on which a task may run, and an instant s. If the data of a predecessor cannot arrive from another
/// node by s, the predecessor must run on this node before s. These predecessors share the processors of the node. So
/// the task starts on this node no earlier than the smallest s for which these predecessors fit onto the processors of
/// the node. This argument is from C. H. Papadimitriou and M. Yannakakis, SIAM J. Comput. 19(2), 1990, DOI
/// 10.1137/0219021. In contrast to the source, tasks are not duplicated here. The check applies the same argument to
/// the successors of a task, backwards from the end. If a task cannot meet the deadline on a node, the node is excluded
/// for this task. Then the earliest starts are computed again.
///
/// Consider paths that begin at a common first task and meet again at a common last task. The time between these two
/// tasks has a minimum, which depends on the kinds of their nodes (module `phases`). A task between these two tasks
/// runs on the node of one of them, or on another node. In the first case, the task shares the processors of this node
/// with other tasks. In the second case, data are transferred before and after the run of the task.
#[derive(Clone, Debug)]
pub struct JobReach {
    /// The earliest start of each task on any node.
    heads: Vec<i128>,
    /// The minimum time from the end of each task to the end of the job.
    tails: Vec<i128>,
    /// The kind of each node of the platform; `None` for a node without processors.
    kind_of: Vec<Option<usize>>,
    /// For each kind, the number of its nodes, and the number of processors of one node.
    kinds: Vec<(u32, i128)>,
    /// The time of each task on each kind of node, by task and then kind.
    times: Vec<i128>,
    /// The tasks, each after the tasks that it waits for.
    order: Vec<u32>,
    /// The predecessors of each task.
    before: Vec<Vec<Link>>,
    /// The successors of each task.
    after: Vec<Vec<Link>>,
    phases: Vec<Phase>,
    /// For each task, the phase that ends with this task.
    ended: Vec<Option<usize>>,
    /// For each task, the phases that begin with this task.
    begun: Vec<Vec<usize>>,
}

/// The values that a pass raises: heads (earliest starts) or tails (times to the end of the job).
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassDirection {
    Heads,
    Tails,
}

/// A neighbour of a task, and the minimum times of the transfer between the two tasks.
#[derive(Clone, Copy, Debug)]
struct Link {
    task: u32,
    /// Minimum time of the transfer within one node.
    near: i128,
    /// Minimum time of the transfer between two nodes.
    far: i128,
}

/// The earliest starts of tasks, and the minimum times from their ends to the end of the job, by kind of node.
#[derive(Clone, Debug)]
pub struct Reach {
    kinds: usize,
    heads: Vec<i128>,
    tails: Vec<i128>,
}

/// The state of a pass over the tasks, in one direction.
struct Pass {
    /// The earliest ends of the tasks that the pass has visited.
    ends: Vec<Ends>,
    /// The neighbours of one task. The list is reused for every task, to avoid allocation.
    neighbours: Vec<Neighbour>,
}

/// The arrival of a neighbour's data at a task, and the earliest start and the run time of the neighbour. These values
/// depend on the kind of the node on which the task runs.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    /// Arrival of the neighbour's data if the neighbour runs on another node.
    elsewhere: i128,
    /// Arrival of the neighbour's data if the neighbour runs on the task's node.
    here: i128,
    /// Earliest start of the neighbour on the task's node.
    head: i128,
    /// Time of the neighbour on the task's node.
    time: i128,
}

/// The earliest end of a task on any node, the kind of this node, and the earliest end on any other node.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: i128,
    kind: usize,
    second: i128,
}

impl Reach {
    /// Returns the earliest start of a task on a kind of node, and the minimum time from its end to the end of the
    /// job. Returns `None` if the task cannot run on this kind of node by the deadline.
    pub fn of(&self, task: usize, kind: usize) -> Option<(i128, i128)> {
        let at = task * self.kinds + kind;
        let (head, tail) = (self.heads[at], self.tails[at]);
        (head < NEVER && tail < NEVER).then_some((head, tail))
    }
}

impl JobReach {
    /// Collects the tasks and edges of a job. Returns `None` if the job has no edges, has tasks that may hold several
    /// processors, or exceeds `MAX_TIMES` or `MAX_NODES`. Takes O(tasks * nodes + nodes^2).
    pub fn new(instance: &Instance, id: JobId) -> Option<Self> {
        let job = instance.job(id);
        if instance.edges_of(id).is_empty() {
            return None;
        }
        let times = NodeTimes::new(instance);
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

    /// Returns the time of a task on a kind of node.
    fn time(&self, task: usize, kind: usize) -> i128 {
        self.times[task * self.kinds.len() + kind]
    }

    /// Returns the minimum time of a task.
    fn fastest(&self, task: usize) -> i128 {
        (0..self.kinds.len()).map(|kind| self.time(task, kind)).min().unwrap_or(0)
    }

    /// Raises the earliest starts of the tasks, and their minimum times to the end of the job, to the values of the
    /// spans. Spans include paths through other jobs.
    #[must_use]
    pub fn within(self, spans: &[TaskSpan]) -> Self {
        let heads = spans.iter().map(|span| span.head).collect();
        Self { heads, tails: spans.iter().map(|span| span.tail).collect(), ..self }
    }

    /// Returns the number of tasks of the job.
    pub fn tasks(&self) -> usize {
        self.order.len()
    }

    /// Returns the kind of a node of the platform, or `None` for a node without processors.
    pub fn kind_of(&self, node: usize) -> Option<usize> {
        self.kind_of[node]
    }

    /// Returns the earliest starts of all tasks, and their minimum times to the end of the job, if all tasks end by the
    /// deadline. Returns `None` if some task cannot end by the deadline. Let r be the number of rounds, e the number of
    /// edges and k the number of kinds of nodes. Each task has at most d neighbours, and at most d' of them must share
    /// its node. Takes O(r e k (log d + d')).
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
                self.raise(task, PassDirection::Heads, &mut heads, &mut pass);
            }
            for &task in self.order.iter().rev() {
                self.raise(task, PassDirection::Tails, &mut tails, &mut pass);
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

    /// Raises the earliest start of a task on each kind of node, based on the earliest ends of its predecessors. If
    /// `side` is [`PassDirection::Tails`], raises the time from the end of the task to the end of the job, based on its
    /// successors. `pass` contains the ends of the predecessors or successors.
    fn raise(&self, task: u32, side: PassDirection, heads: &mut [i128], pass: &mut Pass) {
        let Pass { ends, neighbours } = pass;
        let links = if side == PassDirection::Heads { &self.before[task as usize] } else { &self.after[task as usize] };
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
                    // If there is a second node of this kind, the task can end on that node just as early.
                    own = Ends { first: end, kind, second: if nodes > 1 { end } else { own.first } };
                } else {
                    own.second = own.second.min(end);
                }
            }
        }
        ends[task as usize] = own;
    }

    /// Returns a lower bound on the start of a task on a kind of node, from the phases that end at the task. In a
    /// backward pass, uses the phases that begin at the task instead.
    fn over_phases(&self, task: usize, kind: usize, side: PassDirection, heads: &[i128]) -> i128 {
        let end = |task: u32, kind: usize| {
            let head = heads[task as usize * self.kinds.len() + kind];
            if head < NEVER { head + self.time(task as usize, kind) } else { NEVER }
        };
        let own = match side {
            PassDirection::Heads => self.ended[task].as_slice(),
            PassDirection::Tails => &self.begun[task],
        };
        let each = own.iter().map(|&number| &self.phases[number]).map(|phase| match side {
            PassDirection::Heads => phase.after(kind, &self.kinds, |other| end(phase.from, other)),
            PassDirection::Tails => phase.before(kind, &self.kinds, |other| end(phase.to, other)),
        });
        each.max().unwrap_or(0)
    }

    /// Returns the data arrivals, the earliest start and the run time of a neighbour, for a task on a node of this
    /// kind.
    fn beside(&self, link: &Link, kind: usize, heads: &[i128], ends: &Ends) -> Neighbour {
        let at = link.task as usize * self.kinds.len() + kind;
        let elsewhere = if ends.kind == kind { ends.second } else { ends.first };
        let here = if heads[at] < NEVER { heads[at] + self.times[at] } else { NEVER };
        Neighbour { elsewhere: elsewhere + link.far, here: here + link.near, head: heads[at], time: self.times[at] }
    }

    /// Returns the earliest instant at which all data have arrived. A neighbour runs on another node if its data
    /// arrive early enough from that node. Otherwise, the neighbour runs on this node and shares the `processors`
    /// processors.
    fn earliest(neighbours: &mut [Neighbour], processors: i128) -> i128 {
        neighbours.sort_unstable_by_key(|other| (Reverse(other.elsewhere), other.head, other.time));
        let (mut best, mut here) = (NEVER, 0);
        for count in 0..=neighbours.len() {
            let rest = neighbours.get(count).map_or(0, |next| next.elsewhere);
            best = best.min(here.max(rest));
            // The first `count` neighbours are the neighbours that run on this node. These neighbours remain sorted by
            // earliest start.
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
