//! Limits that prevent a job from starting even if no other job runs: limits of a single job, and limits of past
//! usage.

use super::{Association, Budget, JobLimits, Memory, Qos, Queue, QueueJob};

/// A limit that a job exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The limit in a few words.
    pub brief: String,
    /// A sentence that states the limit, and by how much the job exceeds it.
    pub text: String,
    /// A change that would let the job start.
    pub remedy: &'static str,
}

/// The limits of a QOS, a user or an account for one job.
struct Rule<'a> {
    whose: String,
    job: &'a JobLimits,
    budgets: &'a [Budget],
}

impl<'a> Rule<'a> {
    fn of_qos(qos: &'a Qos) -> Self {
        Self { whose: format!("QOS {}", qos.name), job: &qos.job, budgets: &qos.budgets }
    }
}

const ASK: &str = "another request, or a higher limit";
const WAIT: &str = "a decay or a reset of the usage, or a higher limit";

impl Queue {
    /// Returns a limit of a QOS, an account or a user that the job exceeds even if no other job runs, or a licence of the
    /// job that does not exist.
    pub fn barred(&self, job: &QueueJob) -> Option<Bar> {
        if let Some(name) = self.missing_licence(job) {
            let text = format!("there is no licence {name}");
            return Some(Bar { brief: format!("no licence {name}"), text, remedy: "another licence, or none" });
        }
        let rules = self.rules(job);
        let time = rules.iter().find(|rule| rule.job.max_time.is_some());
        let time = time.and_then(|rule| too_long(job, rule));
        time.or_else(|| too_much(job, &rules)).or_else(|| rules.iter().find_map(|rule| self.used_up(job, rule)))
    }

    /// Returns a licence that the job requests and that the cluster does not have.
    pub(super) fn missing_licence<'a>(&self, job: &'a QueueJob) -> Option<&'a str> {
        let names = job.request.licences.iter().map(|licence| licence.0.as_str());
        let is_missing = |name: &&str| self.licences.iter().all(|licence| licence.name != **name);
        names.filter(|_| self.knows_licences).find(is_missing)
    }

    /// Returns the rules of the partition's QOS, the job's QOS, the user, the account and its parent accounts. For
    /// each kind of limit, the first rule with such a limit decides.
    fn rules<'a>(&'a self, job: &'a QueueJob) -> Vec<Rule<'a>> {
        let own = self.qualities(job).map(Rule::of_qos);
        own.chain(self.memberships(job).into_iter().map(|one| {
            let Association { account, user, job, budgets, .. } = one;
            let whose = user.as_ref().map_or(String::new(), |user| format!("user {user} in "));
            Rule { whose: format!("{whose}account {account}"), job, budgets }
        }))
        .collect()
    }

    /// Returns the QOS of the job's partition, and then the QOS of the job.
    pub(crate) fn qualities<'a>(&'a self, job: &'a QueueJob) -> impl Iterator<Item = &'a Qos> {
        // A job with several partitions may run in any of them. So it is unknown which partition's QOS decides.
        let only = job.partitions.first().filter(|_| job.partitions.len() == 1);
        let of_partition = only.and_then(|name| self.partition(name)?.record.get("QoS"));
        let names = of_partition.into_iter().chain(job.qos.as_deref().filter(move |own| of_partition != Some(*own)));
        names.filter_map(|name| self.qos.iter().find(|qos| qos.name == name))
    }

    /// Returns the associations of the job: the user in the account, the account, and the parent accounts.
    fn memberships(&self, job: &QueueJob) -> Vec<&Association> {
        let mut found = Vec::new();
        let own = job.account.as_deref().unwrap_or_default();
        found.extend(self.associations.iter().find(|one| {
            let speaks = one.partition.as_ref().is_none_or(|partition| job.partitions.contains(partition));
            speaks && one.account == own && one.user.as_deref() == Some(job.user.as_str())
        }));
        let mut next = Some(own);
        // Accounts form a tree. Stop after 64 levels, in case invalid input contains a cycle.
        for _ in 0..64 {
            let of = |name: &str| self.associations.iter().find(|one| one.user.is_none() && one.account == name);
            let Some(account) = next.and_then(of) else { break };
            found.push(account);
            next = account.parent.as_deref();
        }
        found
    }

    /// Checks limits of past usage. If the cluster uses safe limits, adds the maximum future usage of the job.
    fn used_up(&self, job: &QueueJob, rule: &Rule<'_>) -> Option<Bar> {
        let is_safe = self.config.get("AccountingStorageEnforce").is_some_and(|text| text.contains("safe"));
        rule.budgets.iter().find_map(|budget| {
            let used = budget.used?;
            let amount = if budget.name == Budget::WALL { 1 } else { job.amount(&budget.name) };
            let more = job.minutes().map_or(u64::MAX, |minutes| amount.saturating_mul(minutes));
            let what =
                if budget.name == Budget::WALL { "minutes of jobs".into() } else { format!("{} minutes", budget.name) };
            let whose = &rule.whose;
            if amount > 0 && used >= budget.total {
                let brief = format!("limit on {what} of {whose}");
                let text = format!("{brief}: {used} of {} are used", budget.total);
                return Some(Bar { brief, text, remedy: WAIT });
            }
            (amount > 0 && is_safe && used.saturating_add(more) > budget.total).then(|| {
                let brief = format!("limit on {what} of {whose}");
                let text = format!("{brief}: {used} of {} are used, and the job may use {more} more", budget.total);
                Bar { brief, text, remedy: WAIT }
            })
        })
    }
}

fn too_long(job: &QueueJob, rule: &Rule<'_>) -> Option<Bar> {
    let most = rule.job.max_time?;
    if job.limit.is_some_and(|limit| limit <= most) {
        return None;
    }
    let asked = job.limit.map_or("no time limit".into(), |limit| format!("a limit of {} min", limit.div_ceil(60)));
    let brief = format!("{} allows {} min", rule.whose, most / 60);
    let text = format!("it asks for {asked}, but {brief}");
    Some(Bar { brief, text, remedy: ASK })
}

/// A request and its limit: the name of the resource, the requested amount, the limit, and true if the request
/// violates the limit.
type Asked = (String, u64, u64, bool);

fn too_much(job: &QueueJob, rules: &[Rule<'_>]) -> Option<Bar> {
    let nodes = job.request.max_nodes.unwrap_or(job.request.min_nodes).max(1);
    let mut stated: Vec<(&str, &str)> = Vec::new();
    for rule in rules {
        let limits = [
            ("", &rule.job.tres),
            ("on each node ", &rule.job.per_node),
            ("minutes ", &rule.job.minutes),
            ("at least ", &rule.job.least),
        ];
        for (kind, limits) in limits {
            for (name, limit) in limits {
                if stated.contains(&(kind, name.as_str())) {
                    continue;
                }
                stated.push((kind, name));
                let amount = job.amount(name);
                let (what, amount, limit, is_too_much): Asked = match kind {
                    "on each node " => (
                        format!("{name} on each node"),
                        amount.div_ceil(nodes),
                        *limit,
                        amount.div_ceil(nodes) > *limit,
                    ),
                    "minutes " => {
                        let minutes = job.minutes().map_or(u64::MAX, |minutes| amount.saturating_mul(minutes));
                        (format!("{name} minutes"), minutes, *limit, amount > 0 && minutes > *limit)
                    }
                    "at least " => (name.clone(), amount, *limit, amount < *limit),
                    _ => (name.clone(), amount, *limit, amount > *limit),
                };
                if is_too_much {
                    let allows = if kind == "at least " { "requires at least" } else { "allows" };
                    let asked = if amount == u64::MAX { "no limit".to_owned() } else { amount.to_string() };
                    let brief = format!("{} {allows} {limit} {what} for a job", rule.whose);
                    let text =
                        format!("limit on {what} of a job: it asks for {asked}, but {} {allows} {limit}", rule.whose);
                    return Some(Bar { brief, text, remedy: ASK });
                }
            }
        }
    }
    None
}

impl QueueJob {
    /// Returns the amount of a resource that the job holds or requests, in the units of limits.
    pub(crate) fn amount(&self, name: &str) -> u64 {
        let holds = self.run.as_ref().map(|run| &run.holds);
        let request = &self.request;
        match name {
            "cpu" => holds.map_or(request.cpus, |holds| holds.iter().map(|hold| u64::from(hold.cpus)).sum()),
            "node" => holds.map_or(request.min_nodes, |holds| holds.len() as u64),
            "mem" => {
                let asked = match request.memory {
                    Memory::PerCpu(bytes) => bytes.saturating_mul(request.cpus),
                    Memory::PerNode(bytes) => bytes.saturating_mul(request.min_nodes),
                    Memory::Whole => 0,
                };
                holds.map_or(asked, |holds| holds.iter().map(|hold| hold.memory).sum()) >> 20
            }
            name => {
                let stated = || request.tres.iter().find(|tres| tres.0 == name).map_or(0, |tres| tres.1);
                let Some(kind) = name.strip_prefix("gres/") else { return stated() };
                let (gres, kind) = kind.split_once(':').unwrap_or((kind, ""));
                let counts = |one: &&crate::text::Gres| one.name == gres && (kind.is_empty() || one.kind == kind);
                let each: u64 = request.gres.iter().filter(counts).map(|gres| gres.count).sum();
                if each == 0 { stated() } else { each.saturating_mul(request.min_nodes) }
            }
        }
    }

    /// Returns the remaining minutes until the job's time limit. If the job has no limit, returns `None`.
    pub(crate) fn minutes(&self) -> Option<u64> {
        self.limit.map(|limit| limit.div_ceil(60))
    }
}
