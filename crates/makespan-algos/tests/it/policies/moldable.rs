//! `moldable-easy` compared with policies that do not choose allotments.

use makespan_core::{Actual, Instance, Job, Measures, Platform, Profile, SpeedupLaw, Time};
use makespan_sim::SimulationOptions;

use super::{run, t};

/// Returns a moldable log of sixty jobs on sixteen processors, drawn from a seed. Its laws are of one kind or of all
/// kinds. Jobs arrive at a load of 0.1 to 1.5, or all at once.
fn moldable_log(seed: u64) -> Instance {
    moldable_log_on(16, [0.1, 0.4, 0.8, 1.5, f64::INFINITY][(seed / 6 % 5) as usize], seed)
}

/// Returns a similar log for this number of processors and this load. The load is the work on the fewest processors
/// divided by the capacity of the machine.
fn moldable_log_on(processors: u32, load: f64, seed: u64) -> Instance {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    // Xorshift, in [0, 1).
    let mut draw = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (kind, all) = (seed % 6, f64::from(processors));
    let works: Vec<f64> = (0..60).map(|_| (10.0_f64.ln() + draw() * 300.0_f64.ln()).exp()).collect();
    let span = works.iter().sum::<f64>() / all / load;
    let jobs = works.iter().enumerate().map(|(index, &work)| {
        let time = Time::from_seconds_f64(work).unwrap();
        let law = |law: SpeedupLaw| Profile::law(time, law, 1, processors);
        let profile = match if kind == 5 { (draw() * 5.0) as u64 } else { kind } {
            0 => law(SpeedupLaw::Power { exponent: 0.3 }),
            1 => law(SpeedupLaw::Power { exponent: draw() }),
            2 => law(SpeedupLaw::Amdahl { serial: draw() * draw() }),
            3 => {
                let parallelism = (draw() * all.ln()).exp();
                law(SpeedupLaw::Downey { parallelism, sigma: 2.0 * draw() })
            }
            // If the log contains all kinds, some jobs are rigid.
            _ if kind == 5 => Profile::rigid(1 + (draw() * all) as u32, time),
            _ => law(SpeedupLaw::Power { exponent: 0.9 + 0.1 * draw() }),
        };
        Job::new(index.to_string(), profile.unwrap()).with_release(Time::from_seconds_f64(draw() * span).unwrap())
    });
    Instance::new(Platform::flat(processors).unwrap(), jobs.collect(), vec![]).unwrap()
}

fn mean_flow(spec: &str, instance: &Instance) -> f64 {
    let simulation = run(spec, instance, &Actual::AsEstimated, &SimulationOptions::default()).unwrap();
    Measures::of(instance, &simulation.trace).flow.mean
}

#[test]
fn moldable_easy_is_never_much_worse_than_the_better_of_fcfs_and_easy() {
    let (mut worst, mut sum) = (0.0_f64, 0.0);
    for seed in 0..180 {
        let instance = moldable_log(seed);
        let better = mean_flow("fcfs", &instance).min(mean_flow("easy", &instance));
        let ratio = mean_flow("moldable-easy", &instance) / better;
        assert!(ratio <= 1.5, "seed {seed}: {ratio} times the better of fcfs and easy");
        (worst, sum) = (worst.max(ratio), sum + ratio);
    }
    // The choice of allotments must be useful: on average, the result is clearly better than the better result of
    // `fcfs` and `easy`.
    assert!(sum / 180.0 < 0.9, "mean {}, worst {worst}", sum / 180.0);
}

/// Checks that a job is nearly as fast as possible if the machine is nearly idle.
#[test]
fn moldable_easy_is_fast_on_machines_that_are_nearly_idle() {
    for (processors, load) in [(16, 0.001), (16, 0.01), (16, 0.09), (128, 0.001), (128, 0.03), (1024, 0.01)] {
        for seed in 0..30 {
            let instance = moldable_log_on(processors, load, seed);
            let ratio = mean_flow("moldable-easy", &instance) / mean_flow("easy[request=fastest]", &instance);
            assert!(ratio <= 1.5, "{processors} processors, load {load}, seed {seed}: {ratio} times the fastest");
        }
    }
}

/// Checks that one job alone takes less than twice its shortest time for any profile, since another job may arrive.
#[test]
fn moldable_easy_runs_a_job_alone_in_less_than_twice_its_shortest_time() {
    let tables: [&[i64]; 4] = [&[199, 198, 197, 100], &[100, 60, 60, 59], &[400, 200, 134, 100], &[7]];
    for times in tables {
        let profile = Profile::table(times.iter().map(|&ticks| t(ticks)).collect()).unwrap();
        let shortest = profile.shortest();
        let instance = Instance::new(Platform::flat(4).unwrap(), vec![Job::new("a", profile)], vec![]).unwrap();
        let simulation = run("moldable-easy", &instance, &Actual::AsEstimated, &SimulationOptions::default()).unwrap();
        assert!(simulation.trace.runs[0].end < shortest * 2, "{times:?}: {:?}", simulation.trace.runs[0]);
    }
}

/// Checks that jobs with little speed-up run in parallel, as under `fcfs`, and that jobs that scale perfectly run one
/// after the other.
#[test]
fn moldable_easy_gives_the_machine_to_those_who_can_use_it() {
    let flow = |exponent: f64, spec: &str| {
        let profile = Profile::law(Time::from_seconds(200), SpeedupLaw::Power { exponent }, 1, 128).unwrap();
        let jobs = (0..64).map(|index| Job::new(index.to_string(), profile.clone())).collect();
        mean_flow(spec, &Instance::new(Platform::flat(128).unwrap(), jobs, vec![]).unwrap())
    };
    assert!(flow(0.3, "moldable-easy") <= flow(0.3, "fcfs") + 1e-9);
    let alone = 200.0 / 128.0;
    assert!((flow(1.0, "moldable-easy") - alone * 32.5).abs() < 0.01);
}
