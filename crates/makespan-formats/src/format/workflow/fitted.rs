//! Adapts the needs of workflow tasks to machines that may lack the resources.

use makespan_core::{Graph, Instance, InstanceError, Job, NamedTask, Needs, Platform, Profile, ResourceKind, Work};

use super::remarked;
use crate::needs::{UNSTATED, UnstatedNeeds};

/// Reason why needs that exceed the largest machine are ignored.
const TOO_MUCH: &str = "no machine of the file has this amount, so these needs are ignored";

/// Returns the jobs, adapted to the machines, and warnings about the changes. A need is ignored if no machine states
/// the resource. A task that requests more cores than the platform has runs on one core.
///
/// Some published workflows state needs that exceed their own machines. So if the machines come from the workflow
/// (`own`), a need that exceeds the largest machine is ignored, or is an error with `strict`.
pub(super) fn fitted(
    jobs: Vec<Job>,
    platform: &Platform,
    own: bool,
    strict: bool,
) -> Result<(Vec<Job>, Vec<String>), String> {
    let (unstated, too_much) = (UnstatedNeeds::default(), UnstatedNeeds::default());
    let mut fitting = Fitting { platform, own, unstated, too_much, wide: Vec::new() };
    let jobs = jobs.into_iter().map(|job| fitting.job(job)).collect::<Result<Vec<Job>, String>>()?;
    let (mut remarks, changed) = fitting.remarks();
    for change in changed {
        remarks.extend(remarked(Some(change), strict)?);
    }
    let needy = own
        && jobs
            .iter()
            .filter_map(|job| job.work.graph())
            .flat_map(Graph::tasks)
            .any(|task| !task.task.needs.is_empty());
    if needy && let Err(error @ InstanceError::NoRoom(_)) = Instance::new(platform.clone(), jobs.clone(), Vec::new()) {
        let bare =
            format!("all needs of tasks are ignored, because the machines of the file are too small for them: {error}");
        remarks.extend(remarked(Some(bare), strict)?);
        let bare = |mut task: NamedTask| {
            task.task.needs = Needs::NONE;
            task
        };
        let jobs = jobs.into_iter().map(|job| with_tasks(job, bare)).collect::<Result<_, String>>()?;
        return Ok((jobs, remarks));
    }
    Ok((jobs, remarks))
}

struct Fitting<'a> {
    platform: &'a Platform,
    own: bool,
    unstated: UnstatedNeeds,
    too_much: UnstatedNeeds,
    /// Tasks that request more cores than the platform has.
    wide: Vec<String>,
}

impl Fitting<'_> {
    fn job(&mut self, job: Job) -> Result<Job, String> {
        let most = self.platform.processors();
        let plain = |task: &NamedTask| task.task.needs.is_empty() && task.task.profile.min_processors() <= most;
        if job.work.graph().is_none_or(|graph| graph.tasks().iter().all(plain)) {
            return Ok(job);
        }
        with_tasks(job, |task| self.task(task))
    }

    fn task(&mut self, mut named: NamedTask) -> NamedTask {
        let (name, task) = (&named.name, &mut named.task);
        let profile = &task.profile;
        if profile.min_processors() > self.platform.processors() {
            self.wide.push(name.to_string());
            task.profile = Profile::rigid(1, profile.shortest()).unwrap_or_else(|_| profile.clone());
        }
        let processors = task.profile.min_processors();
        task.needs = self.unstated.kept(&task.needs, self.platform, processors, name);
        if self.own {
            task.needs = self.possible(&task.needs, processors, name);
        }
        named
    }

    /// Returns the needs that at least one machine can satisfy.
    fn possible(&mut self, needs: &Needs, processors: u32, name: &str) -> Needs {
        let Self { platform, too_much, .. } = self;
        let fits = |resource: &str, total: u64| {
            let id = platform.resource(resource).filter(|&id| platform.resource_of(id).kind == ResourceKind::OfNodes);
            id.is_none_or(|id| (0..platform.node_count()).any(|node| platform.amount(node, id) >= total))
        };
        let mut kept = Vec::new();
        for (resource, need) in needs.iter() {
            let total = need.total(processors);
            if fits(resource, total) {
                kept.push((resource, need.clone()));
            } else {
                too_much.count(resource, total, name);
            }
        }
        Needs::new(kept).unwrap_or_default()
    }

    /// Returns two lists of warnings. The first list is about needs for resources that no machine states, and the
    /// second list is about other changes of tasks.
    fn remarks(&self) -> (Vec<String>, Vec<String>) {
        let wide = self.wide.first().map(|task| {
            let count = self.wide.len();
            format!(
                "{count} tasks (such as `{task}`) ran on more cores than the machines have; each is planned on one \
                 core, with its measured run time"
            )
        });
        let (unstated, too_much) = (self.unstated.remarks("task", UNSTATED), self.too_much.remarks("task", TOO_MUCH));
        (unstated.collect(), wide.into_iter().chain(too_much).collect())
    }
}

/// Returns the job with changed tasks.
fn with_tasks(mut job: Job, change: impl FnMut(NamedTask) -> NamedTask) -> Result<Job, String> {
    if let Work::Graph(graph) = &job.work {
        let tasks = graph.tasks().iter().cloned().map(change).collect();
        job.work = Work::Graph(Graph::new(tasks, graph.edges().to_vec()).map_err(|error| error.to_string())?);
    }
    Ok(job)
}
