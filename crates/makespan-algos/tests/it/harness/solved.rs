//! Tests of the brute force with cases solved by hand.

use makespan_core::{Instance, Job, Objective, Platform, Profile, Time, Unavailable, Weight};

use super::optimum::optimum;

fn job(name: &str, times: &[i64], weight: u64, release: i64) -> Job {
    let profile = Profile::table(times.iter().map(|&time| Time::from_ticks(time)).collect()).unwrap();
    let weight = Weight::from_millionths(weight).unwrap();
    Job::new(name, profile).with_weight(weight).with_release(Time::from_ticks(release))
}

fn rigid(name: &str, width: u32, time: i64) -> Job {
    let profile = Profile::rigid(width, Time::from_ticks(time)).unwrap();
    Job::new(name, profile).with_weight(Weight::from_millionths(1).unwrap())
}

/// Checks the least makespan and the least weighted sum of ends. Each entry of `closed` contains processors, start and
/// end of a period.
fn check(processors: u32, jobs: Vec<Job>, closed: &[(&str, i64, i64)], expect: (i128, i128)) {
    let closed = closed.iter().map(|&(processors, start, end)| Unavailable {
        processors: processors.parse().unwrap(),
        start: Time::from_ticks(start),
        end: Time::from_ticks(end),
    });
    let instance = Instance::new(Platform::flat(processors).unwrap(), jobs, closed.collect()).unwrap();
    let found = (optimum(&instance, Objective::Makespan), optimum(&instance, Objective::WeightedCompletion));
    assert_eq!(found, expect);
}

#[test]
fn one_processor_follows_smith() {
    // In the order of time divided by weight, b (1/3) runs before c (2/2) and a (3/1). The sum is
    // 3 * 1 + 2 * 3 + 1 * 6.
    check(1, vec![job("a", &[3], 1, 0), job("b", &[1], 3, 0), job("c", &[2], 2, 0)], &[], (6, 15));
}

#[test]
fn waiting_for_a_heavy_job_can_pay() {
    // If the long job runs first, the sum is 10 + 100 * 11 = 1110. If the heavy job runs first, from 1 on, the sum is
    // 100 * 2 + 12 = 212.
    check(1, vec![job("long", &[10], 1, 0), job("heavy", &[1], 100, 1)], &[], (11, 212));
}

#[test]
fn allotments_are_chosen_together() {
    // In parallel on one processor each, the jobs end at 4 and 4. One after the other on two processors, they end at 3
    // and 6.
    check(2, vec![job("a", &[4, 3], 1, 0), job("b", &[4, 3], 1, 0)], &[], (4, 8));
    // With perfect speed-up, the makespan is 4 in both cases. The weighted sum is less if the jobs run one after the
    // other: 2 + 4 = 6.
    check(2, vec![job("a", &[4, 2], 1, 0), job("b", &[4, 2], 1, 0)], &[], (4, 6));
    // With superlinear speed-up, the jobs end at 1 and 2 on two processors.
    check(2, vec![job("a", &[4, 1], 1, 0), job("b", &[4, 1], 1, 0)], &[], (2, 3));
}

#[test]
fn wide_jobs_do_not_share() {
    // Two jobs of width 2 on 3 processors cannot overlap. The third job, of width 1, runs in parallel to them.
    check(3, vec![rigid("a", 2, 5), rigid("b", 2, 5), rigid("c", 1, 10)], &[], (10, 25));
    // For the makespan, one processor runs 3 + 3 and the other runs 2 + 2 + 2. With the shortest jobs first, the ends
    // are 2, 2, 4, 5 and 7.
    let five = [3, 3, 2, 2, 2].iter().enumerate().map(|(index, &time)| rigid(&index.to_string(), 1, time)).collect();
    check(2, five, &[], (6, 20));
}

#[test]
fn a_bag_ends_with_its_last_task() {
    let bag =
        |name: &str, time, count: u64, weight| job(name, &[time], weight, 0).with_count(count.try_into().unwrap());
    // Two of the three tasks run in parallel, and then the third one runs. The sum is 5 * 4.
    check(2, vec![bag("bag", 2, 3, 5)], &[], (4, 20));
    // If the bag ends at 3 and the job at 4, the sum is 3 * 3 + 4 = 13. If the job ends at 1 and the bag at 4, the sum
    // is also 13.
    check(1, vec![bag("bag", 1, 3, 3), job("a", &[1], 1, 0)], &[], (4, 13));
    check(1, vec![bag("bag", 1, 3, 2), job("a", &[1], 1, 0)], &[], (4, 9));
    // Two bags do not alternate, so the sum is 2 + 4 and not 3 + 4.
    check(1, vec![bag("a", 1, 2, 1), bag("b", 1, 2, 1)], &[], (4, 6));
    // Best-effort bags have weight zero, but the makespan includes them.
    check(1, vec![bag("bag", 3, 2, 0), job("a", &[1], 1, 0)], &[], (7, 1));
}

#[test]
fn closed_processors_are_worked_around() {
    // Processor 0 is closed from 2 to 10. The job of 2 ticks runs on it before this period, and the job of 3 ticks runs
    // on processor 1.
    check(2, vec![rigid("a", 1, 2), rigid("b", 1, 3)], &[("0", 2, 10)], (3, 5));
    // The only processor is closed from 3 to 5. If the job of 3 ticks runs before this period, the jobs end at 3 and 7.
    // If the job of 2 ticks runs before it, they end at 2 and 8.
    check(1, vec![rigid("a", 1, 2), rigid("b", 1, 3)], &[("0", 3, 5)], (7, 10));
    // Two of the periods overlap, and the job is too long for the hole before the third one.
    check(1, vec![rigid("a", 1, 3)], &[("0", 1, 4), ("0", 3, 5), ("0", 7, 9)], (12, 12));
    // The job of width 2 must take the two processors that open first.
    check(3, vec![rigid("a", 2, 4)], &[("0", 0, 9), ("2", 0, 1)], (5, 5));
}

#[test]
fn which_processors_are_taken_matters() {
    // Processor 0 closes at 4. The short job must take it, so that the long job can start on processor 1 at once.
    check(2, vec![rigid("short", 1, 4), rigid("long", 1, 6)], &[("0", 4, 100)], (6, 10));
    check(2, vec![rigid("long", 1, 6), rigid("short", 1, 4)], &[("1", 4, 100)], (6, 10));
}

#[test]
fn best_placement_can_cost_time() {
    let optimum_on = |platform: Platform| {
        let jobs = (0..3).map(|index| rigid(&index.to_string(), 2, 4)).collect();
        optimum(&Instance::new(platform, jobs, vec![]).unwrap(), Objective::Makespan)
    };
    // Three jobs of width 2 run on two nodes of 3 processors. They can only run in parallel if one of them uses both
    // nodes.
    assert_eq!(optimum_on(Platform::cluster(2, 3).unwrap()), 4);
    assert_eq!(optimum_on(Platform::cluster(2, 3).unwrap().requiring_compact()), 8);
    assert_eq!(optimum_on(Platform::cluster(3, 2).unwrap().requiring_compact()), 4);
}
