//! The remaining work of an instance while it is executed.

use crate::model::{HeldAmount, Instance, ResourceId, ResourceKind, SubInstance, TaskId, Time, Unavailable};
use crate::online::{Running, View};

impl Instance {
    /// Returns the remaining work as an instance of the tasks that wait or will be released later. The processors of a
    /// running task are unavailable until its expected end.
    pub fn residual(&self, view: &View<'_>) -> SubInstance {
        self.residual_before(view, Time::MAX)
    }

    /// Like [`Instance::residual`], but without the unavailable periods that begin at or after `horizon`. The result
    /// is suitable for a plan that ends before `horizon`.
    pub fn residual_before(&self, view: &View<'_>, horizon: Time) -> SubInstance {
        self.residual_until(view, horizon, &|running| running.expected_end(self, view.now))
    }

    /// Like [`Instance::residual_before`], but `end` returns the instant at which a running task is assumed to end.
    pub fn residual_until(&self, view: &View<'_>, horizon: Time, end: &dyn Fn(&Running) -> Time) -> SubInstance {
        let tasks: Vec<TaskId> = view.waiting.iter().collect();
        let waiting = tasks
            .iter()
            .map(|&task| {
                let job = self.alone(task);
                let release = job.release.max(view.now);
                job.with_release(release)
            })
            .collect();
        let running = view.running.iter().map(|running| Unavailable {
            processors: running.processors.clone(),
            start: Time::ZERO,
            end: end(running),
        });
        let near = |period: &&Unavailable| period.end > view.now && period.start < horizon;
        let unavailable = self.unavailable().iter().filter(near).cloned();
        let unavailable = unavailable.chain(running).chain(view.down.iter().cloned()).collect();
        let instance = Self::joined(self.platform().clone(), waiting, unavailable).holding(view.held_until(end));
        SubInstance { instance, tasks }
    }
}

impl View<'_> {
    /// Returns the amounts of resources that running tasks hold, each until the expected end of its task, and the
    /// amounts of consumables that are used up.
    pub fn held(&self) -> Vec<HeldAmount> {
        self.held_until(&|running| running.expected_end(self.instance, self.now))
    }

    fn held_until(&self, end: &dyn Fn(&Running) -> Time) -> Vec<HeldAmount> {
        let instance = self.instance;
        if !instance.has_demands() {
            return Vec::new();
        }
        let platform = instance.platform();
        let mut held = Vec::new();
        for running in self.running {
            let (until, allotment) = (end(running), running.processors.len());
            let demands = instance.demands(running.task);
            if demands.is_empty() {
                continue;
            }
            let parts = platform.parts(&running.processors);
            // Consumables are added below, as amounts that are used up.
            for demand in demands.iter().filter(|demand| demand.kind != ResourceKind::Consumable) {
                let resource = demand.resource;
                let each = demand.amounts(&parts, allotment);
                held.extend(each.map(|(node, amount)| HeldAmount { node, resource, amount, until }));
            }
        }
        let ids = (0..platform.resources().len()).map(|at| ResourceId(at as u16));
        let used = ids.map(|resource| (resource, self.ended.used_up(resource))).filter(|(_, amount)| *amount > 0);
        let for_ever = |(resource, amount)| HeldAmount { node: None, resource, amount, until: Time::MAX };
        held.extend(used.map(for_ever));
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Platform, ProcSet, Profile};
    use crate::online::{EndedTasks, Running};

    #[test]
    fn a_residual_instance_holds_what_waits_beside_what_runs() {
        let rigid = |name, processors, seconds| {
            Job::new(name, Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
        };
        let tasks = vec![rigid("a", 2, 10), rigid("b", 4, 5), rigid("c", 1, 1)];
        let instance = Instance::new(Platform::flat(4).unwrap(), tasks, vec![]).unwrap();
        let running = [Running { task: TaskId(0), start: Time::ZERO, processors: ProcSet::first(2) }];
        let waiting = [TaskId(1)].into_iter().collect();
        let (now, free) = (Time::from_seconds(4), ProcSet::range(2, 3));
        let view = View {
            now,
            instance: &instance,
            waiting: &waiting,
            running: &running,
            free: &free,
            down: &[],
            ended: EndedTasks::default(),
        };
        let residual = instance.residual(&view);
        assert_eq!(residual.tasks, [TaskId(1)]);
        assert_eq!(residual.instance.first_release(), Time::from_seconds(4));
        assert_eq!(residual.instance.availability().open_at(Time::from_seconds(9)), 2);
        assert_eq!(residual.instance.availability().open_at(Time::from_seconds(10)), 4);
    }
}
