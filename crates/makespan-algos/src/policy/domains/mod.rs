//! A metascheduler over domains. Each domain has its own nodes, its own queue with its own policy, and owners with jobs
//! that come first.

mod domain;
mod error;
mod measures;

use std::collections::BTreeMap;

use makespan_core::{
    Decision, Event, Instance, JobId, LogEntry, Policy, ProcSet, Running, TaskId, TaskSet, Time, Unavailable,
    Unsupported, View,
};

use super::job_flow::{JobFlow, JobFlowRules};
use crate::kernel::chains::tariff::Tariff;
use crate::scheduler::{CriticalJobs, needs_no_lags};
use domain::{Domain, take_wake};
pub use error::DomainError;
pub use measures::{DomainMeasures, DomainScene, UserJobMeasures};

/// A domain: processors with an owner, and a local batch system.
#[derive(Clone, Debug)]
pub struct DomainRules {
    /// The name of the domain in errors.
    pub name: String,
    /// The processors of the domain. Each node belongs to one domain as a whole.
    pub processors: ProcSet,
    /// The spec of the local policy, such as `easy`, `slurm` or `conservative`.
    pub policy: String,
    /// The price of a processor in thousandths. A task with the cost C is charged C times the price. This cost is
    /// computed from the expected run time, so the charge is known before the task starts.
    pub price: u32,
    /// The jobs of the owners. The local policy schedules these jobs on the processors of the domain.
    pub owners: Vec<JobId>,
}

/// Schedules the jobs of owners by the local policies of their domains, and the compound jobs of users by [`JobFlow`]
/// over all domains.
///
/// At each instant, the local policies decide first. A local policy sees only the jobs of its owners and the processors
/// of its domain. Processors that run a task of a user are down for the local policy until the expected end of the
/// task. The policy `slurm` sees tasks of users only if they delay an owner. The metascheduler then asks each domain in
/// which a job waits when the waiting jobs of the owners will start ([`super::expected_starts`] with a new copy of the
/// local policy, or [`super::expected_starts_from`] with a copy in its present state). For the metascheduler, processors are unavailable
/// while a job of an owner runs there or is forecast to run there. The metascheduler reserves the times between these
/// periods. A reservation binds only the metascheduler. If a job of an owner arrives and takes reserved processors, if
/// a processor fails, or if a task is late, the job of the user switches to another variant of its strategy, or is
/// planned again, possibly in another domain. Running tasks are not interrupted.
///
/// The prices of owners are part of the cost that the metascheduler minimises. The budget of a job limits the sum of
/// its charges. A job that cannot be completed within its budget is cancelled.
///
/// Source: A. Tselishchev, V. V. Toporkov, "Compound job scheduling and job-flows management in distributed
/// computing", 54th IWK, Ilmenau 2009, sections 1 and 3 (metascheduler, job managers and local batch systems).
/// Deviations: the paper does not describe how the metascheduler and the local systems negotiate. Assumptions: every
/// task of a user runs on one processor. Complexity: in addition to the local policies and [`JobFlow`], an event of a
/// domain takes one simulation of the queue of this domain while jobs of users are active.
pub struct Domains {
    members: Vec<Domain>,
    /// The domain of each job of an owner.
    owners: BTreeMap<JobId, usize>,
    /// The domain of each node.
    sites: Vec<usize>,
    users: JobFlow,
    /// The waiting tasks of users.
    waiting: TaskSet,
    /// The node of each running task of a user.
    guests: BTreeMap<TaskId, usize>,
    /// The wake-up that the metascheduler has requested.
    wake: Option<Time>,
}

impl Domains {
    /// Returns a policy for an instance. `budgets` contains the maximum charge, in thousandths, of each job with a
    /// budget. Jobs that are in no list of owners are jobs of users.
    ///
    /// # Errors
    /// [`DomainError`] if a node is in no domain or in several, if a local policy does not exist or does not support
    /// the instance, if a job of an owner does not fit into its domain, or if a task of a user needs several
    /// processors.
    pub fn new(
        instance: &Instance,
        rules: Vec<DomainRules>,
        budgets: BTreeMap<JobId, i64>,
        flow: JobFlowRules,
        seed: u64,
    ) -> Result<Self, DomainError> {
        let sites = nodes(instance, &rules)?;
        let mut owners = BTreeMap::new();
        let mut prices = vec![0; instance.processors() as usize];
        for (at, domain) in rules.iter().enumerate() {
            domain.processors.iter().for_each(|id| prices[id as usize] = domain.price);
            for &job in &domain.owners {
                if owners.insert(job, at).is_some() {
                    return Err(DomainError::TwoOwners { job: instance.job(job).name.clone() });
                }
            }
        }
        let of_users = instance.ids().filter(|job| !owners.contains_key(job));
        let of_users = instance.with_jobs(of_users.map(|job| instance.submitted(job)).collect());
        CriticalJobs::supports_tasks_or(
            &of_users,
            "jobs and graphs of sequential tasks, and state other jobs in the log of a domain",
        )
        .map_err(DomainError::Users)?;
        if of_users.has_gangs() {
            let problem = "tasks that start together (gangs) are not supported; remove the key `gang`";
            return Err(DomainError::Users(Unsupported(problem.into())));
        }
        needs_no_lags(&of_users).map_err(DomainError::Users)?;
        let members = rules.into_iter().map(|rules| Domain::new(rules, instance, seed)).collect::<Result<_, _>>()?;
        let users = JobFlow::new(flow).with_tariff(Tariff::new(prices, budgets));
        let (waiting, guests) = (TaskSet::new(), BTreeMap::new());
        Ok(Self { members, owners, sites, users, waiting, guests, wake: None })
    }

    /// Returns the domain of the owner of a task, or `None` if the task belongs to a user.
    fn owner(&self, task: TaskId, instance: &Instance) -> Option<usize> {
        self.owners.get(&instance.job_id(task)).copied()
    }

    /// Sorts the events by domain, and returns the events of users. If a task of a user stops running, its node is up
    /// again for the local policy.
    fn sort(&mut self, events: &[Event], instance: &Instance) -> Vec<Event> {
        let mut of_users = Vec::new();
        for &event in events {
            match event {
                Event::Wake => {}
                Event::NodeUp(node) | Event::NodeDown(node) => {
                    self.members[self.sites[node]].hear(event);
                    of_users.push(event);
                }
                Event::Finished(task)
                | Event::Failed(task)
                | Event::Interrupted(task)
                | Event::Submitted(task)
                | Event::Estimated(task) => {
                    if let Some(at) = self.owner(task, instance) {
                        self.members[at].hear(event);
                        continue;
                    }
                    of_users.push(event);
                    match event {
                        Event::Submitted(_) | Event::Interrupted(_) => _ = self.waiting.insert(task),
                        Event::Failed(_) => _ = self.waiting.remove(task),
                        _ => {}
                    }
                    let ended = !matches!(event, Event::Submitted(_) | Event::Estimated(_));
                    if ended && let Some(node) = self.guests.remove(&task) {
                        self.members[self.sites[node]].hear_user(Event::NodeUp(node));
                    }
                }
            }
        }
        of_users
    }

    /// Calls the metascheduler. `taken` contains the processors on which owners start jobs at this instant.
    fn serve_users(&mut self, events: &[Event], view: &View<'_>, taken: &ProcSet, decisions: &mut Vec<Decision>) {
        let mut down = view.down.to_vec();
        for domain in &mut self.members {
            domain.forecast(view);
            down.extend(domain.periods(view.instance, view.now));
        }
        let is_guest = |run: &&Running| self.guests.contains_key(&run.task);
        let running: Vec<Running> = view.running.iter().filter(is_guest).cloned().collect();
        let free = view.free.difference(taken);
        let own = View { waiting: &self.waiting, running: &running, free: &free, down: &down, ..*view };
        let mut made = Vec::new();
        self.users.on(events, &own, &mut made);
        self.wake = take_wake(&mut made);
        for decision in &made {
            match decision {
                Decision::Start { task, processors } => {
                    self.waiting.remove(*task);
                    if let Some(id) = processors.last() {
                        let node = view.instance.platform().node_of(id);
                        self.guests.insert(*task, node);
                        self.members[self.sites[node]].hear_user(Event::NodeDown(node));
                    }
                }
                Decision::Cancel(task) => _ = self.waiting.remove(*task),
                Decision::WakeAt(_) | Decision::Limit { .. } => {}
            }
        }
        decisions.append(&mut made);
    }

    /// Returns the periods in which running tasks of users hold processors of each domain.
    fn visits(&self, view: &View<'_>) -> Vec<Vec<Unavailable>> {
        let mut visits = vec![Vec::new(); self.members.len()];
        for run in view.running {
            if let Some(&node) = self.guests.get(&run.task) {
                let end = run.expected_end(view.instance, view.now);
                let processors = run.processors.clone();
                visits[self.sites[node]].push(Unavailable { processors, start: run.start, end });
            }
        }
        visits
    }
}

impl Policy for Domains {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let of_users = self.sort(events, view.instance);
        let visits = self.visits(view);
        let (mut taken, mut moved) = (ProcSet::new(), false);
        let owners = &self.owners;
        for (at, (domain, visits)) in self.members.iter_mut().zip(&visits).enumerate() {
            let is_own = |task: TaskId| owners.get(&view.instance.job_id(task)) == Some(&at);
            if let Some(started) = domain.decide(view, &is_own, visits, decisions) {
                taken.insert(&started);
                moved = true;
            }
        }
        let due = self.wake.is_some_and(|wake| wake <= view.now);
        if !of_users.is_empty() || due || moved && !(self.users.is_idle() && self.waiting.is_empty()) {
            let events = if of_users.is_empty() { vec![Event::Wake] } else { of_users };
            self.serve_users(&events, view, &taken, decisions);
        }
        let wakes = self.members.iter().filter_map(Domain::wake).chain(self.wake);
        decisions.extend(wakes.min().map(Decision::WakeAt));
    }

    fn log(&mut self) -> Vec<LogEntry> {
        self.users.log()
    }

    fn recall(&mut self, told: &[LogEntry]) {
        self.users.recall(told);
    }
}

/// Returns the domain of each node.
fn nodes(instance: &Instance, rules: &[DomainRules]) -> Result<Vec<usize>, DomainError> {
    let platform = instance.platform();
    let mut found: Vec<Option<usize>> = vec![None; platform.nodes().len()];
    let mut seen = ProcSet::new();
    for (at, domain) in rules.iter().enumerate() {
        for id in domain.processors.iter() {
            if id >= instance.processors() || seen.contains(id) {
                return Err(DomainError::Processor { domain: domain.name.clone(), processor: id });
            }
            let node = platform.node_of(id);
            if found[node].is_some_and(|other| other != at) {
                return Err(DomainError::Node { node: platform.nodes()[node].name.clone() });
            }
            found[node] = Some(at);
        }
        seen.insert(&domain.processors);
    }
    if let Some(id) = (0..instance.processors()).find(|&id| !seen.contains(id)) {
        return Err(DomainError::Node { node: platform.nodes()[platform.node_of(id)].name.clone() });
    }
    // A node without processors has no events, so its domain does not matter.
    Ok(found.into_iter().map(|domain| domain.unwrap_or(0)).collect())
}
