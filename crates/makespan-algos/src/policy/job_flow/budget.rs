//! The charges for the jobs of a flow, and their budgets.

use makespan_core::{Event, JobId, View};

use super::JobFlow;
use crate::kernel::chains::tariff::Tariff;

impl JobFlow {
    /// Sets the prices of processors and the budgets of jobs. A job with a budget is planned within it, and is
    /// cancelled if its cheapest plan exceeds it. Before a job is treated as late, a search tries to find a plan that
    /// keeps the deadline and the budget.
    #[must_use]
    pub fn with_tariff(self, tariff: Tariff) -> Self {
        Self { tariff: Some(tariff), ..self }
    }

    /// Adds the charges for tasks that have ended with success.
    pub(super) fn pay(&mut self, events: &[Event], view: &View<'_>) {
        let Some(tariff) = &self.tariff else { return };
        for event in events {
            if let Event::Finished(task) = *event
                && let Some(processors) = self.keeper.processors_of(task)
            {
                *self.paid.entry(view.instance.job_id(task)).or_default() +=
                    tariff.charge_of(view.instance, task, processors);
            }
        }
    }

    /// Returns the tariff, and the amount that may be spent on the tasks of a job that have not started. Returns `None`
    /// if the job has no budget.
    pub(super) fn limit(&self, job: JobId, view: &View<'_>) -> Option<(&Tariff, i64)> {
        let tariff = self.tariff.as_ref()?;
        let ended = view.instance.job(job).task_ids().filter_map(|task| Some((task, view.ended.run(task)?.1)));
        let ended: i64 = ended.map(|(task, processors)| tariff.charge_of(view.instance, task, processors)).sum();
        let running = view.running.iter().filter(|run| view.instance.job_id(run.task) == job);
        let held: i64 = running.map(|run| tariff.charge_of(view.instance, run.task, &run.processors)).sum();
        // In a resumed run, tasks may have ended before this policy began. The view contains ended tasks only if tasks wait
        // for other tasks.
        let spent = held + self.paid.get(&job).copied().unwrap_or_default().max(ended);
        Some((tariff, tariff.budget(job)? - spent))
    }
}
