//! The choice of processors for a solution of the relaxed problem, which states only starts and modes.

use makespan_core::{Instance, Placement, ProcSet, ResourceKind, Schedule, TaskId, Time};

use super::model::Model;

/// Maximum number of choices that are tried.
const MAX_CHOICES: usize = 2000;

/// A task with its start, its end and its number of processors.
#[derive(Clone, Copy)]
struct Run<'a> {
    task: TaskId,
    start: Time,
    end: Time,
    width: u32,
    /// The nodes on which the task may run.
    nodes: &'a [usize],
}

/// A search that chooses the processors of one run after the other, in the order of their starts.
struct Assignment<'a> {
    instance: &'a Instance,
    runs: Vec<Run<'a>>,
    placements: Vec<Placement>,
    /// The number of choices that may still be tried.
    left: usize,
}

/// Returns a schedule in which each task has its start and its mode in `starts`, and processors that are open, on nodes
/// with enough resources. Returns `None` if the search finds no such schedule.
pub(super) fn assigned(instance: &Instance, model: &Model, starts: &[(i64, usize)]) -> Option<Schedule> {
    let all: Vec<usize> = (0..instance.platform().node_count()).collect();
    let run = |(task, &(start, mode)): (TaskId, &(i64, usize))| {
        let of = &model.tasks[task.index()];
        let (width, start) = (of.allotments[mode], Time::from_ticks(start.checked_mul(model.grid)?));
        let Some(&class) = of.machines.get(mode) else {
            return Some(Run { task, start, end: start + instance.profile(task).time(width), width, nodes: &all });
        };
        let nodes = &model.classes[class].nodes;
        Some(Run { task, start, end: start + instance.time_on(task, nodes[0])?, width, nodes })
    };
    let mut runs: Vec<Run<'_>> = instance.task_ids().zip(starts).map(run).collect::<Option<_>>()?;
    runs.sort_by_key(|run| (run.start, std::cmp::Reverse(run.width), run.task));
    let mut assignment = Assignment { instance, runs, placements: Vec::new(), left: MAX_CHOICES };
    assignment.extend().then(|| Schedule::new(assignment.placements))
}

impl Assignment<'_> {
    /// Places all remaining runs. Returns false if this is not possible, or if too many choices were tried.
    fn extend(&mut self) -> bool {
        let Some(&run) = self.runs.get(self.placements.len()) else { return true };
        for processors in self.choices(run) {
            let Some(left) = self.left.checked_sub(1) else { return false };
            self.left = left;
            self.placements.push(Placement { task: run.task, start: run.start, end: run.end, processors });
            if self.extend() {
                return true;
            }
            self.placements.pop();
        }
        false
    }

    /// Returns sets of processors for a run: one set on each node that has enough room, and a set on several nodes.
    fn choices(&self, run: Run<'_>) -> Vec<ProcSet> {
        let mut rooms: Vec<ProcSet> =
            run.nodes.iter().map(|&node| self.room(node, run)).filter(|room| !room.is_empty()).collect();
        rooms.sort_by_key(ProcSet::len);
        let wide = |room: &&ProcSet| room.len() >= run.width;
        let mut choices: Vec<ProcSet> =
            rooms.iter().filter(wide).filter_map(|room| room.clone().take(run.width)).collect();
        let mut all = ProcSet::new();
        for room in rooms.iter_mut().rev() {
            let part = room.take(room.len().min(run.width - all.len()));
            all = all.union(&part.unwrap_or_default());
        }
        if run.width > 1 && all.len() == run.width {
            choices.push(all);
        }
        choices
    }

    /// Returns processors of a node that are free and open during a run. The resources of the node suffice for the run
    /// on these processors.
    fn room(&self, node: usize, run: Run<'_>) -> ProcSet {
        let (instance, platform) = (self.instance, self.instance.platform());
        let all = platform.processors_of(node);
        let beside = || self.placements.iter().filter(|other| other.end > run.start);
        let closed = instance.unavailable().iter().filter(|period| period.start < run.end && run.start < period.end);
        let taken = beside().map(|other| &other.processors).chain(closed.map(|period| &period.processors));
        let mut free = taken.fold(all.clone(), |free, taken| free.difference(taken));
        let mut most = free.len().min(run.width);
        for demand in instance.demands(run.task).iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
            let held = beside().map(|other| {
                let own = instance.demands(other.task).iter().find(|own| own.resource == demand.resource);
                let here = other.processors.intersection(&all).len();
                own.filter(|_| here > 0).map_or(0, |own| own.need.share(here, other.processors.len()))
            });
            let left = platform.amount(node, demand.resource).saturating_sub(held.fold(0, u64::saturating_add));
            most = demand.need.fitting(left, most, run.width);
        }
        free.take(most).unwrap_or_default()
    }
}
