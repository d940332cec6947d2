use super::*;
use crate::model::Profile;

fn rigid(name: &str, processors: u32, seconds: i64) -> Job {
    Job::new(name, Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
}

fn instance(jobs: Vec<Job>) -> Result<Instance, InstanceError> {
    Instance::new(Platform::flat(4).unwrap(), jobs, vec![])
}

#[test]
fn refuses_what_cannot_run() {
    let twice = instance(vec![rigid("a", 1, 1), rigid("a", 1, 1)]).unwrap_err();
    assert_eq!(twice, InstanceError::DuplicateName("a".into()));
    assert!(matches!(instance(vec![rigid("a", 5, 1)]), Err(InstanceError::TooWide { needs: 5, .. })));
    let mut job = rigid("a", 1, 10);
    job.walltime = Some(Time::from_seconds(9));
    assert!(matches!(instance(vec![job]), Err(InstanceError::Walltime { .. })));
    let ages: Vec<Job> = (0..10).map(|i| rigid(&i.to_string(), 1, 1_000_000_000)).collect();
    assert_eq!(instance(ages).unwrap_err(), InstanceError::TooLong);
}

#[test]
fn clips_allotments_to_platform_and_walltime() {
    let times = [10, 6, 4, 3, 2].map(Time::from_seconds).to_vec();
    let mut job = Job::new("a", Profile::table(times).unwrap());
    job.walltime = Some(Time::from_seconds(6));
    let instance = instance(vec![job]).unwrap();
    let profile = instance.jobs()[0].profile();
    assert_eq!(profile.allotments().collect::<Vec<_>>(), [2, 3, 4]);
}

fn two_nodes(speeds: [f64; 2]) -> Platform {
    let node = |(at, speed): (usize, f64)| crate::model::Node {
        name: format!("n{at}"),
        processors: 2,
        speed,
        parent: None,
        link: None,
    };
    Platform::new(speeds.into_iter().enumerate().map(node).collect()).unwrap()
}

#[test]
fn a_job_may_have_a_time_of_its_own_on_each_machine() {
    let ticks = Time::from_ticks;
    let job = |name: &str, row: Vec<Time>| Job::new(name, Profile::on_machines(row).unwrap());
    let platform = || two_nodes([1.0, 2.0]);
    let mut short = job("c", vec![ticks(5), ticks(9)]);
    short.walltime = Some(ticks(6));
    let jobs = vec![job("a", vec![ticks(30), ticks(10)]), job("b", vec![Profile::CANNOT_RUN, ticks(7)]), short];
    let instance = Instance::new(platform(), jobs, vec![]).unwrap();
    assert!(instance.has_machine_times() && instance.is_sequential() && !instance.has_equal_processors());
    let on = |id: u32, processor: u32| instance.accepts(JobId(id), &ProcSet::range(processor, processor));
    // Speeds change nothing where times are stated for the machine.
    assert_eq!(instance.time(JobId(0), &ProcSet::range(1, 1)), ticks(30));
    assert_eq!(instance.time_on(JobId(0), 1), Some(ticks(10)));
    assert_eq!((on(1, 1), on(1, 2), on(2, 0), on(2, 3), on(0, 4)), (false, true, true, false, false));
    assert!(!instance.accepts(JobId(0), &ProcSet::first(2)));
    let short = |times: usize| Instance::new(platform(), vec![job("a", vec![ticks(1); times])], vec![]);
    assert_eq!(short(3).unwrap_err(), InstanceError::MachineTimes { job: "a".into(), times: 3, nodes: 2 });
    assert!(Profile::on_machines(vec![ticks(3), Time::ZERO]).is_err());
    assert_eq!(Profile::on_machines(vec![Profile::CANNOT_RUN]), Err(crate::model::ProfileError::NoMachine));
}

#[test]
fn a_walltime_is_kept_on_the_machines_that_are_fast_enough() {
    let mut job = rigid("a", 1, 10);
    job.walltime = Some(Time::from_seconds(6));
    let instance = Instance::new(two_nodes([1.0, 2.0]), vec![job.clone()], vec![]).unwrap();
    assert_eq!(instance.time_on(JobId(0), 0), None);
    assert_eq!(instance.time_on(JobId(0), 1), Some(Time::from_seconds(5)));
    assert!(Instance::new(two_nodes([1.0, 1.5]), vec![job], vec![]).is_err());
}

#[test]
fn a_walltime_is_not_kept_on_a_node_without_processors() {
    let node = |(at, processors): (usize, u32)| crate::model::Node {
        name: at.to_string(),
        processors,
        speed: 1.0,
        parent: None,
        link: None,
    };
    let row = vec![Time::from_ticks(1), Time::from_ticks(9)];
    let mut job = Job::new("a", Profile::on_machines(row).unwrap());
    job.walltime = Some(Time::from_ticks(5));
    let platform = Platform::new([0, 1].into_iter().enumerate().map(node).collect()).unwrap();
    let refused = Instance::new(platform, vec![job], vec![]).unwrap_err();
    assert!(matches!(refused, InstanceError::Walltime { shortest, .. } if shortest == Time::from_ticks(9)));
}
