//! Checks that each parameter and each rule of a site has an effect.

use makespan_core::{
    Actual, Association, EndedTasks, Instance, Job, Limits, Node, Partition, Platform, Policy, ProcSet, Profile, Qos,
    Resources, Running, Site, SiteReservation, Submission, TaskId, TaskSet, Time, View,
};

use crate::policy::play::PolicySimulation;
use crate::policy::policy;

fn seconds(count: i64) -> Time {
    Time::from_seconds(count)
}

fn minutes(count: i64) -> Time {
    seconds(60 * count)
}

/// Returns a job. The length is in minutes, and the release in seconds.
fn job(name: &str, processors: u32, length: i64, release: i64) -> Job {
    Job::new(name, Profile::rigid(processors, minutes(length)).unwrap()).with_release(seconds(release))
}

fn by(job: Job, user: &str, account: &str) -> Job {
    submitted(job, |own| (own.user, own.account) = (Some(user.into()), Some(account.into())))
}

fn submitted(job: Job, change: impl FnOnce(&mut Submission)) -> Job {
    let mut submission = job.submission.as_deref().cloned().unwrap_or_default();
    change(&mut submission);
    job.with_submission(submission)
}

fn flat(processors: u32, jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap()
}

fn on_site(nodes: u32, each: u32, site: Site, jobs: Vec<Job>) -> Instance {
    let platform = Platform::cluster(nodes, each).unwrap().with_site(site).unwrap();
    Instance::new(platform, jobs, vec![]).unwrap()
}

/// Returns the start of each job in seconds, in the order of the instance. If a job is cancelled, its start is -1.
fn starts(spec: &str, instance: &Instance) -> Vec<i64> {
    let mut policy = policy(spec, 1).unwrap();
    starts_by(policy.as_mut(), instance)
}

fn starts_by(policy: &mut dyn Policy, instance: &Instance) -> Vec<i64> {
    let started = PolicySimulation::starts(instance, policy, &|task, processors| instance.time(task, processors));
    let mut starts = vec![-1; instance.tasks() as usize];
    started.iter().for_each(|one| starts[one.task.index()] = one.start.ticks() / Time::TICKS_PER_SECOND);
    starts
}

/// Returns a queue in which `a` holds 3 of 4 processors for 10 minutes, and `b` waits for all 4. `c` needs one
/// processor for 9 minutes, and `d` needs one processor for 20 minutes.
fn queue() -> Instance {
    flat(4, vec![job("a", 3, 10, 0), job("b", 4, 5, 1), job("d", 1, 20, 2), job("c", 1, 9, 3)])
}

#[test]
fn a_backfill_cycle_starts_what_delays_no_plan() {
    // `c` starts at 30 s and ends at 570 s, before `a` ends. `d` starts when `b` has ended.
    assert_eq!(starts("slurm", &queue()), [0, 600, 900, 30]);
    assert_eq!(starts("slurm[bf_interval=40]", &queue())[3], 40);
    // Only the first job after the head is visited.
    assert_eq!(starts("slurm[bf_max_job_test=2]", &queue())[3], 900);
    assert_eq!(starts("slurm[bf_max_job_part=2]", &queue())[3], 900);
    // `b` begins beyond the window, so nothing is reserved for it.
    assert_eq!(starts("slurm[bf_window=5]", &queue())[2], 30);
    assert_eq!(starts("slurm[bf_window=30m]", &queue())[2], 900);
    // A job without a reservation does not stop the main cycle either.
    assert_eq!(starts("slurm[bf_min_age_reserve=5m]", &queue())[2], 2);
    assert_eq!(starts("slurm[bf_min_prio_reserve=2]", &queue())[2], 2);
    assert_eq!(starts("slurm[bf_min_prio_reserve=2,weight_age=1,weight_job_size=9]", &queue())[2], 900);
}

#[test]
fn plans_end_at_multiples_of_the_resolution() {
    // `b` is planned from 600 to 900 s, and `q` after it. `c` would end at 1050 s. On a grid of 20 minutes, `q` is planned from
    // 1200 s on.
    let jobs = vec![job("a", 3, 10, 0), job("b", 3, 5, 1), job("q", 4, 10, 2), job("c", 1, 17, 3)];
    let queue = flat(4, jobs);
    assert_eq!(starts("slurm", &queue), [0, 600, 900, 1500]);
    assert_eq!(starts("slurm[bf_resolution=20m]", &queue)[3], 30);
}

#[test]
fn a_cycle_counts_jobs_of_users_and_starts() {
    let jobs = vec![job("a", 3, 10, 0), job("b", 4, 5, 1), job("c", 1, 2, 2), job("d", 1, 2, 3)];
    let mut jobs: Vec<Job> = jobs.into_iter().map(|job| by(job, "ann", "x")).collect();
    let instance = flat(5, jobs.clone());
    assert_eq!(starts("slurm", &instance)[2..], [30, 30]);
    assert_eq!(starts("slurm[bf_max_job_start=1]", &instance)[2..], [30, 60]);
    assert_eq!(starts("slurm[bf_max_job_user=2]", &instance)[3], 150, "when `c` has ended");
    jobs[3] = by(jobs[3].clone(), "bob", "x");
    assert_eq!(starts("slurm[bf_max_job_user=2]", &flat(5, jobs))[3], 30);
}

/// Tests two partitions of one node each. `b` is blocked in the first partition.
#[test]
fn the_main_cycle_looks_at_so_many_jobs() {
    let site = Site { partitions: vec![Partition::new("p", vec![0]), Partition::new("q", vec![1])], ..Site::default() };
    let within = |job: Job, partition: &str| submitted(job, |own| own.partitions = vec![partition.into()]);
    let jobs = vec![within(job("a", 2, 10, 0), "p"), within(job("b", 2, 10, 1), "p"), within(job("c", 2, 10, 2), "q")];
    let instance = on_site(2, 2, site.clone(), jobs.clone());
    let rare = "bf_interval=1h";
    assert_eq!(starts(&format!("slurm[{rare}]"), &instance), [0, 600, 2]);
    assert_eq!(starts(&format!("slurm[{rare},default_queue_depth=1]"), &instance)[2], 60);
    assert_eq!(starts(&format!("slurm[{rare},default_queue_depth=1,sched_interval=90]"), &instance)[2], 90);
    let more = vec![jobs[0].clone(), within(job("d", 1, 1, 1), "q"), within(job("e", 1, 1, 1), "q")];
    let instance = on_site(2, 2, site, more);
    assert_eq!(starts(&format!("slurm[{rare}]"), &instance)[1..], [1, 1]);
    assert_eq!(starts(&format!("slurm[{rare},partition_job_depth=1]"), &instance)[1..], [1, 61]);
}

/// Returns an instance in which `x` holds all processors for ten minutes. The jobs `jobs` arrive during this time.
fn contest(jobs: Vec<Job>) -> Instance {
    flat(4, std::iter::once(job("x", 4, 10, 0)).chain(jobs).collect())
}

/// Returns the order in which the jobs other than `x` start.
fn order(spec: &str, instance: &Instance) -> Vec<usize> {
    let starts = starts(spec, instance);
    let mut order: Vec<usize> = (1..starts.len()).collect();
    order.sort_by_key(|&at| starts[at]);
    order
}

#[test]
fn each_factor_of_the_priority_counts() {
    let sizes = contest(vec![job("wide", 4, 1, 1), job("narrow", 3, 1, 2)]);
    assert_eq!(order("slurm", &sizes), [1, 2]);
    assert_eq!(order("slurm[weight_job_size=100]", &sizes), [1, 2]);
    assert_eq!(order("slurm[weight_job_size=100,favor=small]", &sizes), [2, 1]);
    assert_eq!(
        order("slurm[weight_tres=cpu:100]", &contest(vec![job("narrow", 3, 1, 1), job("wide", 4, 1, 2)])),
        [2, 1]
    );
    // The age of the first job has more weight than the size of the second job, unless the maximum age is one second.
    let ages = contest(vec![job("small", 3, 1, 1), job("large", 4, 1, 300)]);
    assert_eq!(order("slurm[weight_age=100,max_age=10m,weight_job_size=10]", &ages), [1, 2]);
    assert_eq!(order("slurm[weight_age=100,max_age=1,weight_job_size=10]", &ages), [2, 1]);
    assert_eq!(order("slurm[weight_age=1,weight_job_size=100]", &ages), [2, 1]);
}

#[test]
fn operators_and_users_set_priorities() {
    let fixed = |name: &str, priority| submitted(job(name, 4, 1, 1), |own| own.priority = Some(priority));
    assert_eq!(order("slurm", &contest(vec![fixed("low", 5), fixed("high", 9)])), [2, 1]);
    let nice = |name: &str, nice| submitted(job(name, 4, 1, 1), |own| own.nice = nice);
    assert_eq!(order("slurm[weight_job_size=100]", &contest(vec![nice("polite", 50), nice("plain", 0)])), [2, 1]);
    let queues = contest(vec![job("later", 4, 1, 1), job("sooner", 4, 1, 2).with_priority(3)]);
    assert_eq!(order("slurm", &queues), [2, 1]);
}

/// Tests two users, `ann` and `bob`. Their jobs arrive at about the same time. `ann` has used the machine for ten
/// minutes.
#[test]
fn who_has_used_less_is_first() {
    let mut jobs = vec![by(job("x", 4, 10, 0), "ann", "a")];
    jobs.extend([by(job("anns", 4, 1, 200), "ann", "a"), by(job("bobs", 4, 1, 201), "bob", "a")]);
    let instance = flat(4, jobs.clone());
    assert_eq!(order("slurm", &instance), [1, 2]);
    assert_eq!(order("slurm[weight_fairshare=1000]", &instance), [2, 1]);
    assert_eq!(order("slurm[weight_fairshare=1000,fair=classic]", &instance), [2, 1]);
    // The shares are computed only at the beginning, when no user had used anything.
    assert_eq!(order("slurm[weight_fairshare=1000,calc_period=1d]", &instance), [1, 2]);
    // Much later, the usage of `ann` has decayed. The recent usage of `bob` has not decayed.
    let mut jobs = vec![by(job("old", 4, 100, 0), "ann", "a"), by(job("new", 4, 20, 90_000), "bob", "a")];
    jobs.extend([by(job("anns", 4, 1, 91_000), "ann", "a"), by(job("bobs", 4, 1, 90_999), "bob", "a")]);
    let instance = flat(4, jobs);
    let last = |spec: &str| order(spec, &instance).into_iter().filter(|&at| at > 1).collect::<Vec<_>>();
    assert_eq!(last("slurm[weight_fairshare=1000,half_life=1h]"), [2, 3]);
    assert_eq!(last("slurm[weight_fairshare=1000,half_life=0]"), [3, 2]);
}

#[test]
fn an_account_that_has_used_much_holds_its_users_back() {
    let user = |name: &str, account: &str, usage: f64| Association { usage, ..Association::user(name, account) };
    // `light` has used little, in an account with much usage. `new` has used slightly more, in an account without
    // other usage.
    let associations = vec![
        Association::account("a"),
        Association::account("b"),
        user("heavy", "a", 3000.0),
        user("light", "a", 1.0),
        user("new", "b", 200.0),
    ];
    let site = Site { associations, ..Site::default() };
    let jobs =
        || vec![job("x", 4, 10, 0), by(job("light", 4, 1, 1), "light", "a"), by(job("new", 4, 1, 2), "new", "b")];
    let instance = on_site(1, 4, site, jobs());
    for fair in ["tree", "classic"] {
        let spec = format!("slurm[weight_fairshare=1000,half_life=0,fair={fair}]");
        assert_eq!(order(&spec, &instance), [2, 1], "{fair}");
    }
}

#[test]
fn partitions_and_classes_of_service_add_to_priorities() {
    let mut low = Partition::new("low", vec![0]);
    let mut high = Partition { job_factor: 10, ..Partition::new("high", vec![0]) };
    let qos = |name: &str, priority| Qos { name: name.into(), priority, ..Qos::default() };
    let site =
        |partitions: Vec<Partition>| Site { partitions, qos: vec![qos("slow", 1), qos("fast", 9)], ..Site::default() };
    let own = |name: &str, release, partition: &str, qos: &str| {
        submitted(job(name, 4, 1, release), |own| {
            (own.partitions, own.qos) = (vec![partition.into()], Some(qos.into()));
        })
    };
    let jobs = |partitions: [&str; 2], qos: [&str; 2]| {
        let others = [own("a", 1, partitions[0], qos[0]), own("b", 2, partitions[1], qos[1])];
        std::iter::once(job("x", 4, 10, 0)).chain(others).collect::<Vec<_>>()
    };
    let of = |site: Site, partitions, qos| on_site(1, 4, site, jobs(partitions, qos));
    let both = site(vec![low.clone(), high.clone()]);
    assert_eq!(order("slurm", &of(both.clone(), ["low", "high"], ["slow", "slow"])), [1, 2]);
    assert_eq!(order("slurm[weight_partition=9]", &of(both.clone(), ["low", "high"], ["slow", "slow"])), [2, 1]);
    assert_eq!(order("slurm[weight_qos=9]", &of(both, ["low", "low"], ["slow", "fast"])), [2, 1]);
    (low.tier, high.tier) = (1, 2);
    assert_eq!(order("slurm", &of(site(vec![low, high]), ["low", "high"], ["slow", "slow"])), [2, 1]);
}

#[test]
fn limits_hold_jobs_back_and_block_nobody() {
    let with = |site: Site, change: fn(&mut Submission)| {
        let own = |name: &str| submitted(by(job(name, 1, 10, 0), "ann", "a"), change);
        on_site(1, 4, site, vec![own("a"), own("b"), by(job("c", 1, 10, 1), "bob", "b")])
    };
    let one = || Limits { jobs: Some(1), ..Limits::default() };
    let cpus = || Limits { held: Resources::new([("cpu", 1)]).unwrap(), ..Limits::default() };
    let accounts = |change: fn(&mut Association, Limits), limits: Limits| {
        let mut all = vec![Association::account("a"), Association::account("b"), Association::user("ann", "a")];
        let at = if limits.jobs.is_some() { 2 } else { 0 };
        change(&mut all[at], limits);
        Site { associations: all, ..Site::default() }
    };
    let held = [0, 600, 1];
    assert_eq!(starts("slurm", &with(Site::default(), |_| ())), [0, 0, 1]);
    assert_eq!(starts("slurm", &with(accounts(|own, limits| own.own = limits, one()), |_| ())), held);
    assert_eq!(starts("slurm", &with(accounts(|own, limits| own.group = limits, cpus()), |_| ())), held);
    assert_eq!(starts("slurm", &with(accounts(|own, limits| own.own = limits, cpus()), |_| ())), held);
    let qos = |change: fn(&mut Qos)| {
        let mut qos = Qos { name: "q".into(), ..Qos::default() };
        change(&mut qos);
        Site { qos: vec![qos], ..Site::default() }
    };
    let in_qos: fn(&mut Submission) = |own| own.qos = Some("q".into());
    let changes: [fn(&mut Qos); 3] = [
        |qos| qos.group.jobs = Some(1),
        |qos| qos.per_user.jobs = Some(1),
        |qos| qos.per_account.held = Resources::new([("node", 1)]).unwrap(),
    ];
    for change in changes {
        assert_eq!(starts("slurm", &with(qos(change), in_qos)), held);
    }
    let array: fn(&mut Submission) = |own| own.array = Some(("7".into(), Some(1)));
    assert_eq!(starts("slurm", &with(Site::default(), array)), held);
}

#[test]
fn what_can_never_start_is_given_up() {
    let never = |site: Site, change: fn(&mut Submission)| {
        let jobs = vec![submitted(by(job("a", 2, 10, 0), "ann", "a"), change), job("b", 4, 1, 5)];
        starts("slurm", &on_site(2, 2, site, jobs))
    };
    let site = || Site {
        partitions: vec![
            Partition { is_default: true, ..Partition::new("p", vec![0, 1]) },
            Partition { max_time: Some(minutes(5)), ..Partition::new("short", vec![0, 1]) },
            Partition { is_up: false, ..Partition::new("down", vec![0, 1]) },
            Partition { max_nodes: Some(1), ..Partition::new("narrow", vec![0, 1]) },
        ],
        qos: vec![
            Qos { name: "small".into(), per_job: Resources::new([("cpu", 1)]).unwrap(), ..Qos::default() },
            Qos { name: "brief".into(), max_wall: Some(minutes(9)), ..Qos::default() },
        ],
        features: vec![vec!["ib".into()]],
        ..Site::default()
    };
    let changes: [fn(&mut Submission); 10] = [
        |own| own.held = Some("JobHeldUser".into()),
        |own| own.partitions = vec!["short".into()],
        |own| own.partitions = vec!["down".into()],
        |own| own.partitions = vec!["nowhere".into()],
        |own| (own.partitions, own.nodes) = (vec!["narrow".into()], Some((2, 2))),
        |own| own.qos = Some("small".into()),
        |own| own.qos = Some("brief".into()),
        |own| own.constraint = Some("ssd".into()),
        |own| own.constraint = Some("ib*2".into()),
        |own| own.except = vec!["n0".into(), "n1".into()],
    ];
    for (at, change) in changes.into_iter().enumerate() {
        assert_eq!(never(site(), change), [-1, 5], "{at}");
    }
    assert_eq!(never(site(), |_| ()), [0, 600]);
}

/// Tests nodes of two processors. `n0` has a feature.
#[test]
fn jobs_go_where_their_nodes_are() {
    let nodes = ["n0", "n1", "n2"].map(|name| Node::new(name, 2)).to_vec();
    let site = Site { features: vec![vec!["ib".into()]], ..Site::default() };
    let platform = Platform::new(nodes).unwrap().with_site(site).unwrap();
    let at = |change: fn(&mut Submission)| {
        let jobs = vec![submitted(job("a", 2, 10, 0), change), submitted(job("b", 2, 10, 1), change)];
        starts("slurm", &Instance::new(platform.clone(), jobs, vec![]).unwrap())
    };
    assert_eq!(at(|_| ()), [0, 1]);
    assert_eq!(at(|own| own.constraint = Some("ib".into())), [0, 600]);
    assert_eq!(at(|own| own.only = vec!["n2".into()]), [0, 600]);
    assert_eq!(at(|own| own.except = vec!["n0".into(), "n1".into()]), [0, 600]);
    // If each job takes one processor on each of two nodes, both jobs can run at the same time.
    assert_eq!(at(|own| own.nodes = Some((2, 2))), [0, 1]);
    assert_eq!(at(|own| (own.nodes, own.exclusive) = (Some((2, 2)), true)), [0, 600]);
    assert_eq!(at(|own| own.per_node = Some(1)), [0, 1]);
    // One processor is free on each of two nodes. A job that needs two processors on one node must wait.
    let platform = Platform::cluster(2, 2).unwrap().with_site(Site::default()).unwrap();
    let with = |least: Option<u32>| {
        let part = |name: &str, node: &str| submitted(job(name, 1, 10, 0), |own| own.only = vec![node.into()]);
        let both = submitted(job("c", 2, 10, 1), |own| own.least_per_node = least);
        let names: Vec<String> = platform.nodes().iter().map(|node| node.name.clone()).collect();
        let jobs = vec![part("a", &names[0]), part("b", &names[1]), both];
        starts("slurm", &Instance::new(platform.clone(), jobs, vec![]).unwrap())
    };
    assert_eq!((with(None), with(Some(2))), (vec![0, 0, 1], vec![0, 0, 600]));
}

#[test]
fn reservations_keep_nodes_for_some() {
    let reservation = SiteReservation {
        name: "r".into(),
        nodes: vec![0],
        start: minutes(5),
        end: minutes(30),
        users: vec!["ann".into()],
        accounts: vec![],
    };
    let site = Site { reservations: vec![reservation], ..Site::default() };
    let within = |job: Job| submitted(by(job, "ann", "a"), |own| own.reservation = Some("r".into()));
    let stranger = submitted(by(job("stranger", 1, 1, 0), "bob", "b"), |own| own.reservation = Some("r".into()));
    let mut jobs = vec![stranger, job("long", 2, 10, 0), job("short", 2, 4, 0)];
    jobs.extend([within(job("in", 2, 10, 0)), within(job("late", 2, 26, 0))]);
    let instance = on_site(1, 2, site, jobs);
    // The long job would run into the reservation, so it does not block the short job in the main cycle. The last job
    // requests the reservation, but would run beyond its end.
    assert_eq!(starts("slurm", &instance), [-1, 1800, 0, 300, -1]);
}

#[test]
fn limits_are_whole_minutes() {
    // A limit of 61 s is rounded up to two minutes, so `b` is planned at 120 s. `c` ends at 91 s, and is expected to
    // end before 120 s.
    let second = |name: &str, processors, length, release| {
        Job::new(name, Profile::rigid(processors, seconds(length)).unwrap()).with_release(seconds(release))
    };
    let instance = flat(4, vec![second("a", 3, 61, 0), second("b", 4, 10, 1), second("c", 1, 59, 2)]);
    assert_eq!(starts("slurm[bf_resolution=1]", &instance), [0, 89, 30]);
}

/// Checks that jobs that need the same licences run one after another, and that other jobs start before them.
#[test]
fn licences_and_memory_are_held() {
    use makespan_core::{Need, Needs};
    let licences = Resources::new([("ansys", 2)]).unwrap();
    let memory = Resources::new([("memory", 8)]).unwrap();
    let platform =
        Platform::cluster(2, 4).unwrap().with_node_resources(&memory).unwrap().with_licences(licences).unwrap();
    let needs = |job: Job, name: &str, amount| job.with_needs(Needs::new([(name, Need::whole(amount))]).unwrap());
    let jobs = vec![
        needs(job("a", 1, 10, 0), "ansys", 2),
        needs(job("b", 1, 10, 0), "ansys", 1),
        needs(job("c", 1, 10, 0), "memory", 8),
        needs(job("d", 1, 10, 0), "memory", 8),
        needs(job("e", 1, 10, 0), "memory", 1),
    ];
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    let starts = starts("slurm", &instance);
    assert_eq!((starts[0], starts[1]), (0, 600));
    assert!(starts[2] < 600 && starts[3] < 600 && starts[4] >= 600, "{starts:?}");
}

/// Checks that a job that ends early releases its processors at once.
#[test]
fn ends_are_heard_whenever_they_are() {
    let instance = queue();
    let actual = Actual::Profiles(
        [(3, 100), (4, 100), (1, 100), (1, 100)]
            .map(|(width, time)| Profile::rigid(width, seconds(time)).unwrap())
            .to_vec(),
    );
    let mut policy = policy("slurm", 1).unwrap();
    let started = PolicySimulation::starts(&instance, policy.as_mut(), &|task, processors| {
        actual.time(&instance, task, processors)
    });
    let start = |at: usize| started.iter().find(|one| one.task.index() == at).unwrap().start;
    assert_eq!((start(3), start(1), start(2)), (seconds(30), seconds(130), seconds(230)));
}

/// Returns an instance with these jobs on four nodes, two with `intel` and two with `amd`.
fn mixed(jobs: Vec<Job>) -> Instance {
    let named = |name: &str| vec![Box::from(name)];
    let features = vec![named("intel"), named("intel"), named("amd"), named("amd")];
    let partitions = vec![Partition::new("p", vec![0, 1, 2, 3])];
    on_site(4, 2, Site { partitions, features, ..Site::default() }, jobs)
}

#[test]
fn so_many_nodes_have_the_features_that_are_counted() {
    let wants = |constraint: &str, nodes: u32| {
        let wide = submitted(job("w", 2 * nodes, 5, 1), |own| {
            (own.constraint, own.nodes) = (Some(constraint.into()), Some((nodes, nodes)));
        });
        let amd = submitted(job("a", 2, 10, 0), |own| own.constraint = Some("amd".into()));
        starts("slurm", &mixed(vec![amd, wide]))[1]
    };
    assert_eq!(wants("[intel*1&amd*1]", 2), 1);
    assert_eq!(wants("[intel*1&amd*2]", 3), 600);
    assert_eq!(wants("amd*2", 3), 600, "and one of any other kind");
    assert_eq!(wants("intel*2", 3), 1);
    assert_eq!(wants("[intel|amd]", 2), 1, "both of intel");
    assert_eq!(wants("[amd|intel]", 2), 1, "both of intel");
    assert_eq!(wants("amd*3", 3), -1);
    assert_eq!(wants("[intel|amd]", 3), -1);
}

#[test]
fn what_a_policy_without_rules_leaves_out_is_counted() {
    let jobs = vec![
        job("free", 2, 5, 0),
        submitted(job("amd", 2, 5, 0), |own| own.constraint = Some("amd".into())),
        submitted(job("held", 2, 5, 0), |own| own.held = Some("JobHeldUser".into())),
        submitted(job("none", 2, 5, 0), |own| own.constraint = Some("arm".into())),
        submitted(job("part", 2, 5, 0), |own| own.array = Some(("7".into(), Some(1)))),
    ];
    let instance = mixed(jobs);
    let found = super::unheeded(&instance, instance.task_ids());
    assert_eq!((found.jobs, found.never.iter().map(|task| task.index()).collect::<Vec<_>>()), (2, vec![2, 3]));
    assert_eq!(found.rules.iter().map(|rule| rule.1).sum::<usize>(), 2, "{:?}", found.rules);
    assert_eq!(super::unheeded(&flat(4, vec![job("a", 1, 1, 0)]), [].into_iter()), super::IgnoredRules::default());
}

proptest::proptest! {
    /// `r` holds half of the processors for the rest of its limit. `b` needs all processors. Checks when `c` starts at
    /// the first backfill cycle, in parallel to `r`. This must happen if and only if `c` would end no later than `r`.
    #[test]
    fn what_is_left_of_a_limit_is_no_whole_number_of_minutes(left in 31_i64..400, length in 1_i64..7) {
        let running = Job::new("r", Profile::rigid(2, seconds(left)).unwrap()).with_walltime(seconds(left));
        let instance = flat(4, vec![running, job("b", 4, 5, 0), job("c", 2, length, 0)]);
        let mut waiting = TaskSet::new();
        (1..3).for_each(|task| { waiting.insert(TaskId(task)); });
        let held = [Running { task: TaskId(0), start: Time::ZERO, processors: ProcSet::first(2) }];
        let free = ProcSet::range(2, 3);
        let view = View {
            now: Time::ZERO, instance: &instance, waiting: &waiting, running: &held, free: &free, down: &[], ended: EndedTasks::default(),
        };
        let mut play = PolicySimulation::from(&instance, &view);
        let mut policy = policy("slurm", 1).unwrap();
        play.run(policy.as_mut(), &|task, processors| instance.time(task, processors), 1000);
        let start = |task: u64| play.started.iter().find(|one| one.task == TaskId(task)).unwrap().start;
        proptest::prop_assert_eq!(start(2) == Time::ZERO, 60 * length <= left);
        proptest::prop_assert_eq!(start(1), seconds(left));
    }
}

#[test]
fn a_job_that_will_do_with_less_fills_a_gap_and_gets_what_puts_off_nobody() {
    let least = |job: Job, time: i64| submitted(job, |own| own.least_time = Some(minutes(time)));
    // As in `queue`, `d` requests 20 minutes. The job gets the minutes until `b` begins.
    let jobs = |time| vec![job("a", 3, 10, 0), job("b", 4, 5, 1), least(job("d", 1, 20, 2), time)];
    assert_eq!(starts("slurm", &flat(4, jobs(9)))[2], 30);
    assert_eq!(starts("slurm", &flat(4, jobs(10)))[2], 900);
    // A job that ends within its granted time must not delay other jobs. `b` begins when `a` ends, as it would without
    // `d`.
    for time in 1..=9 {
        let instance = flat(4, jobs(time));
        let mut slurm = policy("slurm", 1).unwrap();
        let real =
            |task: TaskId, own: &ProcSet| if task == TaskId(2) { minutes(time) } else { instance.time(task, own) };
        let started = PolicySimulation::starts(&instance, slurm.as_mut(), &real);
        let start = |task| started.iter().find(|one| one.task == TaskId(task)).unwrap().start;
        assert_eq!((start(1), start(2)), (seconds(600), seconds(30)), "{time}");
    }
    // If a job can start when all processors are free again, it is treated like all other jobs.
    assert_eq!(starts("slurm", &flat(4, vec![job("a", 4, 10, 0), least(job("d", 1, 20, 2), 5)]))[1], 600);
}

#[test]
fn a_job_that_cannot_end_by_its_deadline_is_given_up() {
    let by = |job: Job, at: i64| submitted(job, |own| own.deadline = Some(minutes(at)));
    let start =
        |at: i64| starts("slurm", &flat(4, vec![job("a", 4, 10, 0), by(job("b", 4, 5, 1), at), job("c", 4, 5, 2)]));
    assert_eq!(start(15), [0, 600, 900]);
    // The cancelled job does not delay the later job.
    assert_eq!(start(14), [0, -1, 600]);
    assert_eq!(start(4), [0, -1, 600]);
    let least = |job: Job| submitted(job, |own| own.least_time = Some(minutes(3)));
    assert_eq!(starts("slurm", &flat(4, vec![job("a", 4, 10, 0), least(by(job("b", 4, 5, 1), 13))])), [0, 600]);
}
