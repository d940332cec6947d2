//! Marks in a chart: tasks that collided, and deadlines of jobs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use makespan_core::{Instance, JobId, Outcome, Schedule, TaskId, Time, Trace};

use super::escape::{PixelCoordinate, Text};
use super::ticks::duration;

/// Marks in the chart of one schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Tasks with a dark corner in the chart, each with the reason.
    pub tasks: BTreeMap<TaskId, String>,
    /// Deadlines, drawn as triangles above the rows.
    pub deadlines: Vec<Deadline>,
    /// Outcomes of runs, by task and start. Runs that succeeded, and runs with an unknown outcome, are not in this
    /// map.
    pub outcomes: BTreeMap<(TaskId, Time), Outcome>,
}

/// Deadline of a job in a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// Instant of the deadline.
    pub at: Time,
    /// Text of the tooltip.
    pub text: String,
    /// True if the job ended after the deadline or did not end.
    pub missed: bool,
    /// The job, which determines the colour of the triangle.
    pub job: JobId,
}

/// Width of a triangle and of a dark corner, in pixels.
pub(super) const SIZE: f64 = 8.0;

impl Marks {
    /// No marks.
    pub const NONE: &'static Self = &Self { tasks: BTreeMap::new(), deadlines: Vec::new(), outcomes: BTreeMap::new() };

    /// Adds the unsuccessful runs of a trace.
    #[must_use]
    pub fn with_outcomes(self, trace: &Trace) -> Self {
        let bad = trace.runs.iter().filter(|run| run.outcome != Outcome::Succeeded);
        Self { outcomes: bad.map(|run| ((run.task, run.start), run.outcome)).collect(), ..self }
    }

    /// Returns the deadlines of all jobs, with the information whether the schedule meets each deadline.
    pub(super) fn deadlines_of(instance: &Instance, schedule: &Schedule) -> Vec<Deadline> {
        if !instance.has_deadlines() {
            return Vec::new();
        }
        let mut ends: BTreeMap<JobId, Time> = BTreeMap::new();
        for placement in schedule.placements().iter().filter(|placement| instance.has_task(placement.task)) {
            let end = ends.entry(instance.job_id(placement.task)).or_default();
            *end = placement.end.max(*end);
        }
        let of = |id: JobId| {
            let job = instance.job(id);
            let at = job.deadline?;
            let missed = ends.get(&id).is_some_and(|&end| end > at);
            let word = if missed { "missed" } else { "kept" };
            let text = format!("{}: deadline at {}, {word}", job.name, duration(at.seconds()));
            Some(Deadline { at, text, missed, job: id })
        };
        instance.ids().filter_map(of).collect()
    }

    /// Returns an explanation of the marks, or `None` if there are no marks.
    pub(super) fn legend<'a>(all: impl Iterator<Item = &'a Self>) -> Option<&'static str> {
        let (mut tasks, mut deadlines) = (false, false);
        for marks in all {
            (tasks, deadlines) = (tasks | !marks.tasks.is_empty(), deadlines | !marks.deadlines.is_empty());
        }
        match (tasks, deadlines) {
            (false, false) => None,
            (true, false) => Some("dark corner of a task: the task was moved after a collision with another task"),
            (false, true) => Some("triangles above the rows: deadlines of jobs, with a red frame if missed"),
            (true, true) => Some(
                "dark corner of a task: the task was moved after a collision with another task; triangles above the \
                 rows: deadlines of jobs, with a red frame if missed",
            ),
        }
    }

    /// Draws the dark corner of a marked placement. `area` is the first rectangle of the placement.
    pub(super) fn write_corner(&self, out: &mut impl Write, task: TaskId, area: [f64; 4]) -> io::Result<()> {
        let Some(text) = self.tasks.get(&task) else { return Ok(()) };
        let ([x, y], size) = ([area[0], area[1]].map(PixelCoordinate), PixelCoordinate(SIZE.min(area[2]).min(area[3])));
        writeln!(
            out,
            r#"<path class="corner" d="M{x} {y}h{size}l-{size} {size}z"><title>{}</title></path>"#,
            Text(text)
        )
    }
}
