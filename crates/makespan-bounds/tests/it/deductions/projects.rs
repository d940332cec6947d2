//! Projects of several activities that need resources, and the least makespan of each project.

use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Need, Needs, Payload, Platform, Profile, Resources, TaskId, Time,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Three amounts: processors, `crew` and `tools`.
type Amounts = [u64; 3];

/// Returns an instance of six or seven activities, and its least makespan. The last activity may be a separate job with
/// a release date of its own, and this job may wait for all other activities. All times are multiples of `unit` ticks.
pub fn draw(unit: i64, rng: &mut ChaCha8Rng) -> (Instance, i128) {
    let there: Amounts = [rng.random_range(2..=4), rng.random_range(2..=5), rng.random_range(1..=3)];
    let count = rng.random_range(6..=7);
    let times: Vec<i64> = (0..count).map(|_| unit * rng.random_range(1..=6)).collect();
    let holds: Vec<Amounts> = (0..count)
        .map(|_| [rng.random_range(1..=there[0]), rng.random_range(0..=there[1]), rng.random_range(0..=there[2])])
        .collect();
    let apart = rng.random_bool(0.5);
    let (inside, release) = (count - usize::from(apart), unit * rng.random_range(0..=8));
    let waits = apart && rng.random_bool(0.3);
    let pairs = (0..inside as u32).flat_map(|to| (0..to).map(move |from| (from, to)));
    let edges: Vec<(u32, u32)> = pairs.filter(|_| rng.random_bool(0.25)).collect();

    let profile = |at: usize| Profile::rigid(holds[at][0] as u32, Time::from_ticks(times[at])).unwrap();
    let needs =
        |at: usize| Needs::new([("crew", Need::whole(holds[at][1])), ("tools", Need::whole(holds[at][2]))]).unwrap();
    let task = |at: usize| {
        let mut task = NamedTask::new(at.to_string(), profile(at));
        task.task.needs = needs(at);
        task
    };
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Bytes(0) };
    let graph = Graph::new((0..inside).map(task).collect(), edges.iter().map(edge).collect()).unwrap();
    let mut jobs = vec![Job::compound("project", graph)];
    if apart {
        let after = if waits { vec!["project".to_owned()] } else { vec![] };
        let job = Job::new("job", profile(inside)).with_needs(needs(inside));
        jobs.push(job.with_after(after).with_release(Time::from_ticks(release)));
    }
    let licences = Resources::new([("crew", there[1]), ("tools", there[2])]).unwrap();
    let platform = Platform::flat(there[0] as u32).unwrap().with_licences(licences).unwrap();
    let instance = Instance::new(platform, jobs, vec![]).unwrap();

    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    edges.iter().for_each(|&(from, to)| before[to as usize].push(from as usize));
    if waits {
        before[inside] = (0..inside).collect();
    }
    let releases = (0..count).map(|at| instance.release(TaskId::at(at)).ticks()).collect();
    let mut search = Search { there, times, holds, before, releases, placed: vec![None; count], least: i64::MAX };
    search.descend(0);
    (instance, search.least.into())
}

/// A search over all orders of the activities. Each activity starts as early as the activities before it in the order
/// allow. At least one of these schedules has the least makespan.
struct Search {
    there: Amounts,
    times: Vec<i64>,
    holds: Vec<Amounts>,
    before: Vec<Vec<usize>>,
    releases: Vec<i64>,
    /// Start and end of each activity.
    placed: Vec<Option<(i64, i64)>>,
    least: i64,
}

impl Search {
    fn descend(&mut self, done: usize) {
        let end = self.placed.iter().flatten().map(|placed| placed.1).max().unwrap_or(0);
        if done == self.placed.len() {
            self.least = self.least.min(end);
        }
        for at in 0..self.placed.len() {
            let waits = self.before[at].iter().any(|&other| self.placed[other].is_none());
            if self.placed[at].is_some() || waits {
                continue;
            }
            let start = self.earliest(at);
            self.placed[at] = Some((start, start + self.times[at]));
            self.descend(done + 1);
            self.placed[at] = None;
        }
    }

    fn earliest(&self, at: usize) -> i64 {
        let ends = self.before[at].iter().filter_map(|&other| self.placed[other]).map(|(_, end)| end);
        let ready = ends.fold(self.releases[at], i64::max);
        let ends = self.placed.iter().flatten().map(|&(_, end)| end).filter(|&end| end > ready);
        let mut candidates: Vec<i64> = std::iter::once(ready).chain(ends).collect();
        candidates.sort_unstable();
        let fits = |&start: &i64| {
            let begins = self.placed.iter().flatten().map(|&(begin, _)| begin.max(start));
            let mut instants = begins.filter(|&instant| instant < start + self.times[at]);
            instants.all(|instant| self.fits(at, instant))
        };
        candidates.into_iter().find(fits).expect("after the last end, every activity fits")
    }

    fn fits(&self, at: usize, instant: i64) -> bool {
        let runs = |&(_, placed): &(&Amounts, &Option<(i64, i64)>)| {
            placed.is_some_and(|(start, end)| start <= instant && instant < end)
        };
        (0..3).all(|of| {
            let held: u64 = self.holds.iter().zip(&self.placed).filter(runs).map(|(holds, _)| holds[of]).sum();
            held + self.holds[at][of] <= self.there[of]
        })
    }
}
