//! The critical jobs method with all that can be chosen in it, apart from who calls it.

use makespan_core::Instance;

use super::criterion::Criterion;
use super::ranking::Cover;
use super::reserve::Isolated;
use super::strategy::{Settings, Start};
use crate::kernel::graph::GraphProblem;

/// How jobs are planned, and within which time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// How each job is planned.
    pub settings: Settings,
    /// How long after its release a job that states no deadline may end, as a multiple of HEFT's makespan for it on idle
    /// processors.
    pub deadline: f64,
    /// Whether chains are planned on types of processors, with collisions resolved afterwards.
    pub types: bool,
    /// Whether data between tasks on one node take the time that they take over its link, although the platform may give
    /// them for nothing: the plan is then never shorter than what happens.
    pub paid: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { settings: Settings::default(), deadline: 1.5, types: false, paid: false }
    }
}

impl Method {
    /// The tasks of an instance with transfers as this method counts them.
    ///
    /// # Panics
    /// When a task does not accept one processor.
    pub fn problem(&self, instance: &Instance) -> GraphProblem {
        if self.paid { GraphProblem::with_paid_transfers(instance) } else { GraphProblem::new(instance) }
    }

    /// What differs from `default`, as parameters of a spec, in the order of the catalogue.
    pub fn parameters(&self, default: &Self) -> Vec<String> {
        let each = self.all().into_iter().zip(default.all());
        each.filter(|(own, usual)| own != usual).map(|((key, value), _)| format!("{key}={value}")).collect()
    }

    fn all(&self) -> [(&'static str, String); 10] {
        let Settings { criterion: aim, cover: chains, start: into, penalties, isolated: alone } = self.settings;
        [
            ("criterion", criterion(aim).to_owned()),
            ("deadline", self.deadline.to_string()),
            ("chains", cover(chains).to_owned()),
            ("start", start(into).to_owned()),
            ("cpus", cpus(self.types).to_owned()),
            ("isolated", isolated(alone).to_owned()),
            ("same-cpu-transfer", transfer(self.paid).to_owned()),
            ("penalty-cost", penalties.cost.to_string()),
            ("penalty-delay", penalties.delay.to_string()),
            ("penalty-change", penalties.change.to_string()),
        ]
    }
}

fn criterion(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Cost => "cost",
        Criterion::Utilisation => "utilisation",
    }
}

fn cover(cover: Cover) -> &'static str {
    match cover {
        Cover::Covering => "covering",
        Cover::Disjoint => "disjoint",
    }
}

fn start(start: Start) -> &'static str {
    match start {
        Start::Empty => "empty",
        Start::Heft => "heft",
        Start::Both => "both",
    }
}

fn cpus(types: bool) -> &'static str {
    if types { "types" } else { "real" }
}

fn isolated(isolated: Isolated) -> &'static str {
    match isolated {
        Isolated::Run => "run",
        Isolated::Reserve => "reserve",
    }
}

fn transfer(paid: bool) -> &'static str {
    if paid { "paid" } else { "free" }
}
