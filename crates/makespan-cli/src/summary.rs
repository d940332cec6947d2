//! Describes plans as text: objectives, bounds, ratios and placements.

use std::collections::BTreeMap;
use std::fmt::Write;

use makespan::{Front, FrontPoint};
use makespan_core::{Instance, Job, JobId, Objective, Placement, Platform, ProcSet, Rows, Schedule, Time, counted};
use makespan_verify::Bound;
use makespan_verify::check::other_metrics;
pub use makespan_verify::check::{amount, figure, objectives, value};

use makespan_slurm::compress;

use crate::output::{table, wrapped};

/// Maximum number of jobs in a printed list.
const LISTED: usize = 40;
/// Maximum number of nodes for which tables name the nodes.
const MAX_NODES: usize = 1 << 16;
/// Maximum length of a list of nodes in a table, in characters.
const MAX_NAMES: usize = 32;
/// Maximum number of processor intervals of a bag. If there are more, the intervals are merged.
const MAX_INTERVALS: usize = 1 << 16;

/// Describes an instance, such as `400 jobs on 200 processors`.
pub fn instance(instance: &Instance) -> String {
    let jobs = instance.jobs().len();
    let processors = instance.processors();
    let mut text = format!("{} on {}", counted(jobs, "job"), counted(processors, "processor"));
    let bags = instance.jobs().iter().filter(|job| job.is_bag()).count();
    if bags > 0 {
        let _ = write!(text, ", {} among them, {} in all", counted(bags, "bag"), counted(instance.tasks(), "task"));
    }
    let graphs = instance.jobs().iter().filter(|job| job.is_compound());
    let (count, of_graphs) = graphs.fold((0, 0), |(count, tasks), job| (count + 1, tasks + job.tasks()));
    if count > 0 && count == jobs {
        let _ = write!(text, ", {} of {}", if count == 1 { "a graph" } else { "graphs" }, counted(of_graphs, "task"));
    } else if count > 0 {
        let _ = write!(text, ", {} of {} among them", counted(count, "graph"), counted(of_graphs, "task"));
    }
    if instance.has_release_dates() {
        text += ", with release dates";
    }
    if !instance.unavailable().is_empty() {
        let periods = instance.unavailable().len();
        let _ = write!(text, ", {}", counted(periods, "unavailable period"));
    }
    text
}

/// Formats the numbers of one column with the number of decimals that the largest number needs, so that the decimal
/// points are aligned.
pub fn column(values: &[f64]) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let places = figure(largest).split_once('.').map_or(0, |(_, digits)| digits.len());
    values.iter().map(|value| format!("{value:.places$}")).collect()
}

/// Separates the thousands of a number for pages. Returns any other text unchanged.
pub fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = whole.trim_start_matches('-');
    if digits.len() < 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut shown = String::new();
    for (at, sign) in whole.char_indices() {
        let left = whole.len() - at;
        if left % 3 == 0 && shown.ends_with(|last: char| last.is_ascii_digit()) {
            shown.push('\u{202F}');
        }
        shown.push(sign);
    }
    shown + rest
}

/// Formats the rows of a table for pages, with [`grouped`].
pub fn grouped_rows(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    rows.into_iter().map(|row| row.iter().map(|cell| grouped(cell)).collect()).collect()
}

/// Formats a number of bytes in the largest unit that gives a value of at least 1.
pub fn bytes(count: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| count >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => format!("{count} bytes"),
    }
}

/// Returns rows as [`objectives`] does, without the bounds.
pub fn values(instance: &Instance, schedule: &Schedule, bounds: &[Bound], minimised: &[Objective]) -> String {
    let rows = bounds.iter().map(|Bound { objective, .. }| {
        let is_minimised = minimised.is_empty() || minimised.contains(objective);
        let value = value(*objective, objective.value(instance, schedule));
        vec![objective.to_string(), value, if is_minimised { "" } else { "not minimised" }.to_owned()]
    });
    table(&["objective", "value (s)", ""], 1, rows) + &other_metrics(instance, schedule)
}

/// Returns a table of the schedules of a front, with the bounds of each schedule.
pub fn front(instance: &Instance, front: &Front, bounds: &[Bound]) -> String {
    let (heading, rows) = front_rows(instance, front, bounds);
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let about = "the front; each bound applies to schedules with a makespan of at most the value under `within`";
    let condition = instance.condition();
    format!("\n{about}{condition}:\n{}", table(&heading, 1, rows))
}

/// Returns the headings and the cells of the table of a front.
pub fn front_rows(instance: &Instance, front: &Front, bounds: &[Bound]) -> (Vec<String>, Vec<Vec<String>>) {
    let shortest = bounds.iter().find(|bound| bound.objective == Objective::Makespan);
    let second = front.points().iter().find_map(|point| point.bound.as_ref()).map(|bound| bound.objective);
    let second = second.unwrap_or(Objective::WeightedCompletion);
    let points = front.points();
    let reached = |objective: Objective| {
        let values = points.iter().map(|point| amount(objective, objective.value(instance, &point.schedule)));
        values.collect::<Vec<f64>>()
    };
    let bound_of = |point: &FrontPoint| {
        point.bound.as_ref().map_or(f64::NAN, |bound| amount(bound.objective, bound.value.clone()))
    };
    let within = |point: &FrontPoint| {
        let most = point.bound.as_ref().and_then(|bound| bound.makespan_at_most);
        most.map_or(f64::NAN, Time::seconds)
    };
    // The values and the bounds of an objective are printed with the same number of digits.
    let halves = |first: Vec<f64>, second: Vec<f64>| {
        let mut first = column(&[first, second].concat());
        let second = first.split_off(points.len());
        (first, second)
    };
    let (makespans, withins) = halves(reached(Objective::Makespan), points.iter().map(within).collect());
    let (seconds, proved) = halves(reached(second), points.iter().map(bound_of).collect());
    let rows = points.iter().enumerate().map(|(index, point)| {
        let schedule = &point.schedule;
        let over = |bound: Option<&Bound>| {
            bound.and_then(|bound| bound.ratio_of(instance, schedule)).map_or("-".into(), |ratio| format!("{ratio:.4}"))
        };
        let bound = point.bound.as_ref();
        vec![
            if index == front.chosen() { "chosen" } else { "" }.into(),
            makespans[index].clone(),
            over(shortest),
            seconds[index].clone(),
            bound.map_or("-".into(), |_| proved[index].clone()),
            bound.map_or("-".into(), |bound| bound.makespan_at_most.map_or("any".into(), |_| withins[index].clone())),
            over(bound),
        ]
    });
    let heading = ["", "makespan", "ratio", &second.to_string(), "bound", "within", "ratio"].map(str::to_owned);
    (heading.to_vec(), rows.collect())
}

/// Returns a table of the jobs in order of their starts. A bag has one line. If there are too many jobs, returns the
/// number of placements and `elsewhere`, a text that says where all placements are.
pub fn placements(instance: &Instance, schedule: &Schedule, elsewhere: &str) -> String {
    let mut bags: BTreeMap<JobId, Bag> = BTreeMap::new();
    let mut rows: Vec<(Time, Vec<String>)> = Vec::new();
    let placements = schedule.placements();
    for placement in placements {
        let id = instance.job_id(placement.task);
        if instance.job(id).is_bag() {
            bags.entry(id).or_insert_with(|| Bag::first(placement)).add(placement);
        } else if rows.len() <= LISTED {
            rows.push((placement.start, row(instance, placement)));
        }
    }
    if rows.len() + bags.len() > LISTED {
        return format!("{} placements; {elsewhere}\n", placements.len());
    }
    rows.extend(bags.into_iter().map(|(id, bag)| (bag.start, bag.row(instance, instance.job(id)))));
    rows.sort_by_key(|(start, _)| *start);
    let rows = rows.into_iter().map(|(_, cells)| cells);
    if names_nodes(instance.platform()) {
        return table(&["job", "nodes", "processors", "allotment", "start", "end"], 3, rows);
    }
    table(&["job", "processors", "allotment", "start", "end"], 2, rows)
}

fn row(instance: &Instance, placement: &Placement) -> Vec<String> {
    let processors = &placement.processors;
    let cells = [
        processors.to_string(),
        processors.len().to_string(),
        figure(placement.start.seconds()),
        figure(placement.end.seconds()),
    ];
    named(instance, instance.name(placement.task).into_owned(), processors).chain(cells).collect()
}

/// Returns the name of a job. If tables name nodes, the names of the job's nodes follow.
fn named(instance: &Instance, name: String, processors: &ProcSet) -> impl Iterator<Item = String> {
    let platform = instance.platform();
    std::iter::once(name).chain(names_nodes(platform).then(|| node_names(platform, processors)))
}

/// A summary of the placements of a bag.
struct Bag {
    tasks: usize,
    start: Time,
    end: Time,
    processors: Vec<(u32, u32)>,
    narrowest: u32,
    widest: u32,
}

impl Bag {
    /// Creates a summary with the start, end and width of `placement` and a task count of 0.
    fn first(placement: &Placement) -> Self {
        let width = placement.processors.len();
        let (start, end) = (placement.start, placement.end);
        Self { tasks: 0, start, end, processors: Vec::new(), narrowest: width, widest: width }
    }

    fn add(&mut self, placement: &Placement) {
        self.tasks += 1;
        self.start = self.start.min(placement.start);
        self.end = self.end.max(placement.end);
        self.processors.extend(placement.processors.intervals());
        self.narrowest = self.narrowest.min(placement.processors.len());
        self.widest = self.widest.max(placement.processors.len());
        // With millions of tasks, unmerged intervals would need too much memory.
        if self.processors.len() > MAX_INTERVALS {
            self.processors = ProcSet::from_intervals(std::mem::take(&mut self.processors)).intervals().to_vec();
        }
    }

    fn row(self, instance: &Instance, job: &Job<Rows>) -> Vec<String> {
        let processors = ProcSet::from_intervals(self.processors);
        let ids = processors.to_string();
        let kind = if job.is_best_effort() { ", best effort" } else { "" };
        let name = format!("{}: {} task{}{kind}", job.name, self.tasks, if self.tasks == 1 { "" } else { "s" });
        let cells = [
            if ids.len() > 24 { format!("{} in all", processors.len()) } else { ids },
            if self.narrowest == self.widest {
                self.widest.to_string()
            } else {
                format!("{}-{}", self.narrowest, self.widest)
            },
            figure(self.start.seconds()),
            figure(self.end.seconds()),
        ];
        named(instance, name, &processors).chain(cells).collect()
    }
}

/// Returns true if tables name nodes: the number of nodes is from 2 to `MAX_NODES`.
pub fn names_nodes(platform: &Platform) -> bool {
    (2..=MAX_NODES).contains(&platform.node_count())
}

/// Returns the names of the nodes of these processors in short form, such as `n[0-2],n5`.
pub fn node_names(platform: &Platform, processors: &ProcSet) -> String {
    let parts = platform.parts(processors);
    let names = compress(parts.iter().map(|part| platform.nodes()[part.0].name.as_str()));
    if names.chars().count() > MAX_NAMES { format!("{} nodes", parts.len()) } else { names }
}

/// Formats each remark as a paragraph.
pub fn remarks(remarks: &[String]) -> String {
    remarks.iter().map(|remark| wrapped("note: ", 6, remark)).collect()
}

/// Capitalises the first letter of a text.
pub fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_column_have_the_same_digits() {
        assert_eq!(column(&[843.553, 927.909, 1012.2, 1012.3]), ["843.6", "927.9", "1012.2", "1012.3"]);
        assert_eq!(column(&[0.5, 99.0]), ["0.500", "99.000"]);
        assert_eq!(column(&[f64::NAN, 2e6]), ["NaN", "2000000"]);
        assert!(column(&[]).is_empty());
    }

    #[test]
    fn pages_have_thousands_apart() {
        let cells = ["10994035960900", "-1012.25", "999", "1000", "0:03:27.781", "1234 s", "89.4 %", "easy", "", "-"];
        let shown = cells.map(grouped).map(|text| text.replace('\u{202F}', "'"));
        assert_eq!(
            shown,
            ["10'994'035'960'900", "-1'012.25", "999", "1'000", "0:03:27.781", "1234 s", "89.4 %", "easy", "", "-"]
        );
    }
}
