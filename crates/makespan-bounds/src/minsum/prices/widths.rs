//! Selection of the functions of the width that get a price. The width of a job is its number of processors.

use makespan_core::{Instance, SimpleJob};

use super::terms::Width;
use crate::dual_feasible::{Grid, families, steps};

/// Maximum number of classes of widths.
const CLASSES: i64 = 60;
/// Maximum number of functions that get a price, in addition to the number of processors itself.
const MOST: usize = 3;
/// Number of parts into which the jobs are divided, in the order of their release dates.
const PARTS: usize = 8;
/// Minimum increase of the mean load for which a function gets a price, as a fraction of the load of the processors. A
/// smaller increase would not be worth a price, because each price slows down the search.
const WORTH: f64 = 0.005;
/// Maximum number of jobs that are examined. In larger instances, a sample of the jobs is examined.
const MAX_JOBS: usize = 1024;
/// If an instance has more jobs than this number, no function of the width gets a price. With prices for functions, the
/// check of every start of every job would take seconds.
const MAX_TASKS: usize = 20_000;

/// Returns up to `MOST` functions of the width: the functions for which the load of the jobs, as a fraction of the
/// capacity, is largest. Returns no function if the instance is too large, or if jobs have more than three widths to
/// choose from on average.
///
/// The jobs are divided into parts. A part has a load on the processors, and a load in each function. The load of the
/// part is the maximum of its load on the processors and of its loads in the chosen functions. A greedy search chooses
/// one function after the other. Each time, it chooses the function that most increases the sum of the loads of all
/// parts.
pub(super) fn chosen(instance: &Instance) -> Vec<Width> {
    let jobs: Vec<SimpleJob<'_>> = instance.simple_jobs().filter(|job| !job.is_best_effort()).collect();
    let all = jobs.len();
    let stride = all.div_ceil(MAX_JOBS).max(1);
    let mut jobs: Vec<SimpleJob<'_>> = jobs.into_iter().skip(stride / 2).step_by(stride).collect();
    let freedom = |job: &SimpleJob<'_>| (job.profile().max_processors() - job.profile().min_processors()) as usize;
    let processors = instance.processors();
    if all > MAX_TASKS
        || jobs.is_empty()
        || jobs.iter().map(freedom).sum::<usize>() > 2 * jobs.len()
        || processors > 1 << 16
    {
        return Vec::new();
    }
    let smith = |job: &SimpleJob<'_>| {
        job.weight.millionths() as f64 / job.profile().work(job.profile().max_processors()) as f64
    };
    jobs.sort_by(|a, b| a.release.cmp(&b.release).then(smith(b).total_cmp(&smith(a))));
    let grid = Grid::new(i64::from(processors), CLASSES);
    let width = |values: Vec<f64>| Width::new(steps(&values, grid)?.0.steps()?.to_vec(), processors);
    let mut widths: Vec<Width> = families(grid.capacity()).into_iter().filter_map(width).collect();
    let parts: Vec<&[SimpleJob<'_>]> = jobs.chunks(jobs.len().div_ceil(PARTS)).collect();
    let load = |part: &&[SimpleJob<'_>], count: &dyn Fn(f64) -> f64| -> f64 {
        part.iter().map(|job| needed(job, count)).sum()
    };
    let plain: Vec<f64> = parts.iter().map(|part| load(part, &|width| width)).collect();
    // Divide the loads by the load on the processors.
    let loads = |width: &Width| -> Vec<f64> {
        parts.iter().zip(&plain).map(|(part, plain)| load(part, &|own| width.value(own)) / plain).collect()
    };
    let mut all: Vec<Vec<f64>> = widths.iter().map(loads).collect();
    let mut reached = vec![1.0; parts.len()];
    let mut chosen = Vec::new();
    while chosen.len() < MOST && !widths.is_empty() {
        let gain =
            |loads: &Vec<f64>| loads.iter().zip(&reached).map(|(load, most)| (load - most).max(0.0)).sum::<f64>();
        let Some((best, gained)) =
            all.iter().map(gain).enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        else {
            break;
        };
        if gained < WORTH * parts.len() as f64 {
            break;
        }
        reached.iter_mut().zip(&all[best]).for_each(|(most, load)| *most = most.max(*load));
        chosen.push(widths.swap_remove(best));
        all.swap_remove(best);
    }
    chosen
}

/// Returns the least total need of the tasks of a job over its allotments. `count` returns the need of a number of
/// processors for one tick.
fn needed(job: &SimpleJob<'_>, count: &dyn Fn(f64) -> f64) -> f64 {
    let profile = job.profile();
    let of = |processors: u32| count(f64::from(processors)) * profile.time(processors).ticks() as f64;
    job.tasks() as f64 * profile.allotments().map(of).fold(f64::INFINITY, f64::min)
}
