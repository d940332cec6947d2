//! Remarks about the plans of the critical jobs method.

use makespan_core::{JobId, Time};

use super::{Job, Planner};
use crate::kernel::chains::collisions::Collision;
use crate::kernel::chains::strategy::JobSchedule;

/// Maximum number of collisions that are reported separately.
const TOLD: usize = 10;

impl Planner<'_> {
    /// Returns the remarks about the plan of one job. `best` contains the chosen schedule, and whether a search found
    /// it.
    pub(super) fn remark(&self, job: &Job, best: Option<(&JobSchedule, bool)>, fallback: i64) -> Vec<String> {
        let name = self.called(job.id);
        let stated = self.instance.job(job.id).deadline.is_some();
        let due = if stated { "its deadline" } else { "its assumed deadline" };
        let Some((offer, searched)) = best else {
            let end = Time::from_ticks(fallback);
            let late = if fallback > job.end { ", too late" } else { "" };
            return vec![format!(
                "{name}: critical chains gave no plan that meets {due}; HEFT's plan is used instead, which ends at \
                 {end} s{late}"
            )];
        };
        if searched {
            let end = Time::from_ticks(offer.finish);
            return vec![format!(
                "{name}: critical chains gave no plan that meets {due}; a plan found by a search is used instead, \
                 which ends at {end} s"
            )];
        }
        let each = offer.collisions.iter().take(TOLD).map(|collision| self.told(job, collision));
        let mut remarks: Vec<String> = each.collect();
        remarks.extend(self.held(job, offer));
        if offer.collisions.len() > TOLD {
            remarks.push(format!("{name}: {} more collisions were resolved", offer.collisions.len() - TOLD));
        }
        remarks
    }

    /// Returns the remark about the processors that tasks without edges (isolated tasks) hold in reserve. The remark
    /// states a fraction of the processor time from the release to the deadline, as the paper defines it: the time in
    /// which processors run the job or are held for it.
    fn held(&self, job: &Job, offer: &JobSchedule) -> Option<String> {
        let name = self.called(job.id);
        let (tasks, release) = (offer.reserves.len(), job.outline.real.release());
        let share =
            offer.busy as f64 / (job.outline.real.problem().processors() as f64 * (job.end - release).max(1) as f64);
        (tasks > 0).then(|| {
            format!(
                "{name}: {tasks} tasks without edges keep their processors until other tasks need these processors, \
                 or until the deadline; this reserves {:.1} % of the processor time up to the deadline",
                100.0 * share
            )
        })
    }

    fn told(&self, job: &Job, collision: &Collision) -> String {
        let Collision { task, planned, resolved, penalty } = *collision;
        let name = match self.instance.name(self.instance.job(job.id).task(task)) {
            name if name.is_empty() => self.called(job.id),
            name => format!("`{name}`"),
        };
        format!(
            "{name} collided on processor {} at {} s, and now runs on processor {} from {} s (penalty: {penalty})",
            planned.processor.0,
            Time::from_ticks(planned.start),
            resolved.processor.0,
            Time::from_ticks(resolved.start)
        )
    }

    /// Returns the name of a job in remarks. Jobs without a name are tasks of bags.
    fn called(&self, job: JobId) -> String {
        let name = &self.instance.job(job).name;
        if name.is_empty() { "a task of a bag".to_owned() } else { format!("`{name}`") }
    }
}
