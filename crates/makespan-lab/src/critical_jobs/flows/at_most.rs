//! An upper bound on the number of jobs of a flow that meet their deadline.

use makespan_core::{Instance, Job, Rows, volume};

/// Returns an upper bound on the number of jobs that meet their deadline in any schedule. Jobs without a deadline are
/// included in this number. The bound is the optimum of a simpler problem: each job is one task, all tasks are released
/// at the beginning, and a single processor has the total speed of all processors. All other constraints are ignored.
/// The rule of J. M. Moore, Management Science 15(1), 1968, DOI 10.1287/mnsc.15.1.102, finds this optimum. Sums of
/// times are floats, so a deadline may be exceeded by a billionth of its value.
pub(in super::super) fn at_most(instance: &Instance) -> usize {
    let nodes = instance.platform().nodes();
    let speed: f64 = nodes.iter().map(|node| f64::from(node.processors) * node.speed).sum();
    let work = |job: &Job<Rows>| -> f64 { job.task_ids().map(|task| volume(instance.profile(task)).seconds()).sum() };
    let due = |job: &Job<Rows>| Some((job.deadline?.seconds(), work(job) / speed));
    let mut jobs: Vec<(f64, f64)> = instance.jobs().iter().filter_map(due).collect();
    let endless = instance.jobs().len() - jobs.len();
    jobs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut kept, mut busy): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for (deadline, time) in jobs {
        kept.push(time);
        busy += time;
        if busy > deadline * (1.0 + 1e-9) {
            let longest = (0..kept.len()).max_by(|&a, &b| kept[a].total_cmp(&kept[b]));
            busy -= longest.map_or(0.0, |at| kept.swap_remove(at));
        }
    }
    kept.len() + endless
}

#[cfg(test)]
mod tests {
    use makespan_core::{Graph, NamedTask, Node, Platform, Profile, Time};

    use super::*;

    #[test]
    fn the_longest_are_left_out_until_the_others_fit() {
        let node = |name: &str, speed| Node { speed, ..Node::new(name, 1) };
        let platform = Platform::new(vec![node("slow", 1.0), node("fast", 2.0)]).unwrap();
        let job = |(at, &(seconds, deadline)): (usize, &(i64, i64))| {
            let task = NamedTask::new("t", Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
            let mut job = Job::compound(format!("j{at}"), Graph::new(vec![task], vec![]).unwrap());
            job.deadline = (deadline > 0).then(|| Time::from_seconds(deadline));
            job
        };
        let most = |jobs: &[(i64, i64)]| {
            at_most(&Instance::new(platform.clone(), jobs.iter().enumerate().map(job).collect(), vec![]).unwrap())
        };
        // Together, both processors do 3 s of work in each second.
        assert_eq!(most(&[(3, 2), (3, 2), (3, 3), (6, 9)]), 4);
        assert_eq!(most(&[(3, 1), (3, 1), (3, 2), (60, 9), (9, 0)]), 3);
        assert_eq!(most(&[(6, 1)]), 0);
    }
}
