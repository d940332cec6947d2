//! The phases of a flow of tasks: saturation, slide region and starvation.

use serde::{Deserialize, Serialize};

use crate::measure::Usage;
use crate::model::{Instance, Time};
use crate::online::Trace;

/// The state of a system that serves a flow of tasks. Source: W. Sun, Y. Zhang, Y. Wu and Y. Inoguchi, "Practical Task
/// Flow Scheduling for High Throughput Computational Grid", section 2. The paper names the phases without thresholds:
/// in saturation, "enough tasks" wait. Here, "enough" means more than two waiting tasks for each processor, which is
/// the threshold of the paper's scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// All processors run tasks, and the number of waiting tasks is more than twice the number of processors.
    Saturation,
    /// The system is neither saturated nor starved. The paper calls this phase the slide region.
    Slide,
    /// At least one processor is idle, and no task waits.
    Starvation,
}

/// The phases of a system over time, from the first release of a task on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// The steps in order of time. Consecutive steps have distinct phases.
    pub steps: Vec<PhaseStep>,
    /// End of the last task.
    pub end: Time,
}

/// A phase that holds from an instant until the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseStep {
    /// Start of the phase.
    pub from: Time,
    /// The phase of the system until the next step.
    pub phase: Phase,
}

impl Phase {
    /// All phases, in the order in which reports list them.
    pub const ALL: [Self; 3] = [Self::Saturation, Self::Slide, Self::Starvation];

    fn of(held: u32, waiting: u32, processors: u32) -> Self {
        if held == processors && u64::from(waiting) > 2 * u64::from(processors) {
            Self::Saturation
        } else if held < processors && waiting == 0 {
            Self::Starvation
        } else {
            Self::Slide
        }
    }

    /// Returns the name of the phase in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Saturation => "saturation",
            Self::Slide => "slide region",
            Self::Starvation => "starvation",
        }
    }
}

impl Phases {
    /// Computes the phases of a trace. A task waits from its release to its start, even if the scheduler has already
    /// sent it to a node.
    pub fn of(instance: &Instance, trace: &Trace) -> Self {
        let usage = Usage::of(instance, trace);
        let Some(end) = usage.steps.last().map(|step| step.from) else { return Self::default() };
        let mut steps: Vec<PhaseStep> = Vec::new();
        let mut add = |from, phase| {
            if steps.last().is_none_or(|last: &PhaseStep| last.phase != phase) {
                steps.push(PhaseStep { from, phase });
            }
        };
        let first = usage.steps[0].from;
        if instance.first_release() < first {
            add(instance.first_release(), Phase::Starvation);
        }
        for step in usage.steps.iter().filter(|step| step.from < end) {
            add(step.from, Phase::of(step.held, step.waiting, instance.processors()));
        }
        Self { steps, end }
    }

    /// Returns the fraction of the whole time, from the first release to the end, in which the system was in a phase.
    pub fn share(&self, phase: Phase) -> f64 {
        let Some(first) = self.steps.first() else { return 0.0 };
        self.within(phase, first.from, self.end)
    }

    /// Returns the fraction of time from `from` to `until` in which the system was in a phase. Takes O(number of
    /// steps).
    pub fn within(&self, phase: Phase, from: Time, until: Time) -> f64 {
        let ends = self.steps.iter().skip(1).map(|step| step.from).chain([self.end]);
        let time = |(step, end): (&PhaseStep, Time)| end.min(until).saturating_since(step.from.max(from)).seconds();
        let held = self.steps.iter().zip(ends).filter(|(step, _)| step.phase == phase).map(time);
        // Uses `fold` from 0.0 instead of `sum`, because the sum of an empty iterator of floats is -0.
        let held = held.fold(0.0, |sum: f64, time| sum + time);
        let whole = until.min(self.end).saturating_since(from).seconds();
        if whole > 0.0 { held / whole } else { 0.0 }
    }
}
