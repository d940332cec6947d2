//! Priorities that change with the usage of users.

use makespan_core::Time;

use super::{Association, FairShare, Queue, QueueJob};
use crate::OptionalLimit;
use crate::text::duration;

/// The weight of the fair share in priorities.
const WEIGHT: &str = "PriorityWeightFairShare";

/// The parameters of the fair share in priorities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FairShareRules {
    pub weight: u32,
    /// Time after which past usage counts half. If it is zero, usage never decays.
    pub half_life: Time,
    /// Time between two computations of priorities.
    pub calc_period: Time,
    /// False if the classic algorithm computes the factors.
    pub has_fair_tree: bool,
}

impl Queue {
    /// Returns the parameters of the fair share. Returns `None` if priorities do not contain the fair share, or if the
    /// shares and the usage of users are unknown.
    pub(crate) fn fair_share_rules(&self) -> Option<FairShareRules> {
        let weight = self.fair_share_weight();
        let is_known = self.associations.iter().any(|one| one.fair_share.is_some());
        (weight > 0 && is_known).then(|| {
            let seconds = |name: &str| self.config.get(name).and_then(duration).and_then(OptionalLimit::value);
            let time = |seconds: u64| Time::from_seconds(i64::try_from(seconds).unwrap_or(0));
            FairShareRules {
                weight,
                half_life: time(seconds("PriorityDecayHalfLife").unwrap_or(7 * 86_400)),
                calc_period: time(seconds("PriorityCalcPeriod").filter(|&time| time > 0).unwrap_or(300)),
                has_fair_tree: !self.config.get("PriorityFlags").unwrap_or_default().contains("NO_FAIR_TREE"),
            }
        })
    }

    /// Returns the weight of the fair share in the priorities of jobs, or 0 if priorities do not contain the fair share.
    pub fn fair_share_weight(&self) -> u32 {
        let weight = self.config.number(WEIGHT).and_then(OptionalLimit::value);
        let weight = weight.filter(|_| self.has_priority("multifactor"));
        weight.map_or(0, |weight| u32::try_from(weight).unwrap_or(u32::MAX))
    }

    /// Returns true if the cluster uses this plugin for priorities: `basic` or `multifactor`.
    pub(super) fn has_priority(&self, kind: &str) -> bool {
        self.config.get("PriorityType").is_some_and(|stated| stated.contains(kind))
    }

    /// Returns the parameters of the fair share for the policy `slurm`, in seconds.
    pub fn fair_share_parameters(&self) -> Vec<(&'static str, String)> {
        let Some(rules) = self.fair_share_rules() else { return Vec::new() };
        let seconds = |time: Time| time.seconds().to_string();
        let mut own = vec![
            ("weight_fairshare", rules.weight.to_string()),
            ("half_life", seconds(rules.half_life)),
            ("calc_period", seconds(rules.calc_period)),
        ];
        own.extend((!rules.has_fair_tree).then(|| ("fair", "classic".to_owned())));
        own
    }

    /// Returns the priority of a job without the fair share.
    pub(crate) fn base_priority(&self, job: &QueueJob) -> u64 {
        let weight = if self.adds_fair_share { 0.0 } else { f64::from(self.fair_share_weight()) };
        job.priority.saturating_sub(self.fair_share_of(job).map_or(0, |own| (weight * own.factor) as u64))
    }

    /// Removes the fair share from the priorities of pending jobs, so that a policy adds the fair share as it changes.
    ///
    /// # Errors
    /// A sentence with a remedy, if the shares and the usage of users are unknown.
    pub fn separate_fair_share(&mut self) -> Result<(), String> {
        if self.adds_fair_share {
            return Ok(());
        }
        if self.associations.iter().all(|one| one.fair_share.is_none()) {
            return Err("the shares and the usage of users are unknown, so the fair share has no effect; save the \
                        output of `scontrol -o show assoc_mgr` as scontrol.assoc.txt"
                .to_owned());
        }
        let base: Vec<u64> = self.jobs.iter().map(|job| self.base_priority(job)).collect();
        for (job, base) in self.jobs.iter_mut().zip(base).filter(|(job, _)| job.run.is_none()) {
            job.priority = base;
        }
        self.adds_fair_share = true;
        Ok(())
    }

    /// Sets the number of shares of a user, or of an account if `user` is `None`. Separates the fair share.
    ///
    /// # Errors
    /// A sentence with a remedy, if the association or the fair share is unknown.
    pub fn set_shares(&mut self, account: Option<&str>, user: Option<&str>, shares: u32) -> Result<(), String> {
        self.separate_fair_share()?;
        let is_meant =
            |one: &Association| one.user.as_deref() == user && account.is_none_or(|account| one.account == account);
        let mut found = 0;
        for one in self.associations.iter_mut().filter(|one| is_meant(one)) {
            if let Some(own) = &mut one.fair_share {
                own.shares = shares;
                found += 1;
            }
        }
        if found > 0 {
            return Ok(());
        }
        let mut names: Vec<&str> = self
            .associations
            .iter()
            .filter(|one| one.user.is_some() == user.is_some())
            .map(|one| one.user.as_deref().unwrap_or(&one.account))
            .collect();
        names.sort_unstable();
        names.dedup();
        let what = if user.is_some() { "user" } else { "account" };
        let name = user.or(account).unwrap_or_default();
        Err(format!("there is no {what} {name} with shares; shares are known of {}", names.join(", ")))
    }

    /// Returns the fair share of the user of a job, if it is known.
    pub(super) fn fair_share_of(&self, job: &QueueJob) -> Option<FairShare> {
        let is_own = |one: &&Association| {
            one.user.as_deref() == Some(job.user.as_str()) && Some(one.account.as_str()) == job.account.as_deref()
        };
        self.associations.iter().filter(is_own).find_map(|one| one.fair_share)
    }

    /// Returns true if pending jobs belong to several users or accounts. If not, the fair share changes no order.
    pub fn has_several_users(&self) -> bool {
        let mut users = self.jobs.iter().filter(|job| job.run.is_none()).map(|job| (&job.user, &job.account));
        let first = users.next();
        users.any(|other| Some(other) != first)
    }

    /// Returns a note if priorities of pending jobs change with the usage of their users, which is unknown.
    pub(super) fn fair_share_note(&self) -> Option<String> {
        let weight = self.fair_share_weight();
        (weight > 0 && self.fair_share_rules().is_none() && self.has_several_users()).then(|| {
            format!(
                "the priorities of jobs change with the usage of their users ({WEIGHT}={weight}), but starts are \
                 predicted with the present priorities; the file scontrol.assoc.txt, which states shares and usage, is \
                 missing"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ClusterOutput, Texts};
    use super::*;

    /// Returns a queue with one pending job for each of two users. The priorities of the jobs contain the fair share.
    fn queue(assoc: &str) -> Queue {
        enforcing("associations,limits", assoc)
    }

    /// Like [`queue`], with this value of `AccountingStorageEnforce`.
    fn enforcing(enforced: &str, assoc: &str) -> Queue {
        let job = |id: u32, user: &str, priority: u32| {
            format!(
                "JobId={id} JobName=j UserId={user}(1) Account=a Priority={priority} JobState=PENDING SubmitTime=1000 TimeLimit=00:10:00 \
                 Partition=p NumNodes=1-1 NumCPUs=1\n"
            )
        };
        let texts = Texts::default()
            .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 State=IDLE Partitions=p\n")
            .with(ClusterOutput::Jobs, job(1, "ann", 1100) + &job(2, "bob", 350))
            .with(
                ClusterOutput::Config,
                format!(
                    "PriorityType = priority/multifactor\nPriorityWeightFairShare = 1000\nPriorityDecayHalfLife = 7-00:00:00\n\
                     PriorityCalcPeriod = 00:01:00\nPriorityFlags = NO_FAIR_TREE\nAccountingStorageEnforce = {enforced}\n"
                ),
            );
        texts.with(ClusterOutput::Limits, assoc).queue(Some(2000)).unwrap()
    }

    const ASSOC: &str = "ClusterName=c Account=a UserName= Partition= SharesRaw/Norm/Level/Factor=5/0.31/16/0.00 UsageRaw/Norm/Efctv=95.50/0.11/0.11 ParentAccount=\n\
                         ClusterName=c Account=a UserName=ann(9) Partition= SharesRaw/Norm/Level/Factor=3/0.50/2/1.00 UsageRaw/Norm/Efctv=0.00/0.11/1.00 ParentAccount=\n\
                         ClusterName=c Account=a UserName=bob(8) Partition= SharesRaw/Norm/Level/Factor=2147483647/0.50/2/0.25 UsageRaw/Norm/Efctv=95.50/0.11/1.00 ParentAccount=\n";

    #[test]
    fn the_fair_share_is_separated_once() {
        let mut queue = queue(ASSOC);
        let known: Vec<_> = queue.associations.iter().filter_map(|one| one.fair_share).collect();
        assert_eq!(known.iter().map(|own| own.shares).collect::<Vec<_>>(), [5, 3, 1]);
        assert_eq!((known[2].usage, known[2].factor), (95.5, 0.25));
        assert_eq!(queue.fair_share_note(), None);
        for _ in 0..2 {
            queue.separate_fair_share().unwrap();
            assert_eq!(queue.jobs.iter().map(|job| job.priority).collect::<Vec<_>>(), [100, 100]);
        }
        let parameters: Vec<_> = queue.fair_share_parameters();
        let expected =
            [("weight_fairshare", "1000"), ("half_life", "604800"), ("calc_period", "60"), ("fair", "classic")];
        assert_eq!(parameters, expected.map(|(name, value)| (name, value.to_owned())));
        queue.set_shares(Some("a"), None, 7).unwrap();
        queue.set_shares(None, Some("bob"), 9).unwrap();
        let shares: Vec<_> = queue.associations.iter().filter_map(|one| Some(one.fair_share?.shares)).collect();
        assert_eq!(shares, [7, 3, 9]);
        assert!(queue.set_shares(None, Some("eve"), 9).unwrap_err().contains("known of ann, bob"));
        assert!(queue.set_shares(Some("b"), None, 9).unwrap_err().contains("known of a"));
    }

    #[test]
    fn the_fair_share_is_known_if_limits_are_not_enforced() {
        for enforced in ["none", "associations", "associations,limits,qos,safe"] {
            let limited = ASSOC.replace("ParentAccount=", "ParentAccount= GrpJobs=1(0)");
            let queue = enforcing(enforced, &limited);
            assert!(queue.fair_share_rules().is_some() && queue.fair_share_note().is_none(), "{enforced}");
            assert!(queue.fair_share_of(&queue.jobs[1]).unwrap().usage > 95.0);
            let is_limited = queue.associations.iter().any(|one| !one.all.is_empty());
            assert_eq!(is_limited, enforced.contains("limits"), "{enforced}");
        }
    }

    #[test]
    fn unknown_usage_is_an_error_with_a_remedy() {
        let mut queue = queue("");
        assert!(queue.fair_share_note().is_some_and(|note| note.contains("scontrol.assoc.txt")));
        let error = queue.separate_fair_share().unwrap_err();
        assert!(error.contains("scontrol -o show assoc_mgr"), "{error}");
    }
}
