//! Pilots as large as the plan is worth.

use std::path::Path;

use makespan_core::{Instance, Objective, Time};
use makespan_slurm::{Machines, Pool};
use miette::{Result, miette};

use super::size::{Auto, Size, of_seconds, sizes};
use super::{Cluster, Site};
use crate::commands::run::Begun;
use crate::commands::run::decider::Decider;

/// Where the pilots are kept that were chosen, in the folder of the run.
pub(super) const SIZES: &str = "pilot/sizes.txt";

/// Most pilots: beyond, each has several nodes.
const MOST: usize = 32;

/// A plan is good enough whose makespan is at most so many hundredths of what no plan on all nodes falls below.
const WORTH: i128 = 110;

/// So much longer than the plan takes a pilot has its nodes, in seconds, after a quarter of the plan.
const SPARE: u64 = 120;

/// The pilots that an earlier session chose.
pub(super) fn earlier(folder: &Path) -> Option<Vec<Size>> {
    sizes(std::fs::read_to_string(folder.join(SIZES)).ok()?.trim()).ok()
}

/// How many nodes there may be.
pub(super) fn most(auto: &Auto, pool: &Pool) -> usize {
    auto.most.unwrap_or_else(|| pool.size()).max(1)
}

/// Pilots of one node each begin as soon as any node is free; where a task may take several, one pilot has them all.
pub(super) fn shapes(nodes: usize, time: Option<&String>, spans: bool) -> Vec<Size> {
    let each = if spans { nodes } else { nodes.div_ceil(MOST) };
    let full = std::iter::repeat_n(each, nodes / each);
    let all = full.chain(Some(nodes % each).filter(|&rest| rest > 0));
    all.map(|nodes| Size { nodes, time: time.cloned() }).collect()
}

/// An instance on some nodes, and its plan.
struct Candidate {
    instance: Instance,
    machines: Machines,
    planned: Begun,
}

impl Candidate {
    fn makespan(&self) -> Time {
        self.planned.schedule.makespan()
    }

    /// For how long pilots have their nodes: as the plan takes and some more, where its times are more than guesses.
    fn pilot_time(&self, auto: &Auto, pool: &Pool) -> Option<String> {
        if self.instance.has_guesses() {
            return auto.time.clone();
        }
        let stated = Size { nodes: 1, time: auto.time.clone() }.seconds();
        let most = stated.or(pool.partition.max_time.value()).unwrap_or(u64::MAX);
        let plan = u64::try_from(self.makespan().ticks()).unwrap_or(0).div_ceil(1_000_000_000);
        let whole = (plan + plan / 4 + SPARE).div_ceil(60) * 60;
        Some(of_seconds(whole.min(most)))
    }
}

impl Cluster {
    /// Where the plan chooses the pilots, does so: the fewest nodes on which the plan takes at most a tenth longer than any plan must
    /// take on all that there may be. Gives the instance on those, where they are fewer.
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
            let planned = decider.plan(&instance, seed, Vec::new()).ok()?;
            Some(Candidate { instance, machines, planned })
        };
        let most = most(&auto, &pool);
        // What is wrong with the largest is said where it is planned.
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
            "pilots have {nodes} of at most {most} nodes: the plan takes {} s there, and no plan on {most} takes less than {least} s{condition}",
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

    /// Refuses instances whose machines are not those of the cluster.
    fn refuse_others(&self, instance: &Instance) -> Result<()> {
        if instance.platform().nodes() != self.platform.nodes() {
            return Err(miette!(
                "--pilots auto chooses how many nodes there are, and these jobs have machines of their own; leave those out, or state \
                 the pilots, such as --pilots 2x4nodes,1h"
            ));
        }
        if !instance.unavailable().is_empty() {
            return Err(miette!(
                "--pilots auto chooses how many nodes there are, and some are stated to be unavailable at times; state the pilots, such \
                 as --pilots 2x4nodes,1h"
            ));
        }
        Ok(())
    }
}

/// The fewest nodes below `most` for which there is something, if more nodes are never worse: by doubling, then by halves.
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

/// The same jobs on other machines of the cluster.
fn moved(instance: &Instance, machines: &Machines) -> Result<Instance> {
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
