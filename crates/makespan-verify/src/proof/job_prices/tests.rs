use super::*;
use makespan_core::{Edge, Graph, Job, NamedTask, Node, Payload, Platform, Profile, Weight};

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

fn unit(number: usize) -> NamedTask {
    NamedTask::new(number.to_string(), Profile::rigid(1, ticks(1)).unwrap())
}

/// Returns a chain of tasks with these times.
fn chain(times: &[i64], payload: Payload) -> Graph {
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(time)).unwrap());
    let edge = |to: u32| Edge { from: to - 1, to, payload };
    Graph::new(times.iter().enumerate().map(task).collect(), (1..times.len() as u32).map(edge).collect()).unwrap()
}

fn prices(instants: &[i64], prices: &[i64]) -> JobPrices {
    let instants = instants.iter().map(|&instant| ticks(instant)).collect();
    JobPrices { instants, prices: prices.to_vec(), shares: Vec::new(), scale: 0 }
}

#[test]
fn jobs_that_compete_pay_for_waiting() {
    // Two chains of two unit tasks on one processor: in the best schedule, they end at 2 and 4.
    let job = |name: &str| Job::compound(name, chain(&[1, 1], Payload::Bytes(0)));
    let instance = Instance::new(Platform::flat(1).unwrap(), vec![job("a"), job("b")], vec![]).unwrap();
    let flow = |proof: &JobPrices| proof.value(Objective::MeanFlow, &instance).map(|value| value.integer());
    assert_eq!(flow(&prices(&[0], &[])), Ok(2000), "without prices, each job ends at 2");
    // A job that ends at 2 pays 1 for each of its 2 tasks, and a job that ends at 4 pays nothing. The price of the 2
    // open ticks is subtracted, so the bound is 2 * 4 - 2.
    assert_eq!(flow(&prices(&[0, 2], &[1])), Ok(3000), "the optimum");
    assert!(flow(&prices(&[0, 2], &[2])).unwrap() < 3000);
}

#[test]
fn tasks_of_a_job_run_one_after_another() {
    // Two jobs of four unit tasks on one processor: in the best schedule, the jobs end at 4 and 8.
    let graph = || Graph::new((0..4).map(unit).collect(), Vec::new()).unwrap();
    let unit_job = || Job::new("", Profile::rigid(1, ticks(1)).unwrap()).with_count(4.try_into().unwrap());
    for jobs in [
        ["a", "b"].map(|name| Job::compound(name, graph())),
        ["a", "b"].map(|name| Job { name: name.into(), ..unit_job() }),
    ] {
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs.to_vec(), vec![]).unwrap();
        let flow = |proof: &JobPrices| proof.value(Objective::MeanFlow, &instance).map(|value| value.integer());
        assert_eq!(flow(&prices(&[0, 4], &[1])), Ok(6000), "the optimum");
        // The price is lowest until 2, and tasks may run before the last ticks of their job.
        assert!(flow(&prices(&[0, 2, 4], &[0, 1])).unwrap() < 5000);
    }
}

#[test]
fn a_job_is_as_good_as_its_weight_and_its_deadline_say() {
    let job = |name: &str, weight| {
        let job = Job::compound(name, chain(&[1, 2], Payload::Bytes(0)));
        job.with_weight(Weight::from_millionths(weight).unwrap()).with_deadline(ticks(4))
    };
    let instance = Instance::new(Platform::flat(1).unwrap(), vec![job("a", 5), job("b", 0)], vec![]).unwrap();
    let free = prices(&[0], &[]);
    let proves = |objective| free.value(objective, &instance).map(|value| value.integer());
    assert_eq!(proves(Objective::WeightedCompletion), Ok(15));
    assert_eq!(proves(Objective::WeightedTardiness), Ok(0));
    assert_eq!(proves(Objective::MeanFlow), Ok(3000));
}

#[test]
fn shares_and_transfers_count_where_a_task_runs() {
    // If both tasks run on the fast node, the second task need not wait for data. On the slow node, the second task
    // waits 5 ticks for a transfer and takes twice its time.
    let nodes = [2.0, 1.0].map(|speed| Node { speed, ..Node::new(speed.to_string(), 1) });
    let job = Job::compound("a", chain(&[4, 4], Payload::Fixed(ticks(5))));
    let instance = Instance::new(Platform::new(nodes.to_vec()).unwrap(), vec![job], vec![]).unwrap();
    let proves = |shares: &[u64]| {
        let proof = JobPrices { shares: shares.to_vec(), ..prices(&[0, 20], &[1]) };
        proof.value(Objective::MeanFlow, &instance).map(|value| value.integer())
    };
    // For a single job, prices never improve the bound.
    assert_eq!(proves(&[0, 0]), Ok(4000));
    assert!(proves(&[2, 1]).unwrap() < 4000);
    assert!(matches!(proves(&[1]), Err(CertificateError::Malformed(_))));
}

#[test]
fn what_is_malformed_is_refused() {
    let instance = Instance::new(Platform::flat(1).unwrap(), vec![], vec![]).unwrap();
    let refused = |proof: JobPrices| {
        assert!(
            matches!(proof.value(Objective::MeanFlow, &instance), Err(CertificateError::Malformed(_))),
            "{proof:?}"
        );
    };
    refused(prices(&[], &[]));
    refused(prices(&[0, 1], &[]));
    refused(prices(&[0, 1], &[-1]));
    refused(prices(&[1, 0], &[1]));
    refused(prices(&[-1, 0], &[1]));
    refused(JobPrices { scale: 65, ..prices(&[0], &[]) });
    assert_eq!(prices(&[0, 1], &[1]).value(Objective::MeanFlow, &instance).map(|value| value.integer()), Ok(0));
}
