//! Priority rules with the serial or the parallel schedule generation scheme.

use makespan_core::{Instance, Objective, ResourceKind, Schedule, Unsupported};

use super::{INSTEAD, needs_open_processors, packed};
use crate::kernel::cumulative::{CumulativeProblem, SerialScheme};
use crate::kernel::packing::{Packing, Row};
use crate::kernel::priorities;
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// The rule that determines the order of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The least latest finish time.
    Lft,
    /// The greatest number of direct and indirect successors (most total successors).
    Mts,
    /// The greatest rank positional weight: the time of the task plus the times of its direct successors.
    Grpw,
    /// The least worst-case slack. This rule needs the parallel scheme.
    Wcs,
}

/// The scheme that makes a schedule from a list of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Places one task after another, each at the earliest instant at which it fits.
    Serial,
    /// Goes through the instants in increasing order. At each instant, starts all tasks that fit.
    Parallel,
}

named!(Rule { "lft" => Lft, "mts" => Mts, "grpw" => Grpw, "wcs" => Wcs });
named!(Scheme { "serial" => Serial, "parallel" => Parallel });

/// A priority rule of resource-constrained project scheduling, with the serial or the parallel scheme.
///
/// Source: R. Kolisch, "Serial and parallel resource-constrained project scheduling methods revisited: theory and
/// computation", EJOR 90, 1996, DOI 10.1016/0377-2217(95)00357-6, for the schemes and LFT, MTS and GRPW; the same
/// author, "Efficient priority rules for the resource-constrained project scheduling problem", J. Operations Management
/// 14, 1996, DOI 10.1016/0272-6963(95)00032-1, for WCS. LFT is from E. Davis, J. Patterson, Management Science 21,
/// 1975, DOI 10.1287/mnsc.21.8.944; MTS and GRPW are from R. Alvarez-Valdés, J. Tamarit, in Advances in Project
/// Scheduling, 1989. Assumptions: processors are always open; with the serial scheme and for WCS, every resource is one
/// pool ([`CumulativeProblem::new`]). Guarantee: none. Complexity: O(n log n + e) for the keys of n tasks with e edges,
/// or O(n (n + e)) for MTS; plus the complexity of [`SerialScheme`], of decoding a list forward in time, or of
/// [`priorities::worst_case_slack`]. Deviations: the modes of tasks (allotments, if tasks are moldable) are chosen
/// before any task is placed. The modes balance the longest path and the area ([`Packing::balanced`]), and are then
/// changed until the consumables suffice. If keys are equal, the task with the lower index comes first. Several jobs
/// are planned together, and the keys ignore releases.
///
/// ```
/// use makespan_algos::scheduler::{Priority, Rule, Scheme};
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Need, Needs, Platform, Profile, Resources, Time};
///
/// // One crew: b waits for a, so that a is the more urgent one of a and c.
/// let job = |name: &str, seconds, after: &[&str]| {
///     let job = Job::new(name, Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
///     job.with_after(after.to_vec()).with_needs(Needs::new([("crew", Need::whole(u64::from(name != "b")))]).unwrap())
/// };
/// let platform = Platform::flat(3).unwrap().with_licences(Resources::new([("crew", 1)]).unwrap()).unwrap();
/// let jobs = vec![job("c", 3, &[]), job("a", 2, &[]), job("b", 4, &["a"])];
/// let instance = Instance::new(platform, jobs, vec![]).unwrap();
/// for scheme in [Scheme::Serial, Scheme::Parallel] {
///     let plan = Priority { rule: Rule::Lft, scheme }.schedule(&instance, &mut Context::default()).unwrap();
///     assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(6));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// The rule that determines the order of the tasks.
    pub rule: Rule,
    /// The scheme that makes the schedule from the list.
    pub scheme: Scheme,
}

impl Priority {
    /// Returns an error if the scheme does not support the rule.
    ///
    /// # Errors
    /// The error is a description of the scheme that the rule needs.
    pub fn check(self) -> Result<Self, String> {
        if self.rule == Rule::Wcs && self.scheme == Scheme::Serial {
            return Err("parallel with rule=wcs, which compares tasks that could start at the same instant".into());
        }
        Ok(self)
    }

    /// If the rule or the scheme needs each resource as one pool, returns the problem of the pools. Otherwise, returns
    /// `None`.
    fn pools<'a>(self, packing: &Packing<'a>) -> Result<Option<CumulativeProblem<'a>>, Unsupported> {
        if self.rule != Rule::Wcs && self.scheme == Scheme::Parallel {
            return Ok(None);
        }
        let what = if self.rule == Rule::Wcs { "rule=wcs" } else { "scheme=serial" };
        let instead = if self.rule == Rule::Wcs { "another rule" } else { "scheme=parallel" };
        let refused = |why: &str| Unsupported(format!("{what} {why}; use {instead}, {INSTEAD}"));
        if self.rule == Rule::Wcs && !packing.machines().held.is_empty() {
            return Err(refused("does not consider resources that other work holds"));
        }
        let why = "needs equal processors, resources of at most one node, and no transfers";
        CumulativeProblem::new(packing).map(Some).ok_or_else(|| refused(why))
    }

    fn planned(self, instance: &Instance) -> Result<Schedule, Unsupported> {
        needs_open_processors(instance)?;
        let packing = packed::packing(instance)?;
        let pools = self.pools(&packing)?;
        let choices = packed::balanced(&packing)?;
        let keys = match self.rule {
            Rule::Lft | Rule::Wcs => priorities::latest_finish(&packing, &choices),
            Rule::Mts => priorities::most_total_successors(&packing),
            Rule::Grpw => priorities::greatest_rank_positional_weight(&packing, &choices),
        };
        let Some(problem) = pools else {
            return packed::carried_out(&packing, &packing.list(&choices, |row| keys[row.index()]), false);
        };
        let modes: Vec<u32> =
            (0..problem.tasks() as u32).map(|task| mode(&packing, &problem, &choices, task)).collect();
        let used_up = || packed::used_up(&packing);
        if self.rule == Rule::Wcs {
            let taken: Vec<u32> = packing.rows().map(|row| choice_of(&problem, &modes, row)).collect();
            let starts = priorities::worst_case_slack(&packing, &taken).ok_or_else(used_up)?;
            let starts: Vec<i64> = starts.into_iter().map(|start| problem.instant(start)).collect();
            return Ok(problem.schedule(&starts, &modes));
        }
        let order: Vec<u32> =
            packing.ready_first(|row| keys[row.index()]).into_iter().map(|task| task.0 as u32).collect();
        let mut scheme = SerialScheme::new(&problem);
        if !scheme.forward(&order, &modes, |_, _| true) {
            return Err(used_up());
        }
        Ok(problem.schedule(scheme.starts(), &modes))
    }
}

/// Returns the mode of a task for its allotment. If the problem omits this mode, returns another mode that is at least
/// as fast and does not consume more.
fn mode(packing: &Packing<'_>, problem: &CumulativeProblem<'_>, choices: &[u32], task: u32) -> u32 {
    let row = problem.row_of(task);
    let wanted = choices[row.index()];
    let used_up = |choice: u32| {
        let demands = packing.demands_of(row).iter().filter(|demand| demand.kind == ResourceKind::Consumable);
        demands.map(move |demand| demand.need.total(packing.choice(choice).processors))
    };
    let as_good = |mode: &u32| {
        let choice = problem.mode(*mode).choice;
        let no_more = used_up(choice).zip(used_up(wanted)).all(|(own, wanted)| own <= wanted);
        no_more && packing.fastest(choice) <= packing.fastest(wanted)
    };
    let mut modes = problem.modes_of(row);
    let same = modes.clone().find(|&mode| problem.mode(mode).choice == wanted);
    same.or_else(|| modes.find(as_good)).expect("a mode is omitted only if another mode is as good")
}

/// Returns the allotment of a row of equal tasks, from the mode of its first task.
fn choice_of(problem: &CumulativeProblem<'_>, modes: &[u32], row: Row) -> u32 {
    problem.mode(modes[problem.tasks_of(row).start as usize]).choice
}

impl Scheduler for Priority {
    fn name(&self) -> String {
        match self.scheme {
            Scheme::Serial => format!("priority[rule={}]", self.rule),
            Scheme::Parallel => format!("priority[rule={},scheme=parallel]", self.rule),
        }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_open_processors(instance)?;
        self.pools(&packed::packing(instance)?).map(drop)
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, _: &mut Context) -> Result<Plan, ScheduleError> {
        packed::planned(self, self.planned(instance))
    }
}
