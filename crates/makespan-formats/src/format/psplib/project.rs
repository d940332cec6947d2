//! A project of any format, and its conversion to an instance.

use makespan_core::{
    Edge, Graph, Instance, Job, Lag, NamedTask, Need, Needs, Payload, Platform, Profile, Resources, Time, counted,
};
use makespan_verify::native::milestones;
use rustc_hash::FxHashSet;

use super::FileProblem;
use crate::error::FilePlace;

/// Amount of a resource.
pub(super) struct ResourceAmount {
    pub name: String,
    pub amount: u64,
    /// True if the resource is renewable, and false if it is used up.
    pub renewable: bool,
}

/// Mode of an activity.
pub(super) struct Mode {
    /// Line in the file.
    pub line: usize,
    /// Duration in periods.
    pub duration: u64,
    /// Needs, one for each resource.
    pub needs: Vec<u64>,
}

pub(super) struct Activity {
    pub name: String,
    /// Line in the file.
    pub line: usize,
    /// Modes, in file order. The file numbers them from 1.
    pub modes: Vec<Mode>,
    /// Numbers of the successors, from 1.
    pub successors: Vec<u64>,
}

impl Activity {
    /// Returns the line of the first mode. If there are no modes, returns the line of the activity.
    fn modes_line(&self) -> usize {
        self.modes.first().map_or(self.line, |mode| mode.line)
    }
}

#[derive(Default)]
pub(super) struct Project {
    pub stocks: Vec<ResourceAmount>,
    pub activities: Vec<Activity>,
    /// Release date in periods.
    pub release: u64,
    /// Due date in periods.
    pub due: Option<u64>,
    /// Time lags: the position of the first activity, the position of the second activity, and the least time from start to
    /// start. If there are lags, all activities have a duration.
    pub lags: Vec<(u32, usize, Time)>,
    pub remarks: Vec<String>,
}

/// Omitted activities and modes, for remarks.
#[derive(Default)]
struct LeftOut {
    /// Names of omitted activities that have predecessors and successors. The activities without duration at the begin
    /// and at the end of a project have no effect, so they have no remark.
    between: Vec<String>,
    /// For each mode that was omitted because it needs too much of a resource: the name of its activity.
    modes: Vec<String>,
}

impl Project {
    /// Returns the instance, and remarks for the user.
    pub(super) fn instance(self, name: &str) -> Result<(Instance, Vec<String>), FileProblem> {
        let whole = self.whole()?;
        let mut left_out = LeftOut::default();
        let mut tasks: Vec<Option<NamedTask>> = Vec::with_capacity(self.activities.len());
        let mut least = vec![0_u128; self.stocks.len()];
        for activity in &self.activities {
            tasks.push(if takes_time(activity)? {
                let modes = self.feasible(activity, &mut left_out)?;
                for (at, least) in least.iter_mut().enumerate() {
                    *least += modes.iter().map(|mode| u128::from(mode.needs[at])).min().unwrap_or(0);
                }
                Some(self.task(activity, &modes)?)
            } else {
                self.check_timeless(activity)?;
                None
            });
        }
        self.check_consumption(&least)?;
        let graph = self.with_lags(joined(&whole, &tasks, &mut left_out)?)?;
        let platform = self.platform(&graph)?;
        let remarks = self.remarks.iter().cloned().chain(left_out.remarks()).chain(said(&platform)).collect();
        let mut job = Job::compound(name, graph).with_release(periods(self.release).map_err(FileProblem::from)?);
        job.deadline = self.due.map(periods).transpose().map_err(FileProblem::from)?;
        let instance =
            Instance::new(platform, vec![job], Vec::new()).map_err(|error| FileProblem::from(error.to_string()))?;
        Ok((instance, remarks))
    }

    /// Adds the time lags to the tasks.
    fn with_lags(&self, graph: Graph) -> Result<Graph, FileProblem> {
        if self.lags.is_empty() {
            return Ok(graph);
        }
        let mut tasks = graph.tasks().to_vec();
        for &(from, to, least) in &self.lags {
            tasks[to].task.lags.push(Lag { from, least });
        }
        Graph::new(tasks, graph.edges().to_vec()).map_err(|error| FileProblem::from(error.to_string()))
    }

    /// Returns the graph of all activities, including activities without duration. Checks the successors. Each
    /// activity takes one tick in this graph.
    fn whole(&self) -> Result<Graph, FileProblem> {
        let count = self.activities.len();
        let mut edges = Vec::new();
        for (from, activity) in (0..).zip(&self.activities) {
            let mut known = FxHashSet::default();
            for &successor in &activity.successors {
                if !known.insert(successor) {
                    let problem =
                        format!("activity `{}` has the successor {successor} twice; write it once", activity.name);
                    return Err(FileProblem::at(activity.line, problem));
                }
                let to = u32::try_from(successor).ok().filter(|&to| to >= 1 && to as usize <= count);
                let Some(to) = to else {
                    let problem = format!(
                        "activity `{}` has the successor {successor}, which does not exist; activities are numbered from 1 \
                         to {count}",
                        activity.name
                    );
                    return Err(FileProblem::at(activity.line, problem));
                };
                if to - 1 == from {
                    let problem = format!(
                        "activity `{}` is its own successor; remove it from its list of successors",
                        activity.name
                    );
                    return Err(FileProblem::at(activity.line, problem));
                }
                edges.push(Edge { from, to: to - 1, payload: Payload::Bytes(0) });
            }
        }
        let tick = Profile::rigid(1, Time::TICK).map_err(|error| error.to_string())?;
        let tasks = self.activities.iter().map(|activity| NamedTask::new(activity.name.as_str(), tick.clone()));
        Graph::new(tasks.collect(), edges).map_err(|error| FileProblem::from(error.to_string()))
    }

    /// Returns the feasible modes of an activity. A mode is feasible if its need for each resource is at most the
    /// total amount.
    fn feasible<'a>(&self, activity: &'a Activity, left_out: &mut LeftOut) -> Result<Vec<&'a Mode>, FileProblem> {
        let fits = |mode: &&Mode| mode.needs.iter().zip(&self.stocks).all(|(&need, stock)| need <= stock.amount);
        let mut modes: Vec<&Mode> = activity.modes.iter().filter(fits).collect();
        let without = activity.modes.len() - modes.len();
        left_out.modes.extend(std::iter::repeat_n(activity.name.clone(), without));
        if modes.is_empty() {
            return Err(FileProblem::at(activity.modes_line(), self.infeasible(activity)));
        }
        // Allotments must be in ascending order of processors. More processors must be faster, so the slowest mode is
        // first.
        modes.sort_by_key(|mode| std::cmp::Reverse(mode.duration));
        Ok(modes)
    }

    fn infeasible(&self, activity: &Activity) -> String {
        let Activity { name, modes, .. } = activity;
        let short = |mode: &Mode| {
            let pair = mode.needs.iter().zip(&self.stocks).find(|(need, stock)| **need > stock.amount);
            pair.map(|(need, stock)| format!("needs {need} of `{}`, but the project has {}", stock.name, stock.amount))
        };
        let first = modes.first().and_then(short).unwrap_or_default();
        match modes.len() {
            0 => format!("activity `{name}` has no mode; add a mode"),
            1 => format!("activity `{name}` {first}; raise this amount, or lower the need"),
            count => format!(
                "none of the {count} modes of activity `{name}` is feasible: the first {first}; raise this amount, or add a mode"
            ),
        }
    }

    /// Returns the task for an activity with these modes.
    fn task(&self, activity: &Activity, modes: &[&Mode]) -> Result<NamedTask, FileProblem> {
        let wrong = |problem: String| {
            FileProblem::at(activity.modes_line(), format!("activity `{}`: {problem}", activity.name))
        };
        let times = modes.iter().map(|mode| periods(mode.duration)).collect::<Result<Vec<Time>, String>>();
        let profile = Profile::table(times.map_err(wrong)?).map_err(|error| wrong(error.to_string()))?;
        let need = |(at, stock): (usize, &ResourceAmount)| {
            let amounts: Vec<u64> = modes.iter().map(|mode| mode.needs[at]).collect();
            let first = amounts[0];
            let need = match amounts.iter().all(|&amount| amount == first) {
                true if first == 0 => return None,
                true => Need::whole(first),
                false => Need::ByAllotment(amounts.into()),
            };
            Some((stock.name.clone(), need))
        };
        let needs =
            Needs::new(self.stocks.iter().enumerate().filter_map(need)).map_err(|error| wrong(error.to_string()))?;
        let mut task = NamedTask::new(activity.name.as_str(), profile);
        task.task.needs = needs;
        Ok(task)
    }

    /// Returns an error if an activity without duration uses up a resource. The instance omits such an activity, so
    /// the use of the resource would be lost.
    fn check_timeless(&self, activity: &Activity) -> Result<(), FileProblem> {
        for (at, stock) in self.stocks.iter().enumerate().filter(|(_, stock)| !stock.renewable) {
            let least = activity.modes.iter().map(|mode| mode.needs[at]).min().unwrap_or(0);
            if least > 0 {
                let (name, stock) = (&activity.name, &stock.name);
                let problem = format!(
                    "activity `{name}` takes no time but uses up {least} of `{stock}`; give the activity a duration"
                );
                return Err(FileProblem::at(activity.modes_line(), problem));
            }
        }
        Ok(())
    }

    fn check_consumption(&self, least: &[u128]) -> Result<(), FileProblem> {
        let short = |(stock, least): &(&ResourceAmount, &u128)| !stock.renewable && **least > u128::from(stock.amount);
        match self.stocks.iter().zip(least).find(short) {
            None => Ok(()),
            Some((ResourceAmount { name, amount, .. }, least)) => Err(FileProblem::from(format!(
                "the activities use up at least {least} of `{name}` in all, even if each is in its mode with the \
                 least use, but the project has only {amount}; raise this amount"
            ))),
        }
    }

    /// Returns a platform with one node. The node has enough processors to run all activities at once in their widest
    /// modes.
    fn platform(&self, graph: &Graph) -> Result<Platform, FileProblem> {
        let widest = |task: &NamedTask| u64::from(task.task.profile.max_processors());
        let processors: u64 = graph.tasks().iter().map(widest).sum();
        let processors = u32::try_from(processors).unwrap_or(u32::MAX);
        let amounts = |renewable: bool| {
            let stocks = self.stocks.iter().filter(|stock| stock.renewable == renewable);
            Resources::new(stocks.map(|stock| (stock.name.as_str(), stock.amount))).map_err(|error| error.to_string())
        };
        let (licences, consumables) = (amounts(true)?, amounts(false)?);
        let platform = Platform::flat(processors).and_then(|platform| platform.with_licences(licences));
        let platform = platform.and_then(|platform| platform.with_consumables(consumables));
        platform.map_err(|error| FileProblem::from(error.to_string()))
    }
}

/// Returns whether an activity has a duration.
fn takes_time(activity: &Activity) -> Result<bool, FileProblem> {
    let timeless = activity.modes.iter().filter(|mode| mode.duration == 0).count();
    if timeless > 0 && timeless < activity.modes.len() {
        let problem = format!(
            "activity `{}` has a duration of 0 in some modes, but not in others; give all its modes a duration above \
             0, or all a duration of 0",
            activity.name
        );
        return Err(FileProblem::at(activity.modes_line(), problem));
    }
    Ok(timeless == 0)
}

/// Returns the graph of the activities with a duration. If an activity is omitted, its successors wait for its
/// predecessors instead.
fn joined(whole: &Graph, tasks: &[Option<NamedTask>], left_out: &mut LeftOut) -> Result<Graph, FileProblem> {
    let before = milestones::joined(whole, |at| tasks[at as usize].is_none()).map_err(FileProblem::from)?;
    let (mut waits, mut awaited) = (vec![false; whole.len()], vec![false; whole.len()]);
    for edge in whole.edges() {
        waits[edge.to as usize] = true;
        awaited[edge.from as usize] = true;
    }
    let between = (0..whole.len()).filter(|&at| tasks[at].is_none() && waits[at] && awaited[at]);
    left_out.between.extend(between.map(|at| whole.name(at as u32).to_owned()));
    let mut numbers = vec![0_u32; tasks.len()];
    let mut kept = Vec::with_capacity(tasks.len());
    let mut edges = Vec::new();
    for (at, task) in tasks.iter().enumerate().filter_map(|(at, task)| Some((at, task.as_ref()?))) {
        numbers[at] = kept.len() as u32;
        kept.push(task.clone());
    }
    for at in (0..tasks.len()).filter(|&at| tasks[at].is_some()) {
        let edge = |&from: &u32| Edge { from: numbers[from as usize], to: numbers[at], payload: Payload::Bytes(0) };
        edges.extend(before[at].iter().map(edge));
    }
    if kept.is_empty() {
        return Err(FileProblem {
            place: FilePlace::default(),
            problem: "no activity takes any time; give at least one activity a duration".into(),
        });
    }
    Graph::new(kept, edges).map_err(|error| FileProblem::from(error.to_string()))
}

/// Converts periods to seconds.
fn periods(count: u64) -> Result<Time, String> {
    Time::parse(&count.to_string()).map_err(|error| error.to_string())
}

/// Returns a remark that states the assumptions of the conversion.
fn said(platform: &Platform) -> impl Iterator<Item = String> {
    let processors = platform.processors();
    std::iter::once(format!(
        "each period is planned as 1 second, on a platform of {}: enough for all activities at once, so only the \
         resources of the file limit the plan",
        counted(processors, "processor")
    ))
}

impl LeftOut {
    fn remarks(self) -> impl Iterator<Item = String> {
        let Self { between, modes } = self;
        let first = between.first().cloned();
        let between = first.map(|first| {
            format!(
                "activities without duration are not planned: {} (such as `{first}`); their successors wait for their \
                 predecessors instead",
                between.len()
            )
        });
        let first = modes.first().cloned();
        let modes = first.map(|first| {
            format!(
                "{} modes (such as one of activity `{first}`) need more of a resource than there is in total; these \
                 modes are ignored",
                modes.len()
            )
        });
        between.into_iter().chain(modes)
    }
}
