//! The initial lists of a search.

use makespan_core::Objective;

use super::{Moldable, MoldableList};
use crate::kernel::moldable::{List, ListSchedule, ListScheme, Measure, MoldableProblem};
use crate::scheduler::packed::search::orders;
use crate::search::SearchCourse;

/// Maximum fractions of all processors for a task, one for each list. The largest fraction comes first, because it
/// gives the best list most often.
const LARGEST: [f64; 10] = [1.0, 0.75, 0.5, 0.34, 0.25, 0.17, 0.125, 0.09, 0.0625, 0.03];

/// The fraction of the search after which no scheme tries further initial lists.
const TRIED: f64 = 0.15;
/// Even if the time is over, a scheme tries lists until they contain this number of tasks in total.
const TASKS: usize = 40_000;

/// The allotment of each task.
type Chosen = Vec<u32>;
/// The start and the end of each task.
type Times = Vec<(i64, i64)>;

/// The data from which initial lists are made.
pub(super) struct ListSource {
    /// Known schedules.
    known: Vec<(Times, Chosen)>,
    /// Allotments of all tasks, without an order.
    chosen: Vec<Chosen>,
    /// Orders and allotments. These pairs are used if the objective depends on the ends of single jobs.
    ordered: Vec<(Vec<u32>, Chosen)>,
}

impl ListSource {
    /// Creates the source of lists from known schedules and from the average times of the tasks. The average times give
    /// one set of allotments for each fraction in `LARGEST`.
    pub(super) fn new(of: &Moldable<'_, '_>, objective: Objective, known: &[MoldableList]) -> Self {
        let known = known.iter().map(|listed| (of.times(listed), listed.list.chosen.clone())).collect();
        let mut chosen: Vec<Chosen> = Vec::new();
        for share in LARGEST {
            let choices = limited(of, share);
            if !chosen.contains(&choices) {
                chosen.push(choices);
            }
        }
        let ordered = if objective == Objective::Makespan {
            Vec::new()
        } else {
            chosen.iter().flat_map(|choices| by_jobs(of, choices)).collect()
        };
        Self { known, chosen, ordered }
    }

    /// Tries the initial lists, at least one of them, and returns the best.
    pub(super) fn best<'p>(
        &self,
        problem: &'p MoldableProblem<'p>,
        measure: &Measure,
        scheme: ListScheme,
        course: &mut SearchCourse,
    ) -> ListSchedule<'p> {
        let known = self.known.iter().map(|(times, chosen)| again(problem, times, chosen));
        let ranked = self.chosen.iter().map(|chosen| by_rank(problem, chosen));
        let ordered = self.ordered.iter().map(|(order, chosen)| List::new(problem, order, chosen.clone()));
        let schedule = |list| ListSchedule::new(problem, measure.clone(), scheme, list);
        let mut lists = known.chain(ranked).chain(ordered);
        let mut best = schedule(lists.next().expect("`LARGEST` contains at least one fraction, which gives a list"));
        let certain = TASKS / problem.tasks().max(1);
        for (tried, list) in (1..).zip(lists) {
            if tried >= certain && course.step().is_none_or(|done| done > TRIED) {
                break;
            }
            let other = schedule(list);
            if other.value() < best.value() {
                best = other;
            }
        }
        best
    }
}

/// Returns the allotment of each task: the fewest processors with which the task takes at most its average time. If
/// this number exceeds the fraction `share` of all processors, returns the largest allotment within the fraction.
fn limited(of: &Moldable<'_, '_>, share: f64) -> Chosen {
    let problem = &of.problem;
    let most = ((f64::from(problem.instance().processors()) * share) as u32).max(1);
    let choice = |(task, &average): (u32, &f64)| {
        // Allow a small error. In floating point, the average of equal times may be slightly less than these times.
        let longest = average * (1.0 + 1e-4);
        let slower = problem.all_choices_of(task).partition_point(|choice| choice.time as f64 > longest) as u32;
        let choices = problem.choices_of(task);
        (choices.start + slower).min(choices.end - 1).min(problem.at_most(task, most))
    };
    (0..).zip(&of.average).map(choice).collect()
}

/// Returns a list of the tasks of a known schedule, sorted by start. If the problem is reversed, the tasks are sorted
/// by decreasing end.
fn again(problem: &MoldableProblem<'_>, times: &[(i64, i64)], chosen: &[u32]) -> List {
    let mut order: Vec<u32> = (0..times.len() as u32).collect();
    let key = |task: u32| {
        let (start, end) = times[task as usize];
        if problem.is_reversed() { (-end, -start) } else { (start, end) }
    };
    order.sort_by_key(|&task| key(task));
    List::new(problem, &order, chosen.to_vec())
}

/// Returns a list of all tasks, sorted by decreasing longest path to the end.
fn by_rank(problem: &MoldableProblem<'_>, chosen: &[u32]) -> List {
    let mut ranks = vec![0; chosen.len()];
    for &task in problem.order().iter().rev() {
        let behind = problem.behind(task).iter().map(|&behind| ranks[behind as usize]);
        ranks[task as usize] = problem.choice(chosen[task as usize]).time + behind.max().unwrap_or(0);
    }
    let mut order = problem.order().to_vec();
    order.sort_by_key(|&task| std::cmp::Reverse(ranks[task as usize]));
    List::new(problem, &order, chosen.to_vec())
}

/// Returns the orders that [`orders`] makes for the allotments `chosen`, each in a pair with these allotments.
fn by_jobs(of: &Moldable<'_, '_>, chosen: &[u32]) -> Vec<(Vec<u32>, Chosen)> {
    let packing = of.packing;
    let choices: Vec<u32> = packing.rows().map(|row| chosen[packing.first_of(row).index()]).collect();
    let each = orders(packing, &choices).into_iter();
    each.map(|list| (list.iter().map(|entry| entry.task.0 as u32).collect(), chosen.to_vec())).collect()
}
