//! Generates flows of tasks with an oscillating arrival rate.

use makespan_core::{Instance, Job, Node, Platform, Profile, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};
use std::f64::consts::TAU;

use super::at_most;
use crate::GenerateError;

/// Options for a flow of sequential tasks on nodes that differ in speed.
///
/// The model comes from W. Sun, Y. Zhang, Y. Wu and Y. Inoguchi, "Practical Task Flow Scheduling for High Throughput
/// Computational Grid", section 5. The paper states only that sizes are random integers and that the rate oscillates.
/// The exact distributions are our choice.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOptions {
    /// Number of tasks.
    pub tasks: usize,
    /// Mean size of a task. Sizes are integers, uniform from 1 to `2 * mean_size - 1`.
    pub mean_size: u32,
    /// Computing capacity of each node, in units of task size per second. Each node has one processor.
    pub capacities: Vec<u32>,
    /// Mean arrival rate, as a multiple of the balance line. The balance line is the highest rate that the nodes can
    /// sustain: the sum of the capacities, divided by the mean size.
    pub rate: f64,
    /// Amplitude of the arrival rate, as a share (0 to 1) of the mean rate. The rate is a sine wave.
    pub swing: f64,
    /// Number of oscillations of the rate between the first and the last arrival.
    pub swings: f64,
    /// Seed; the same seed gives the same instance.
    pub seed: u64,
}

impl FlowOptions {
    /// Returns options with the ten nodes of the paper (capacities 1000, 2000 .. 10000), and 4000 tasks of mean size
    /// `mean_size`. The mean arrival rate is the highest rate that the nodes can sustain.
    pub fn paper(mean_size: u32) -> Self {
        let capacities = (1..=10).map(|node| 1000 * node).collect();
        Self { tasks: 4000, mean_size, capacities, rate: 1.0, swing: 0.5, swings: 4.0, seed: 1 }
    }

    /// Returns the mean arrival rate, in tasks per second.
    fn mean_rate(&self) -> f64 {
        let capacity: f64 = self.capacities.iter().map(|&capacity| f64::from(capacity)).sum();
        self.rate * capacity / f64::from(self.mean_size)
    }

    fn check(&self) -> Result<(), GenerateError> {
        at_most("number of tasks", self.tasks as u64)?;
        let refuse = |name, value: String, expected| Err(GenerateError::Option { name, value, expected });
        if self.capacities.is_empty() || self.capacities.contains(&0) {
            return refuse(
                "capacities",
                format!("{:?}", self.capacities),
                "give at least one capacity; each must be positive",
            );
        }
        if self.mean_size == 0 {
            return refuse("mean size", "0".into(), "it must be at least 1");
        }
        if !(1e-6..=1e6).contains(&self.rate) {
            return refuse(
                "rate",
                self.rate.to_string(),
                "it must be a positive factor of the balance line, such as 0.5 for half of the balance line",
            );
        }
        if !(0.0..=1.0).contains(&self.swing) {
            return refuse("swing", self.swing.to_string(), "it must be from 0 to 1");
        }
        // With fewer than 1e-6 oscillations, the period would be too long to compute arrival times that are exact to a
        // tick.
        if self.swings != 0.0 && !(1e-6..=1e6).contains(&self.swings) {
            return refuse("swings", self.swings.to_string(), "it must be 0, or from 0.000001 to 1000000");
        }
        Ok(())
    }
}

/// Generates a flow: a Poisson process with the rate `mean (1 + swing sin(2 pi t / period + phase))`, with a random
/// phase.
///
/// A task of size `s` takes `s` seconds at speed 1, and the speed of a node is its capacity. Each task has its own
/// random stream, so task sizes do not depend on the rate.
///
/// # Errors
/// [`GenerateError`] that names the option that is out of range.
pub fn flow(options: &FlowOptions) -> Result<Instance, GenerateError> {
    options.check()?;
    let digits = options.tasks.saturating_sub(1).to_string().len();
    let arrivals = OscillatingRate::of(options);
    let (mut jobs, mut expected) = (Vec::with_capacity(options.tasks), 0.0);
    for index in 0..options.tasks {
        let mut stream = ChaCha8Rng::seed_from_u64(options.seed);
        stream.set_stream(index as u64);
        let size = stream.random_range(1..=2 * i64::from(options.mean_size) - 1);
        let gap: f64 = Exp1.sample(&mut stream);
        expected += gap;
        let name = format!("t{index:0digits$}");
        let too_late = |_| GenerateError::Option {
            name: "rate",
            value: options.rate.to_string(),
            expected: "choose a higher rate, so that the last task arrives within 146 years",
        };
        let release = Time::from_seconds_f64(arrivals.when(expected)).map_err(too_late)?;
        let profile = Profile::rigid(1, Time::from_seconds(size))
            .map_err(|source| GenerateError::Profile { job: name.clone(), source })?;
        jobs.push(Job::new(name, profile).with_release(release));
    }
    let platform = Platform::new(options.capacities.iter().enumerate().map(node).collect());
    let platform = platform.map_err(|error| GenerateError::Option {
        name: "capacities",
        value: format!("a list of {} ({error})", options.capacities.len()),
        expected: "give from 1 to 16777216 nodes, each with a valid speed",
    })?;
    Ok(Instance::new(platform, jobs, Vec::new())?)
}

fn node((index, &capacity): (usize, &u32)) -> Node {
    Node { speed: f64::from(capacity), ..Node::new(format!("n{index}"), 1) }
}

/// An arrival rate that oscillates about its mean.
struct OscillatingRate {
    mean: f64,
    /// Amplitude, as a share of the mean rate.
    depth: f64,
    period: f64,
    phase: f64,
}

/// Random stream for the phase. No task uses this stream.
const PHASE: u64 = u64::MAX;

impl OscillatingRate {
    fn of(options: &FlowOptions) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        random.set_stream(PHASE);
        let phase = random.random_range(0.0..TAU);
        let mean = options.mean_rate();
        // Without oscillations, the depth is zero, so the period has no effect.
        let depth = if options.swings > 0.0 { options.swing } else { 0.0 };
        let period = options.tasks.max(1) as f64 / mean / f64::max(options.swings, f64::MIN_POSITIVE);
        Self { mean, depth, period, phase }
    }

    /// Returns the expected number of arrivals before the instant `at`: the integral of the rate up to this instant.
    fn expected(&self, at: f64) -> f64 {
        if self.depth <= 0.0 {
            return self.mean * at;
        }
        let turn = TAU / self.period;
        self.mean * (at + self.depth / turn * (self.phase.cos() - turn.mul_add(at, self.phase).cos()))
    }

    /// Finds, by bisection, the instant at which the expected number of arrivals reaches `expected`. Over a whole
    /// period, the average rate is `mean`. So the instant differs from `expected / mean` by at most one period.
    fn when(&self, expected: f64) -> f64 {
        let middle = expected / self.mean;
        if self.depth <= 0.0 {
            return middle;
        }
        let (mut low, mut high) = (f64::max(middle - self.period, 0.0), middle + self.period);
        // After 64 halvings, the remaining interval is shorter than a tick, even for instants up to 146 years.
        for _ in 0..64 {
            let half = f64::midpoint(low, high);
            if self.expected(half) < expected { low = half } else { high = half }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(instance: &Instance) -> f64 {
        instance.jobs().last().unwrap().release.seconds()
    }

    #[test]
    fn the_rate_is_a_multiple_of_the_balance_line() {
        for (rate, swing) in [(1.0, 0.5), (0.25, 0.0), (8.0, 1.0)] {
            let options = FlowOptions { rate, swing, ..FlowOptions::paper(5000) };
            let instance = flow(&options).unwrap();
            // There are 4000 tasks of mean size 5000, and the nodes have a total capacity of 55000 per second.
            let expected = 4000.0 * 5000.0 / 55_000.0 / rate;
            assert!((last(&instance) / expected - 1.0).abs() < 0.06, "{} is not {expected}", last(&instance));
            let sizes: f64 = instance.simple_jobs().map(|job| job.profile().time(1).seconds()).sum();
            assert!((sizes / 4000.0 / 5000.0 - 1.0).abs() < 0.03);
            assert!(instance.jobs().is_sorted_by_key(|job| job.release));
            assert_eq!(flow(&options).unwrap().all_submitted(), instance.all_submitted());
        }
    }

    #[test]
    fn the_rate_swings_as_far_as_asked() {
        let options = FlowOptions { tasks: 40_000, swing: 0.5, swings: 2.0, ..FlowOptions::paper(50) };
        let instance = flow(&options).unwrap();
        let length = last(&instance);
        let mut counts = [0_usize; 40];
        instance.jobs().iter().for_each(|job| counts[((job.release.seconds() / length * 39.99) as usize).min(39)] += 1);
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!((400..620).contains(least) && (1380..1600).contains(most), "{least} {most}");
        let level = flow(&FlowOptions { swing: 0.0, ..options }).unwrap();
        let profiles =
            |instance: &Instance| instance.simple_jobs().map(|job| job.profile().clone()).collect::<Vec<_>>();
        assert_eq!(profiles(&level), profiles(&instance));
    }

    #[test]
    fn refuses_what_is_no_flow() {
        let paper = FlowOptions::paper(5000);
        for (options, part) in [
            (FlowOptions { tasks: usize::MAX, ..paper.clone() }, "at most 1000000"),
            (FlowOptions { rate: 0.0, ..paper.clone() }, "rate is 0"),
            (FlowOptions { swing: 1.5, ..paper.clone() }, "swing is 1.5"),
            (FlowOptions { swings: f64::NAN, ..paper.clone() }, "swings is NaN"),
            (FlowOptions { swings: 1e-300, ..paper.clone() }, "must be 0, or from"),
            (FlowOptions { mean_size: 0, ..paper.clone() }, "mean size is 0"),
            (FlowOptions { capacities: vec![], ..paper.clone() }, "capacities is []"),
        ] {
            let error = flow(&options).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(flow(&FlowOptions { tasks: 0, ..paper }).unwrap().jobs().is_empty());
    }
}
