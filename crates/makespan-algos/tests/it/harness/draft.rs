//! Random small instances of every kind, stored as plain figures that proptest can shrink.

use makespan_core::{
    EndPenalty, Instance, Job, Node, PenaltyForm, Platform, ProcSet, Profile, SpeedupLaw, Time, Unavailable, Weight,
};
use proptest::prelude::*;

/// An instance before it is built. Times are in units of `unit` ticks.
#[derive(Clone, Debug)]
pub struct Draft {
    pub processors: u32,
    /// The processors of each node of a platform that requires best placement. Empty for a flat platform.
    pub nodes: Vec<u32>,
    pub unit: i64,
    pub jobs: Vec<DraftJob>,
    pub closed: Vec<(u32, u32, i64, i64)>,
}

/// One job of a draft.
#[derive(Clone, Debug)]
pub struct DraftJob {
    pub shape: Shape,
    /// The weight in millionths.
    pub weight: u64,
    pub release: i64,
    /// The deadline. If the release is later, the release is used as the deadline.
    pub deadline: Option<i64>,
    /// The number of tasks of a bag, or 0 if the job is not a bag.
    pub count: u64,
}

/// The dependence of a job's time on its allotment.
#[derive(Clone, Debug)]
pub enum Shape {
    Rigid(u32, i64),
    Table(Vec<i64>),
    /// Sequential time, law, and the minimum and maximum number of processors.
    Law(i64, SpeedupLaw, u32, u32),
}

/// A unit with many factors 2, and with the factors 3 and 5. Every half and every mean over up to 5 processors is a
/// whole number of ticks, even after about twenty halvings. With this unit, nothing is rounded.
pub const EXACT_UNIT: i64 = 60 << 24;

impl Draft {
    /// Returns the instance with every time multiplied by `factor`.
    pub fn instance(&self, factor: i64) -> Instance {
        let unit = self.unit * factor;
        let jobs = self.jobs.iter().enumerate().map(|(index, job)| job.build(index, self.processors, unit)).collect();
        let closed = self.closed.iter().map(|&(first, count, start, length)| {
            let first = first % self.processors;
            let last = (first + count).min(self.processors - 1);
            let (start, end) = (Time::from_ticks(start * unit), Time::from_ticks((start + length) * unit));
            Unavailable { processors: ProcSet::range(first, last), start, end }
        });
        Instance::new(self.platform(), jobs, closed.collect()).unwrap()
    }

    fn platform(&self) -> Platform {
        if self.nodes.is_empty() {
            return Platform::flat(self.processors).unwrap();
        }
        let node = |(index, &processors): (usize, &u32)| Node::new(format!("node {index}"), processors);
        Platform::new(self.nodes.iter().enumerate().map(node).collect()).unwrap().requiring_compact()
    }

    /// Returns whether every time is given in whole units.
    pub fn is_measured(&self) -> bool {
        self.jobs.iter().all(|job| !matches!(job.shape, Shape::Law(..)))
    }
}

impl DraftJob {
    fn build(&self, index: usize, processors: u32, unit: i64) -> Job {
        let ticks = |units: i64| Time::from_ticks(units * unit);
        // Widths are drawn for the largest platform and reduced modulo the size of smaller ones.
        let fold = |width: u32| 1 + (width - 1) % processors;
        let profile = match &self.shape {
            Shape::Rigid(width, time) => Profile::rigid(fold(*width), ticks(*time)),
            Shape::Table(times) => Profile::table(times.iter().map(|&time| ticks(time)).collect()),
            Shape::Law(sequential, law, min, max) => {
                let (min, max) = (fold(*min), fold(*max));
                Profile::law(ticks(*sequential), *law, min.min(max), min.max(max))
            }
        };
        let job = Job::new(format!("job {index}"), profile.unwrap());
        let job = match std::num::NonZeroU64::new(self.count) {
            Some(count) => job.with_count(count),
            None => job,
        };
        let job = job.with_weight(Weight::from_millionths(self.weight).unwrap()).with_release(ticks(self.release));
        let deadline = self.deadline.map(|deadline| ticks(deadline.max(self.release)));
        let form = if self.release == 0 { PenaltyForm::Steps } else { PenaltyForm::Linear };
        let points = |due| vec![(due, Weight::ZERO), (due + ticks(4), Weight::ONE), (due + ticks(8), Weight::ONE)];
        let penalty = deadline.and_then(|due| EndPenalty::new(form, points(due)).ok());
        Job { deadline, penalty, ..job }
    }
}

/// Returns tables with work that never decreases and times that never increase.
fn monotone() -> impl Strategy<Value = Shape> {
    (1_i64..25, prop::collection::vec(0_i64..=4, 0..5)).prop_map(|(first, parts)| {
        let mut times = vec![first];
        for part in parts {
            let processors = times.len() as i64 + 1;
            let last = times[times.len() - 1];
            // Chooses a time between perfect speed-up (rounded up) and no speed-up.
            let perfect = (last * (processors - 1) + processors - 1) / processors;
            times.push(perfect + (last - perfect) * part / 4);
        }
        Shape::Table(times)
    })
}

fn superlinear() -> impl Strategy<Value = Shape> {
    (4_i64..40, 2_usize..=5).prop_map(|(first, most)| {
        Shape::Table((1..=most as i64).map(|processors| (first / (processors * processors)).max(1)).collect())
    })
}

fn law() -> impl Strategy<Value = SpeedupLaw> {
    prop_oneof![
        Just(SpeedupLaw::Linear {}),
        (0.0..=1.0).prop_map(|serial| SpeedupLaw::Amdahl { serial }),
        (0.0..=1.0).prop_map(|exponent| SpeedupLaw::Power { exponent }),
        (1.0..6.0, 0.0..3.0).prop_map(|(parallelism, sigma)| SpeedupLaw::Downey { parallelism, sigma }),
        (1_u32..6, -60.0..0.0).prop_map(|(parallelism, exponent): (u32, f64)| SpeedupLaw::Downey {
            parallelism: f64::from(parallelism),
            sigma: exponent.exp2(),
        }),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        3 => monotone(),
        2 => prop::collection::vec(1_i64..20, 1..=5).prop_map(Shape::Table),
        1 => superlinear(),
        2 => (1_i64..25, law(), 1_u32..=2, 1_u32..=5).prop_map(|(time, law, min, max)| Shape::Law(time, law, min, max)),
        2 => (1_u32..=5, 1_i64..15).prop_map(|(width, time)| Shape::Rigid(width, time)),
        1 => (1_i64..15).prop_map(|time| Shape::Rigid(1, time)),
        1 => (1_u32..=5).prop_map(|width| Shape::Rigid(width, 6)),
    ]
}

fn weight() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(1_000_000),
        2 => 0_u64..10_000_000,
        1 => Just(0),
        1 => Just(1),
        1 => Just(1_000_000_000_000_000),
    ]
}

fn jobs() -> impl Strategy<Value = Vec<DraftJob>> {
    let deadline = prop::option::weighted(0.4, 0_i64..40);
    let job = (shape(), weight(), 0_i64..15, deadline).prop_map(|(shape, weight, release, deadline)| DraftJob {
        shape,
        weight,
        release,
        deadline,
        count: 0,
    });
    (prop::collection::vec(job, 1..=6), 0_u8..5, any::<bool>(), any::<bool>()).prop_map(
        |(mut jobs, releases, equal_jobs, equal_weights)| {
            let first = jobs[0].clone();
            for job in &mut jobs {
                match releases {
                    0..=2 => job.release = 0,
                    3 => {}
                    _ => job.release = 1000,
                }
                // Both properties occur together in a quarter of the cases. Then all jobs are equal.
                if equal_jobs && equal_weights {
                    job.shape = first.shape.clone();
                }
                if equal_weights {
                    job.weight = first.weight;
                }
            }
            jobs
        },
    )
}

/// Returns the nodes of a platform that requires best placement, or no nodes. The nodes may be equal or unequal.
fn nodes() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        7 => Just(vec![]),
        3 => Just(vec![2, 2]),
        1 => Just(vec![2, 2, 2]),
        1 => Just(vec![3, 2]),
        1 => Just(vec![3, 3]),
        1 => Just(vec![1, 2, 2]),
        1 => Just(vec![1, 4]),
    ]
}

/// Makes bags of 1 to 3 tasks of the first jobs. Then removes jobs so that at most 6 tasks remain.
fn with_bags(mut draft: Draft, bags: &[(u64, bool)]) -> Draft {
    for (job, &(count, best_effort)) in draft.jobs.iter_mut().zip(bags) {
        job.count = count;
        if count > 0 && best_effort {
            job.weight = 0;
        }
    }
    let mut tasks = 0;
    draft.jobs.retain(|job| {
        tasks += job.count.max(1);
        tasks <= 6
    });
    draft
}

/// Maximum number of sequences of placements. If little can be pruned, the brute force takes too long for more
/// sequences. About one draft in twenty exceeds this limit.
const MAX_SEQUENCES: f64 = 1e7;

/// Returns instances with an optimum that is found quickly: 1 to 6 jobs, at most 6 tasks in all, on 1 to 5 processors
/// or on 6 processors in three nodes.
pub fn drafts() -> impl Strategy<Value = Draft> {
    let few = |draft: &Draft| super::optimum::sequences(&draft.instance(1)) <= MAX_SEQUENCES;
    any_drafts().prop_filter("the brute force takes too long", few)
}

fn any_drafts() -> impl Strategy<Value = Draft> {
    let bags = prop::collection::vec((0_u64..=3, any::<bool>()), 1..=3);
    prop_oneof![3 => plain_drafts(), 2 => (plain_drafts(), bags).prop_map(|(draft, bags)| with_bags(draft, &bags))]
}

/// Returns instances without bags.
fn plain_drafts() -> impl Strategy<Value = Draft> {
    let unit = prop_oneof![Just(1), Just(2), Just(3), Just(7), Just(1_000), Just(999_983), Just(1_000_000_000)];
    let period = (0_u32..5, 0_u32..4, 0_i64..20, 1_i64..12);
    let closed = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(period, 1..=3)];
    (1_u32..=5, nodes(), unit, jobs(), closed).prop_map(|(flat, nodes, unit, jobs, closed)| Draft {
        processors: if nodes.is_empty() { flat } else { nodes.iter().sum() },
        nodes,
        unit,
        jobs,
        closed,
    })
}

/// Returns instances with multiples of [`EXACT_UNIT`] as times.
pub fn exact_drafts() -> impl Strategy<Value = Draft> {
    drafts()
        .prop_filter("a law is rounded to ticks", Draft::is_measured)
        .prop_map(|draft| Draft { unit: EXACT_UNIT, ..draft })
}
