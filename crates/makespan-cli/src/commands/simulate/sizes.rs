//! Finds jobs that would have started earlier on another number of processors.

use makespan::Simulated;
use makespan_core::{Instance, Outcome, ResourceKind, TaskId, Time, counted};
use makespan_formats::length;
use miette::{Result, miette};
use serde_json::{Value, json};

use super::rooms::{AmountPlace, NodeAmounts};
use crate::output::{shown, table, wrapped};
use crate::summary::figure;

/// Maximum number of jobs that are listed.
const LISTED: usize = 10;
/// Maximum number of sizes that are tried for a job. If the job accepts more sizes, the tried sizes are spread over
/// all of them.
const MAX_SIZES: usize = 64;

/// A job that would start earlier with another size.
struct EarlierAttempt {
    task: TaskId,
    /// Actual size (processors) and start.
    had: (u32, Time),
    /// Other size (processors) and its start.
    other: (u32, Time),
    /// Actual end, and the end with the other size.
    ends: (Time, Time),
}

/// The jobs of a simulation that would start earlier with another size if all other jobs ran unchanged.
pub struct Sizes {
    policy: String,
    /// Number of jobs that waited and accept several sizes.
    asked: usize,
    /// Jobs that would have started earlier, in descending order of the gain.
    earlier: Vec<EarlierAttempt>,
}

impl Sizes {
    /// Finds the earliest start with another size, for each job that waited and accepts several sizes. The job does
    /// not start before its release, and uses only processors and resources that were free during its whole run time.
    pub fn of(instance: &Instance, simulated: &Simulated) -> Result<Self> {
        check(instance)?;
        let (free, rooms) = (AmountPlace::of_processors(instance, simulated), NodeAmounts::of(instance, simulated));
        let runs = simulated.simulation.trace.runs.iter();
        let (mut asked, mut earlier) = (0, Vec::new());
        for run in runs.filter(|run| matches!(run.outcome, Outcome::Succeeded)) {
            let (profile, release) = (instance.profile(run.task), instance.release(run.task));
            if profile.is_rigid() || run.start <= release {
                continue;
            }
            asked += 1;
            let own = (run.processors.len(), run.start, run.end);
            let fits =
                |size: u32, period: (Time, Time)| rooms.as_ref().is_none_or(|rooms| rooms.fit(size, period, run));
            let candidates = sizes(profile.allotments().filter(|&size| size != own.0).collect());
            let first = candidates.into_iter().filter_map(|size| {
                let time = profile.time(size);
                let mut start = free.first_fit(size, time, (release, run.start), own)?;
                // Enough processors are free, but their nodes may lack another resource.
                while !fits(size, (start, start + time)) {
                    start = free.first_fit(size, time, (free.next_step(start)?, run.start), own)?;
                }
                Some((start, start + time, size))
            });
            // Chooses the earliest start, and among equal starts the earliest end.
            if let Some((start, end, size)) = first.min() {
                let ends = (run.end, end);
                earlier.push(EarlierAttempt { task: run.task, had: (own.0, run.start), other: (size, start), ends });
            }
        }
        earlier.sort_by_key(|one| (std::cmp::Reverse(one.had.1 - one.other.1), one.task));
        Ok(Self { policy: simulated.policy.clone(), asked, earlier })
    }

    /// Formats the result as a few lines and a table.
    pub fn text(&self, instance: &Instance) -> String {
        let sooner = self.earlier.iter().filter(|one| one.ends.1 < one.ends.0).count();
        let told = format!(
            "{} waited and accept several numbers of processors; with another number, {} of these jobs would have \
             started earlier without delaying another job; {sooner} of them would also have ended earlier",
            counted(self.asked, "job"),
            self.earlier.len()
        );
        let mut text = "\n".to_owned() + &wrapped(&format!("{}: ", self.policy), 2, &told);
        if self.earlier.is_empty() {
            return text;
        }
        let row = |one: &EarlierAttempt| {
            vec![
                shown(&instance.name(one.task)).into_owned(),
                one.had.0.to_string(),
                figure(one.had.1.seconds()),
                one.other.0.to_string(),
                figure(one.other.1.seconds()),
                length((one.had.1 - one.other.1).seconds()),
                length((one.ends.0 - one.ends.1).seconds()),
            ]
        };
        let heading = ["job", "size", "start", "other", "start then", "earlier by", "end earlier by"];
        text += &table(&heading, 1, self.earlier.iter().take(LISTED).map(row));
        text
    }

    /// Returns the result for all jobs as JSON.
    pub fn json(&self, instance: &Instance) -> Value {
        let job = |one: &EarlierAttempt| {
            json!({
                "job": instance.name(one.task),
                "processors": one.had.0,
                "start": one.had.1.seconds(),
                "end": one.ends.0.seconds(),
                "other_processors": one.other.0,
                "other_start": one.other.1.seconds(),
                "other_end": one.ends.1.seconds(),
            })
        };
        json!({ "policy": self.policy, "asked": self.asked, "earlier": self.earlier.iter().map(job).collect::<Vec<_>>() })
    }
}

/// Returns an error if the number of free processors does not determine whether a job fits.
pub fn check(instance: &Instance) -> Result<()> {
    let platform = instance.platform();
    let plain = platform.has_unit_speed() && !platform.restricts_placement() && !instance.has_machine_times();
    let mut demands = instance.distinct_demands().flatten();
    let uses_up = demands.any(|demand| demand.kind == ResourceKind::Consumable);
    if !plain || uses_up || !instance.unavailable().is_empty() {
        return Err(miette!(
            "--sizes counts free processors, but here this number does not decide whether a job fits: jobs use up \
             resources, or the platform has several speeds, unavailable periods or best placement; state machines by \
             their processors alone (--processors {}), or remove --sizes",
            platform.processors()
        ));
    }
    if instance.task_ids().all(|task| instance.profile(task).is_rigid()) {
        return Err(miette!(
            "--sizes: no job accepts several numbers of processors; make the jobs of a log moldable with --speedup"
        ));
    }
    Ok(())
}

/// Returns up to `MAX_SIZES` of the sizes, including the first and the last.
fn sizes(all: Vec<u32>) -> Vec<u32> {
    if all.len() <= MAX_SIZES {
        return all;
    }
    (0..MAX_SIZES).map(|at| all[at * (all.len() - 1) / (MAX_SIZES - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use makespan::SimulationInput;
    use makespan_core::{Job, Need, Needs, Platform, Profile, Resources};

    use super::*;

    /// `a` holds 3 of 4 processors for 10 s; `b`, which would take 4 s on 2 and 7 s on 1, waits for two.
    #[test]
    fn a_job_would_have_started_earlier_on_fewer() {
        let seconds = Time::from_seconds;
        let wide = Job::new("a", Profile::rigid(3, seconds(10)).unwrap());
        let moldable = Profile::table([7, 4].map(seconds).to_vec()).unwrap();
        let other = Job::new("b", moldable).with_release(seconds(1));
        let instance = Instance::new(Platform::flat(4).unwrap(), vec![wide, other], vec![]).unwrap();
        let done = makespan::simulate(&SimulationInput::new(&instance), "fcfs[request=fastest]", &mut makespan::Silent)
            .unwrap();
        let sizes = Sizes::of(&instance, &done).unwrap();
        assert_eq!((sizes.asked, sizes.earlier.len()), (1, 1));
        let one = &sizes.earlier[0];
        assert_eq!((one.had, one.other), ((2, seconds(10)), (1, seconds(1))));
        assert_eq!(one.ends, (seconds(14), seconds(8)));
        assert!(sizes.text(&instance).replace("\n  ", " ").contains("1 of these jobs would have started earlier"));
        let rigid =
            Instance::new(Platform::flat(4).unwrap(), vec![instance.submitted(makespan_core::JobId(0))], vec![]);
        assert!(check(&rigid.unwrap()).unwrap_err().to_string().contains("--speedup"));
    }
    /// `a` holds 2 of 4 processors and 6 of 8 GiB for 10 s; `b` waits on 2 processors for its memory.
    #[test]
    fn what_a_job_needs_of_nodes_is_free_at_the_other_size() {
        let seconds = Time::from_seconds;
        let memory = |need: Need| Needs::new([("memory", need)]).unwrap();
        let earlier = |need: Need, nodes: u32| {
            let a = Job::new("a", Profile::rigid(2, seconds(10)).unwrap()).with_needs(memory(Need::whole(6)));
            let moldable = Profile::table([7, 4].map(seconds).to_vec()).unwrap();
            let b = Job::new("b", moldable).with_release(seconds(1)).with_needs(memory(need));
            let platform = Platform::cluster(nodes, 4).unwrap();
            let platform = platform.with_node_resources(&Resources::new([("memory", 8)]).unwrap()).unwrap();
            let instance = Instance::new(platform, vec![a, b], vec![]).unwrap();
            check(&instance).unwrap();
            let done =
                makespan::simulate(&SimulationInput::new(&instance), "fcfs[request=fastest]", &mut makespan::Silent)
                    .unwrap();
            let earlier = Sizes::of(&instance, &done).unwrap().earlier;
            earlier.iter().map(|one| (one.had, one.other)).collect::<Vec<_>>()
        };
        // The memory is requested for each processor, so `b` fits next to `a` with one processor.
        assert_eq!(earlier(Need::per_processor(2), 1), [((2, seconds(10)), (1, seconds(1)))]);
        // The memory is requested for the whole job, so `b` does not fit with any number of processors.
        assert_eq!(earlier(Need::whole(4), 1), []);
        // On a second node, `b` fits at once.
        assert_eq!(earlier(Need::whole(4), 2), []);
    }
    proptest::proptest! {
        /// Each simulated run fits at its own time. 13 processors never fit.
        #[test]
        fn every_run_fits_where_it_was(
            rows in proptest::collection::vec((1_u32..9, 1_i64..20, 0_i64..30, 0_u64..5, 0_u64..2), 1..16),
        ) {
            let seconds = Time::from_seconds;
            let job = |(at, (width, time, release, whole, each)): (usize, (u32, i64, i64, u64, u64))| {
                let needs = [("memory", Need::Linear { whole, per_processor: each }), ("seats", Need::whole(whole / 2))];
                let needs = needs.into_iter().filter(|(name, _)| whole + each > 0 && (*name == "memory" || whole > 1));
                Job::new(at.to_string(), Profile::rigid(width, seconds(time)).unwrap())
                    .with_release(seconds(release))
                    .with_needs(Needs::new(needs).unwrap())
            };
            let platform = Platform::cluster(3, 4).unwrap();
            let platform = platform.with_node_resources(&Resources::new([("memory", 9)]).unwrap()).unwrap();
            let platform = platform.with_licences(Resources::new([("seats", 6)]).unwrap()).unwrap();
            let jobs = rows.into_iter().enumerate().map(job).collect();
            let instance = Instance::new(platform, jobs, vec![]).unwrap();
            let done = makespan::simulate(&SimulationInput::new(&instance), "easy", &mut makespan::Silent).unwrap();
            let Some(rooms) = NodeAmounts::of(&instance, &done) else { return Ok(()) };
            for run in &done.simulation.trace.runs {
                let width = run.processors.len();
                proptest::prop_assert!(rooms.fit(width, (run.start, run.end), run), "{:?}", run);
                proptest::prop_assert!(!rooms.fit(13, (run.start, run.end), run));
            }
        }
    }
}
