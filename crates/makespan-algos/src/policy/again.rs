//! What is left of a whole job planned again.

use makespan_core::{JobId, Placement, ProcSet, Time, Unavailable, View};

use super::wholes::whole_job;
use crate::kernel::graph::calendar::Calendar;
use crate::kernel::graph::{NEVER, Problem, rank};

/// For each processor when it is not to be had.
pub(super) fn calendars(processors: u32, taken: &[Unavailable]) -> Vec<Calendar> {
    let mut periods = vec![Vec::new(); processors as usize];
    for period in taken {
        for id in period.processors.iter() {
            periods[id as usize].push((period.start.ticks(), period.end.ticks()));
        }
    }
    periods.iter().map(|periods| Calendar::new(periods)).collect()
}

/// Places for these tasks of a whole job, which all run on single processors, from now on: HEFT's rule, with the tasks
/// that have started where they are. Tasks among them that wait for each other keep their order. `calendars` are
/// occupied.
///
/// Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans. Parallel Distrib. Syst. 13(3), 2002,
/// DOI 10.1109/71.993206; ranks are those of the whole graph. O((e + n) m) for n tasks with e edges on m processors.
pub(super) fn again(view: &View<'_>, whole: usize, tasks: &[JobId], calendars: &mut [Calendar]) -> Vec<Placement> {
    let (first, job) = whole_job(view.instance, whole);
    let alone = view.instance.with_jobs(vec![job]);
    let problem = Problem::new(&alone);
    let ranks = rank::upward(&problem, &rank::mean_times(&problem));
    let mut placed: Vec<Option<(Time, ProcSet)>> = vec![None; problem.tasks()];
    for run in view.running {
        let task = run.job.0.checked_sub(first.0).and_then(|task| placed.get_mut(task as usize));
        if let Some(task) = task {
            *task = Some((run.expected_end(view.instance, view.now), run.processors.clone()));
        }
    }
    let mut places = Vec::with_capacity(tasks.len());
    for task in rank::ready_first(&problem, &ranks) {
        let job = JobId(first.0 + task);
        if !tasks.contains(&job) {
            continue;
        }
        let mut best: Option<(i64, u32, i64)> = None;
        for node in 0..problem.nodes() as u32 {
            let time = problem.time(task, node);
            if time == NEVER {
                continue;
            }
            let processors = problem.processors_of(node);
            let ready = arrival(view, job, &ProcSet::range(processors.start, processors.start), (first, &placed));
            for processor in processors {
                let start = calendars[processor as usize].earliest_fit(ready.ticks(), time);
                let end = start + time;
                if best.is_none_or(|best| (end, processor) < (best.0, best.1)) {
                    best = Some((end, processor, start));
                }
            }
        }
        // An instance has no task that runs nowhere.
        let Some((end, processor, start)) = best else { continue };
        calendars[processor as usize].occupy(start, end);
        let (start, end, processors) =
            (Time::from_ticks(start), Time::from_ticks(end), ProcSet::range(processor, processor));
        placed[task as usize] = Some((end, processors.clone()));
        places.push(Placement { job, task: 0, start, end, processors });
    }
    places
}

/// When the data of a task are expected on a processor, not before now.
fn arrival(view: &View<'_>, job: JobId, on: &ProcSet, (first, placed): (JobId, &[Option<(Time, ProcSet)>])) -> Time {
    let dependences = view.instance.precedence().map_or(&[][..], |precedence| precedence.incoming(job));
    let each = dependences.iter().filter_map(|from| {
        let ended = view.ended.arrival(view.instance, from, on);
        ended.or_else(|| {
            let (end, processors) = placed[(from.job.0 - first.0) as usize].as_ref()?;
            Some(*end + view.instance.platform().transfer_between(processors, on, from.load))
        })
    });
    each.fold(view.now, Time::max)
}
