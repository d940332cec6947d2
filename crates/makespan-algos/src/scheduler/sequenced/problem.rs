//! Tasks, machines and setup times as plain numbers.

use makespan_core::{Dependence, Instance, ProcSet, ResourceId, ResourceKind, SetupMachine, TaskId, Unsupported};
use rustc_hash::FxHashMap;

/// Maximum number of entries of the tables of setup times: machines with times of their own, times the square of the
/// number of families.
const MAX_ENTRIES: usize = 1 << 22;
/// Maximum number of modes of all tasks.
const MAX_MODES: usize = 1 << 20;
/// Maximum number of ticks of all run times and setup times together, so that sums of times never overflow.
const MAX_TICKS: f64 = (1_u64 << 60) as f64;

/// One way to run a task.
#[derive(Clone, Debug)]
pub(super) struct Mode {
    /// The processor, or `None` for any `width` processors.
    pub(super) processor: Option<u32>,
    pub(super) width: u32,
    /// The run time in ticks.
    pub(super) time: i64,
    /// The machines that the task holds, on which setup times apply: its processor, and licences with the amount 1.
    pub(super) machines: Vec<u32>,
}

/// An instance with setup times.
#[derive(Debug)]
pub(super) struct SequencingProblem<'a> {
    pub(super) instance: &'a Instance,
    /// The modes of each task.
    pub(super) modes: Vec<Vec<Mode>>,
    /// The edges to each task.
    pub(super) before: Vec<Vec<Dependence>>,
    /// The release of each task, in ticks.
    pub(super) releases: Vec<i64>,
    /// Number of machines: the processors, then the licences with the amount 1.
    pub(super) machines: usize,
    /// True if there are enough processors to run all tasks at once, so processors never delay a task.
    pub(super) is_ample: bool,
    /// The family of each task. The number 0 means no family.
    families: Vec<u32>,
    /// Number of families, including the number 0.
    family_count: usize,
    /// The table of each machine.
    table_of: Vec<u32>,
    /// Setup times in ticks, one table after the other.
    setups: Vec<i64>,
}

impl<'a> SequencingProblem<'a> {
    /// Converts an instance.
    ///
    /// # Errors
    /// [`Unsupported`] names the property that is not supported together with setup times.
    pub(super) fn new(instance: &'a Instance) -> Result<Self, Unsupported> {
        check(instance)?;
        let platform = instance.platform();
        let on_processors = platform
            .setups()
            .iter()
            .any(|setup| setup.on.as_deref().is_none_or(|name| platform.position_of(name).is_some()));
        let modes: Vec<Vec<Mode>> = instance
            .task_ids()
            .map(|task| if on_processors { on_each(instance, task) } else { on_any(instance, task) })
            .collect::<Result<_, _>>()?;
        if modes.iter().map(Vec::len).sum::<usize>() > MAX_MODES {
            return Err(Unsupported(format!("with setup times, it supports at most {MAX_MODES} modes of all tasks")));
        }
        let widest = |modes: &Vec<Mode>| modes.iter().map(|mode| u64::from(mode.width)).max().unwrap_or(0);
        let is_ample = modes.iter().map(widest).sum::<u64>() <= u64::from(instance.processors());
        let mut problem = Self {
            instance,
            before: instance.task_ids().map(|task| instance.incoming(task).copied().collect()).collect(),
            releases: instance.task_ids().map(|task| instance.release(task).ticks()).collect(),
            machines: instance.processors() as usize + platform.resources().len(),
            is_ample: is_ample && !on_processors,
            families: Vec::new(),
            family_count: 1,
            table_of: Vec::new(),
            setups: Vec::new(),
            modes,
        };
        problem.number_families();
        problem.fill_tables()?;
        problem.check_range()?;
        Ok(problem)
    }

    fn number_families(&mut self) {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for task in self.instance.task_ids() {
            let number = self.instance.task(task).family.as_deref().map_or(0, |family| {
                let next = numbers.len() as u32 + 1;
                *numbers.entry(family).or_insert(next)
            });
            self.families.push(number);
        }
        self.family_count = numbers.len() + 1;
    }

    fn fill_tables(&mut self) -> Result<(), Unsupported> {
        let platform = self.instance.platform();
        let processors = (0..self.instance.processors()).map(|id| SetupMachine::Node(platform.node_of(id)));
        let licences = (0..platform.resources().len()).map(|id| SetupMachine::Licence(id as u16));
        let named: Vec<&str> = platform.setups().iter().filter_map(|setup| setup.on.as_deref()).collect();
        let mut names: Vec<Option<&str>> = vec![None; self.family_count];
        for (task, &family) in self.instance.task_ids().zip(&self.families) {
            names[family as usize] = self.instance.task(task).family.as_deref();
        }
        let mut known: FxHashMap<SetupMachine, u32> = FxHashMap::default();
        for machine in processors.chain(licences) {
            // Nodes without times of their own share one table.
            let machine = match machine {
                SetupMachine::Node(node) if !named.contains(&&*platform.nodes()[node].name) => SetupMachine::Processors,
                machine => machine,
            };
            let next = known.len() as u32;
            let table = *known.entry(machine).or_insert(next);
            self.table_of.push(table);
            if table < next {
                continue;
            }
            if (known.len()) * names.len() * names.len() > MAX_ENTRIES {
                return Err(Unsupported(format!(
                    "it supports at most {MAX_ENTRIES} setup times, but {} families on {} machines with times of their \
                     own have more; use fewer families",
                    names.len() - 1,
                    known.len()
                )));
            }
            for from in &names {
                self.setups.extend(names.iter().map(|to| platform.setup(machine, *from, *to).ticks()));
            }
        }
        Ok(())
    }

    fn check_range(&self) -> Result<(), Unsupported> {
        let times = self.modes.iter().map(|modes| modes.iter().map(|mode| mode.time).max().unwrap_or(0) as f64);
        let longest = self.setups.iter().max().map_or(0.0, |&most| most as f64);
        let latest = self.releases.iter().max().map_or(0.0, |&release| release as f64);
        if times.sum::<f64>() + latest + longest * self.modes.len() as f64 > MAX_TICKS {
            return Err(Unsupported("the setup times are too long; use a coarser unit of time".into()));
        }
        Ok(())
    }

    /// Returns the number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.modes.len()
    }

    /// Returns the setup time on a machine between two consecutive tasks, in ticks.
    #[inline]
    pub(super) fn setup(&self, machine: u32, from: u32, to: u32) -> i64 {
        let count = self.family_count;
        let (from, to) = (self.families[from as usize] as usize, self.families[to as usize] as usize);
        self.setups[(self.table_of[machine as usize] as usize * count + from) * count + to]
    }
}

/// Checks that the instance has no property that is not supported together with setup times.
fn check(instance: &Instance) -> Result<(), Unsupported> {
    let platform = instance.platform();
    let problem = if instance.has_bags() {
        "bags of tasks".to_owned()
    } else if instance.has_lags() {
        "time lags".to_owned()
    } else if instance.has_gangs() {
        "gangs".to_owned()
    } else if !instance.availability().is_always_open() || !instance.held().is_empty() {
        "unavailable periods".to_owned()
    } else if platform.restricts_placement() {
        "best placement (placement = compact)".to_owned()
    } else if let Some(task) = instance.task_ids().find(|&task| {
        instance
            .demands(task)
            .iter()
            .any(|demand| demand.kind != ResourceKind::Licence || platform.total(demand.resource) != 1)
    }) {
        format!("needs other than licences with the amount 1, which `{}` has", instance.name(task))
    } else {
        return Ok(());
    };
    Err(Unsupported(format!("together with setup times, it does not support {problem}")))
}

/// Returns the licences that a task holds on `width` processors, as machines.
fn licences(instance: &Instance, task: TaskId, width: u32) -> impl Iterator<Item = u32> {
    let held = instance.demands(task).iter().filter(move |demand| demand.need.total(width) > 0);
    held.map(|demand| {
        let ResourceId(id) = demand.resource;
        instance.processors() + u32::from(id)
    })
}

/// Returns one mode for each processor on which a sequential task can run.
fn on_each(instance: &Instance, task: TaskId) -> Result<Vec<Mode>, Unsupported> {
    if !instance.profile(task).is_sequential() {
        let name = instance.name(task);
        return Err(Unsupported(format!(
            "with setup times on processors, it runs every task on one processor, but `{name}` can use several; state \
             one processor, or setup times on licences"
        )));
    }
    let mode = |id: u32| {
        let time = instance.try_time(task, &ProcSet::range(id, id))?.ticks();
        let machines = std::iter::once(id).chain(licences(instance, task, 1)).collect();
        Some(Mode { processor: Some(id), width: 1, time, machines })
    };
    Ok((0..instance.processors()).filter_map(mode).collect())
}

/// Returns one mode for each number of processors on which a task can run.
fn on_any(instance: &Instance, task: TaskId) -> Result<Vec<Mode>, Unsupported> {
    if !instance.has_equal_processors() || instance.has_transfers() {
        return Err(Unsupported(
            "with setup times on licences, it needs equal processors without transfers; state setup times on nodes"
                .into(),
        ));
    }
    let profile = instance.profile(task);
    let mode = |width: u32| {
        let machines: Vec<u32> = licences(instance, task, width).collect();
        Mode { processor: None, width, time: profile.time(width).ticks(), machines }
    };
    Ok(profile.allotments().map(mode).collect())
}
