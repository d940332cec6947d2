//! Compares plans to choose the number of nodes of the pilots (`--pilots auto`).

use std::path::Path;

use makespan_core::{Instance, Objective, Time};
use makespan_slurm::{PlanMachines, Pool};
use miette::{Result, miette};

use super::size::{PilotLimits, PilotRequest, of_seconds, sizes};
use super::{Cluster, Site};
use crate::commands::run::BegunPlan;
use crate::commands::run::decider::Decider;

/// File in the folder of the run that stores the chosen pilots.
pub(super) const SIZES: &str = "pilot/sizes.txt";

/// Maximum number of pilots. If there are more nodes, each pilot has several nodes.
const MOST: usize = 32;

/// Maximum makespan of an acceptable plan on fewer nodes, in percent of the proven bound for a plan on all nodes.
const WORTH: i128 = 110;

/// Time in seconds that is added to 5/4 of the planned makespan. The sum is the time limit of a pilot.
const SPARE: u64 = 120;

/// Returns the pilots that an earlier session chose.
pub(super) fn earlier(folder: &Path) -> Option<Vec<PilotRequest>> {
    sizes(std::fs::read_to_string(folder.join(SIZES)).ok()?.trim()).ok()
}

/// Returns the maximum number of nodes of all pilots together.
pub(super) fn most(auto: &PilotLimits, pool: &Pool) -> usize {
    auto.most.unwrap_or_else(|| pool.size()).max(1)
}

/// Returns pilots with `nodes` nodes in total. Small pilots are preferred, because they start as soon as a few nodes
/// are free. If a task may use several nodes (`spans`), a single pilot has all nodes.
pub(super) fn shapes(nodes: usize, time: Option<&String>, spans: bool) -> Vec<PilotRequest> {
    let each = if spans { nodes } else { nodes.div_ceil(MOST) };
    let full = std::iter::repeat_n(each, nodes / each);
    let all = full.chain(Some(nodes % each).filter(|&rest| rest > 0));
    all.map(|nodes| PilotRequest { nodes, time: time.cloned() }).collect()
}

/// The instance on a candidate number of nodes, with its plan.
struct Candidate {
    instance: Instance,
    machines: PlanMachines,
    planned: BegunPlan,
}

impl Candidate {
    fn makespan(&self) -> Time {
        self.planned.schedule.makespan()
    }

    /// Returns the time limit of the pilots: 5/4 of the planned makespan plus [`SPARE`], up to the maximum limit. If
    /// run times are guesses, returns the time limit that the user stated, or `None`.
    fn pilot_time(&self, auto: &PilotLimits, pool: &Pool) -> Option<String> {
        if self.instance.has_guesses() {
            return auto.time.clone();
        }
        let stated = PilotRequest { nodes: 1, time: auto.time.clone() }.seconds();
        let most = stated.or(pool.partition.max_time.value()).unwrap_or(u64::MAX);
        let plan = u64::try_from(self.makespan().ticks()).unwrap_or(0).div_ceil(1_000_000_000);
        let whole = (plan + plan / 4 + SPARE).div_ceil(60) * 60;
        Some(of_seconds(whole.min(most)))
    }
}

impl Cluster {
    /// Chooses the pilots for `--pilots auto`: the smallest number of nodes for which the makespan of the plan is at
    /// most 10 % above the proven bound for the maximum number of nodes.
    ///
    /// Returns the instance on the chosen nodes. Returns `None` without `--pilots auto`, or if there is no plan for
    /// the maximum number of nodes.
    pub fn choose_pilots(&mut self, decider: &Decider, instance: &Instance, seed: u64) -> Result<Option<Instance>> {
        let Site::Asked { pool, auto: Some(auto), .. } = &self.site else { return Ok(None) };
        let (pool, auto) = (pool.clone(), auto.clone());
        self.refuse_others(instance)?;
        let smallest = instance.platform().nodes().iter().map(|node| node.processors).filter(|&count| count > 0).min();
        let smallest = smallest.unwrap_or(1);
        let spans = instance.different_task_ids().any(|task| instance.profile(task).max_processors() > smallest);
        let try_on = |nodes: usize| -> Option<Candidate> {
            let counts: Vec<usize> = shapes(nodes, None, spans).iter().map(|size| size.nodes).collect();
            let machines = pool.choose(&counts).ok()?;
            let instance = moved(instance, &machines).ok()?;
            let planned = decider.plan(&instance, seed, Vec::new(), true).ok()?;
            Some(Candidate { instance, machines, planned })
        };
        let most = most(&auto, &pool);
        // If no plan is possible on the maximum number of nodes, the run plans again later and reports the cause.
        let Some(all) = try_on(most) else { return Ok(None) };
        let bound = all.planned.bounds.iter().find(|bound| bound.objective == Objective::Makespan);
        let least =
            bound.and_then(|bound| i64::try_from(bound.value.integer()).ok()).map_or(Time::ZERO, Time::from_ticks);
        let is_worth =
            |candidate: &Candidate| i128::from(candidate.makespan().ticks()) * 100 <= i128::from(least.ticks()) * WORTH;
        let chosen = fewest(most, |nodes| try_on(nodes).filter(is_worth));
        let (nodes, chosen) = chosen.unwrap_or((most, all));
        let condition = chosen.instance.condition();
        let time = chosen.pilot_time(&auto, &pool);
        self.remarks.clone_from(&chosen.machines.remarks);
        self.remarks.push(format!(
            "pilots use {nodes} of at most {most} nodes: this plan takes {} s, and no plan on {most} nodes takes less \
             than {least} s{condition}",
            chosen.makespan()
        ));
        self.platform = chosen.machines.platform;
        if let Site::Asked { sizes, .. } = &mut self.site {
            *sizes = shapes(nodes, time.as_ref(), spans);
            let default = pool.partition.default_time.unwrap_or(pool.partition.max_time).value();
            self.limit = sizes.iter().filter_map(|size| size.seconds().or(default)).min();
        }
        Ok(Some(chosen.instance))
    }

    /// Returns an error if the instance states other machines than those of the cluster, or unavailable periods.
    fn refuse_others(&self, instance: &Instance) -> Result<()> {
        if instance.platform().nodes() != self.platform.nodes() {
            return Err(miette!(
                "--pilots auto chooses the number of nodes, but the file or the options state other machines; remove \
                 these machines, or state the pilots, such as --pilots 2x4nodes,1h"
            ));
        }
        if !instance.unavailable().is_empty() {
            return Err(miette!(
                "--pilots auto chooses the number of nodes, but the input states unavailable periods of nodes; state the pilots, such as \
                 --pilots 2x4nodes,1h"
            ));
        }
        Ok(())
    }
}

/// Returns the smallest number of nodes below `most` for which `at` returns a value, and the value. Precondition: if
/// `at` returns a value for a number, it also returns one for every larger number. The search doubles the number of
/// nodes, then bisects.
fn fewest<T>(most: usize, mut at: impl FnMut(usize) -> Option<T>) -> Option<(usize, T)> {
    let (mut below, mut nodes) = (0, 1);
    let mut found = loop {
        if nodes >= most {
            break None;
        }
        if let Some(candidate) = at(nodes) {
            break Some((nodes, candidate));
        }
        below = nodes;
        nodes *= 2;
    };
    let mut above = found.as_ref().map_or(most, |(nodes, _)| *nodes);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        match at(middle) {
            Some(candidate) => {
                found = Some((middle, candidate));
                above = middle;
            }
            None => below = middle,
        }
    }
    found
}

/// Returns the instance with its jobs on other machines of the cluster.
fn moved(instance: &Instance, machines: &PlanMachines) -> Result<Instance> {
    let old = instance.platform();
    let placed = machines.platform.clone().with_placement(old.stated_placement());
    let platform = placed.with_licences(old.licences().clone());
    let platform = platform.and_then(|platform| platform.with_consumables(old.consumables().clone()));
    let platform = platform.map_err(|error| miette!("{error}"))?;
    Instance::new(platform, instance.all_submitted(), Vec::new()).map_err(|error| miette!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_are_found() {
        for most in 1..40 {
            for least in 1..=most {
                let found = fewest(most, |nodes| (nodes >= least).then_some(nodes));
                let expected = (least < most).then_some((least, least));
                assert_eq!(found, expected, "{least} of {most}");
            }
        }
    }

    #[test]
    fn shapes_have_all_nodes() {
        for nodes in 1..200 {
            for spans in [false, true] {
                let all = shapes(nodes, None, spans);
                assert_eq!(all.iter().map(|size| size.nodes).sum::<usize>(), nodes);
                assert!(all.len() <= MOST + 1 && (!spans || all.len() == 1), "{nodes}: {}", all.len());
            }
        }
    }
}
