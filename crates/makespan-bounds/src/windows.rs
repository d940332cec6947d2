//! Bounds for tasks that wait for each other and for processors that differ: windows of time, with prices for machines.

mod prices;
mod search;
#[cfg(test)]
mod tests;

use makespan_core::proof::{JobWindows, Reaching, TimeWindow};
use makespan_core::{Bound, Instance, JobId, Objective, ProcSet, Proof, TaskId, Time};

/// Stands for a machine that cannot run a task.
pub(crate) const NEVER: i64 = i64::MAX;

/// Tasks of some jobs in flat arrays, in ticks.
pub(crate) struct Tasks {
    /// Columns of `times`: nodes on which every task takes the same time are one.
    pub(crate) kinds: usize,
    /// How many processors each kind has.
    processors: Vec<u32>,
    /// The times on one processor of each kind; nothing for a task that may hold several.
    pub(crate) times: Vec<Vec<i64>>,
    pub(crate) heads: Vec<i64>,
    pub(crate) fastest: Vec<i64>,
    pub(crate) tails: Vec<i64>,
    /// How many equal tasks each stands for.
    counts: Vec<u64>,
    /// For each node of the platform its kind.
    pub(crate) kind_of: Vec<Option<usize>>,
    /// For each job whose transfers count the index of its first task, and its tasks.
    reaching: Vec<(usize, Reaching)>,
}

/// For each task the earliest start on each kind of node, and the least time from its end to the end of all; [`NEVER`] where
/// it cannot run in time.
struct Starts {
    heads: Vec<i64>,
    tails: Vec<i64>,
}

/// The best bound of this kind on one objective. On weighted completion and mean flow each job counts as if it were
/// alone.
pub(crate) fn best(instance: &Instance, objective: Objective) -> Bound {
    let alone = || instance.ids().map(|id| search::window(&Tasks::of(instance, &[id]))).collect::<Vec<TimeWindow>>();
    let proof = match objective {
        Objective::Makespan => {
            let ids: Vec<JobId> = instance.ids().collect();
            Proof::TimeWindow(search::window(&Tasks::of(instance, &ids)))
        }
        // Of a throughput they say nothing, and are refused when they are checked.
        Objective::WeightedCompletion | Objective::MeanFlow | Objective::Throughput => {
            Proof::JobWindows(JobWindows { windows: alone() })
        }
        Objective::Cost => return crate::cost::cheapest::cheapest(instance),
    };
    let nothing = Bound { objective, value: 0.into(), makespan_at_most: None, proof: proof.clone() };
    Bound::proved_by(objective, proof, instance).unwrap_or(nothing)
}

impl Tasks {
    pub(crate) fn of(instance: &Instance, jobs: &[JobId]) -> Self {
        let platform = instance.platform();
        let first = |node: usize| platform.processors_of(node).iter().next().map(|id| ProcSet::range(id, id));
        let nodes: Vec<Option<ProcSet>> = (0..platform.nodes().len()).map(first).collect();
        let computing: Vec<&ProcSet> = nodes.iter().flatten().collect();
        let mut rows: Vec<Vec<i64>> = Vec::new();
        let mut tasks = Self {
            kinds: 0,
            processors: Vec::new(),
            times: Vec::new(),
            heads: Vec::new(),
            fastest: Vec::new(),
            tails: Vec::new(),
            counts: Vec::new(),
            kind_of: Vec::new(),
            reaching: Vec::new(),
        };
        for &id in jobs {
            let job = instance.job(id);
            let begin = tasks.heads.len();
            for task in 0..job.different_tasks() {
                let profile = instance.profile(job.task(task));
                let sequential = profile.max_processors() == 1;
                let on = |&processor: &&ProcSet| {
                    if sequential {
                        instance.try_time(job.task(task), processor).map_or(NEVER, Time::ticks)
                    } else {
                        platform.slowed(profile.shortest(), processor).ticks()
                    }
                };
                let row: Vec<i64> = computing.iter().map(on).collect();
                tasks.fastest.push(row.iter().copied().min().unwrap_or(0));
                tasks.heads.push(job.release.ticks());
                tasks.tails.push(0);
                tasks.counts.push(if sequential { job.equal_tasks() } else { 0 });
                rows.push(row);
            }
            tasks.span(instance, id, begin);
            tasks.reaching.extend(Reaching::new(instance, id).map(|reaching| (begin, reaching)));
        }
        tasks.join_equal_nodes(&rows, instance, &nodes);
        tasks
    }

    /// Heads and tails of the tasks of a job, which begin at this index.
    fn span(&mut self, instance: &Instance, id: JobId, begin: usize) {
        let job = instance.job(id);
        let at = |task: TaskId| begin + (task.0 - job.first().0) as usize;
        for task in instance.order(id) {
            let ends = instance.incoming(task).filter(|edge| job.has_task(edge.from)).map(|edge| at(edge.from));
            let head = ends.map(|from| self.heads[from] + self.fastest[from]).max();
            let own = &mut self.heads[at(task)];
            *own = head.unwrap_or(*own);
        }
        for task in instance.order(id).rev() {
            let begins = instance.outgoing(task).filter(|edge| job.has_task(edge.to)).map(|edge| at(edge.to));
            let tail = begins.map(|to| self.fastest[to] + self.tails[to]).max();
            self.tails[at(task)] = tail.unwrap_or(0);
        }
    }

    fn join_equal_nodes(&mut self, rows: &[Vec<i64>], instance: &Instance, nodes: &[Option<ProcSet>]) {
        let mut columns: Vec<usize> = Vec::new();
        let mut column = 0;
        for (node, processor) in nodes.iter().enumerate() {
            if processor.is_none() {
                self.kind_of.push(None);
                continue;
            }
            let same = |&other: &usize| rows.iter().all(|row| row[other] == row[column]);
            let kind = columns.iter().position(same).unwrap_or_else(|| {
                columns.push(column);
                self.processors.push(0);
                columns.len() - 1
            });
            self.processors[kind] += instance.platform().nodes()[node].processors;
            self.kind_of.push(Some(kind));
            column += 1;
        }
        self.kinds = columns.len();
        self.times = rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
    }

    /// When tasks may run if all end by a deadline; `None` where some task then has no place.
    fn starts(&self, deadline: i64) -> Option<Starts> {
        let each = |values: &[i64]| {
            values.iter().flat_map(|&value| std::iter::repeat_n(value, self.kinds)).collect::<Vec<i64>>()
        };
        let mut starts = Starts { heads: each(&self.heads), tails: each(&self.tails) };
        for (begin, reaching) in &self.reaching {
            let reach = reaching.by(i128::from(deadline))?;
            for task in 0..reaching.tasks() {
                let row = (begin + task) * self.kinds..(begin + task + 1) * self.kinds;
                let (heads, tails) = (&mut starts.heads[row.clone()], &mut starts.tails[row]);
                heads.fill(NEVER);
                tails.fill(NEVER);
                // Nodes of one kind here may differ there in how many processors they have.
                for (node, kind) in self.kind_of.iter().enumerate() {
                    let Some((kind, other)) = kind.zip(reaching.kind_of(node)) else { continue };
                    if let Some((head, tail)) = reach.of(task, other) {
                        heads[kind] = heads[kind].min(i64::try_from(head).unwrap_or(NEVER));
                        tails[kind] = tails[kind].min(i64::try_from(tail).unwrap_or(NEVER));
                    }
                }
            }
        }
        Some(starts)
    }

    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }
}
