//! Reads running tasks and failures from the view of a policy.

use makespan_core::{Running, Time, View};

use super::requests::RequestTables;
use super::task::RunningTask;
use super::{Runs, State};
use crate::slurm::{ClusterModel, Hold, RunningUsage};

impl State {
    /// If there are many new requests, groups the sites by the requested amounts. The groups only make the scheduler
    /// faster.
    pub(super) fn group_sites(&mut self, view: &View<'_>) {
        let requests = self.scheduler.model().shapes.len();
        if requests > 2 * self.grouped {
            self.grouped = requests;
            self.scheduler.change_model(ClusterModel::set_levels);
            self.see_cluster(view);
        }
    }

    /// Reads running tasks and failures from the view.
    pub(super) fn see_cluster(&mut self, view: &View<'_>) {
        let now = view.now.ticks();
        self.scheduler.clear(now);
        self.ends.clear();
        self.next_return = self.nodes.held().map(|held| held.0).filter(|&until| until > now).min();
        self.used_up.iter().for_each(|(&counter, &amount)| self.scheduler.world.hold(counter, amount));
        for (until, site, at, amount) in self.nodes.held().filter(|held| held.0 > now).collect::<Vec<_>>() {
            match site {
                Some(site) => {
                    let gres = vec![(at as u16, amount)];
                    let hold = Hold { site: site as u32, cpus: 0, own: 0, memory: 0, gres, cells: Vec::new() };
                    let usage =
                        RunningUsage { job: None, group: None, believed: until, rank: u64::MAX, holds: vec![hold] };
                    self.scheduler.begin(usage);
                }
                None => self.scheduler.world.hold(at, amount),
            }
        }
        self.down = view.down.to_vec();
        for down in view.down {
            let holds = self.nodes.holds(view.instance, &down.processors, &[], false);
            if !holds.is_empty() {
                let (believed, rank) = (down.end.ticks(), u64::MAX);
                self.scheduler.begin(RunningUsage { job: None, group: None, believed, rank, holds });
            }
        }
        let mut before = std::mem::take(&mut self.running);
        for run in view.running {
            let data = match before.remove(&run.task) {
                Some(runs) => Some(runs.data),
                None => self.running_task(run, view),
            };
            if let Some(data) = data {
                self.begin(run, data, view);
            }
        }
        let mut gone: Vec<(usize, u32)> = before.into_values().map(|runs| (runs.data.user, runs.processors)).collect();
        gone.sort_unstable();
        for (user, processors) in gone {
            self.shares.change(user, -f64::from(processors), view.now);
        }
    }

    /// Returns the data of a running task that another policy started. Adds the task to the usage of its user.
    fn running_task(&mut self, run: &Running, view: &View<'_>) -> Option<RunningTask> {
        let Self { requests, nodes, scheduler, shares, .. } = self;
        let instance = view.instance;
        let mut data = scheduler.change_model(|model| {
            requests.running(instance, run.task, &mut RequestTables { nodes, model, shares, now: view.now.ticks() })
        })?;
        // If a task started before instant 0, its remaining limit may be a fraction of a minute.
        if let Some(left) = instance.walltime(run.task).filter(|_| run.start == view.now) {
            data.whole_limit = left.ticks();
        }
        shares.change(data.user, run.processors.len().into(), view.now);
        Some(data)
    }

    /// Adds a running task to the nodes.
    fn begin(&mut self, run: &Running, data: RunningTask, view: &View<'_>) {
        let instance = view.instance;
        let expected = run.start + Time::from_ticks(data.whole_limit);
        let until = makespan_core::believed_end(run.start, expected, view.now).ticks();
        let holds = self.nodes.holds(instance, &run.processors, instance.demands(run.task), data.exclusive);
        let (group, rank) = (data.group, run.task.0);
        let number = self.scheduler.begin(RunningUsage { job: None, group, believed: until, rank, holds });
        self.ends.insert((until, run.task));
        self.running.insert(run.task, Runs { number, processors: run.processors.len(), until, data });
    }

    /// Gives later expected ends to tasks that run longer than expected.
    pub(super) fn extend_late(&mut self, view: &View<'_>) {
        let now = view.now.ticks();
        while let Some(&(until, task)) = self.ends.first().filter(|end| end.0 <= now) {
            self.ends.pop_first();
            let Some(runs) = self.running.get_mut(&task) else { continue };
            let start = view.running.iter().find(|run| run.task == task).map_or(view.now, |run| run.start);
            runs.until = makespan_core::believed_end(start, Time::from_ticks(until), view.now).ticks();
            self.scheduler.extend(runs.number, runs.until);
            self.ends.insert((runs.until, task));
        }
    }
}
