//! A list of 60 commands on a machine with 2 GiB of memory, in steps of simulated time.
//!
//! A command uses a tenth of its peak at its start, and its peak after half of its run time. If all commands together
//! use more memory than the machine has, the kernel kills the command with the largest use. The command then runs
//! again, and `run` reserves twice the larger of its reservation and its use. Commands start by decreasing run time,
//! if a core is free and their reservation fits.

use makespan_history::memory::{ExcessRule, MemoryBasis, MemoryModel, MemoryRun};

use crate::random::Random;
use crate::tasks::GIB;

const COMMANDS: usize = 60;
const CORES: usize = 4;
const MEMORY: f64 = 2.0 * GIB;
/// Length of a step in seconds.
const STEP: f64 = 0.25;
/// Number of templates, and number of earlier commands of each template.
const TEMPLATES: usize = 6;
const EARLIER: usize = 10;

/// Where the reservations come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Nothing is reserved.
    Nothing,
    /// No command has a history: each gets an equal share of the memory for its core.
    Guess,
    /// Commands with the same templates ran before.
    LikeCommands,
    /// The same list ran before.
    SameCommands,
}

impl Known {
    pub const ALL: [Self; 4] = [Self::Nothing, Self::Guess, Self::LikeCommands, Self::SameCommands];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing reserved",
            Self::Guess => "no history (guesses)",
            Self::LikeCommands => "like commands ran before",
            Self::SameCommands => "the same list ran before",
        }
    }
}

/// The outcome of a simulated run.
pub struct MachineRun {
    pub makespan: f64,
    pub kills: usize,
}

struct Command {
    seconds: f64,
    peak: f64,
    reserved: f64,
}

impl Command {
    /// Returns the memory in bytes that the command uses after this time.
    fn used(&self, elapsed: f64) -> f64 {
        self.peak * (0.1 + 0.9 * (2.0 * elapsed / self.seconds).min(1.0))
    }
}

/// Returns the commands of a list, with their reservations. `typical` is the median peak in bytes.
fn commands(seed: u64, typical: f64, known: Known) -> Vec<Command> {
    let mut random = Random::new(seed);
    let peaks: Vec<f64> = (0..TEMPLATES).map(|_| random.log_normal(typical, 0.8)).collect();
    let peak =
        |template: usize, random: &mut Random| random.log_normal(peaks[template], 0.2).clamp(0.02 * GIB, 1.5 * GIB);
    let run = |peak: f64| MemoryRun { peak: peak as u64, inputs: None, is_killed: false };
    let mut models = Vec::new();
    for template in 0..TEMPLATES {
        let runs: Vec<MemoryRun> = (0..EARLIER).map(|_| run(peak(template, &mut random))).collect();
        models.push(MemoryModel::of(&runs, MemoryBasis::LikeCommands, ExcessRule::Tolerate));
    }
    let mut list = Vec::new();
    for number in 0..COMMANDS {
        let template = number % TEMPLATES;
        let (own, seconds) = (peak(template, &mut random), random.log_normal(30.0, 0.6).clamp(4.0, 120.0));
        // Two runs of one command differ by 2 %.
        let before = run(random.log_normal(own, 0.02));
        let same = MemoryModel::of(&[before], MemoryBasis::SameCommand, ExcessRule::Tolerate);
        let predicted = |model: &Option<MemoryModel>| model.as_ref().map_or(0.0, |model| model.predict(None) as f64);
        let reserved = match known {
            Known::Nothing => 0.0,
            Known::Guess => MEMORY / CORES as f64,
            Known::LikeCommands => predicted(&models[template]),
            Known::SameCommands => predicted(&same),
        };
        list.push(Command { seconds, peak: own, reserved: reserved.min(MEMORY) });
    }
    list
}

/// Simulates the list with this seed. `typical` is the median peak in bytes.
pub fn simulate(seed: u64, typical: f64, known: Known) -> MachineRun {
    let mut list = commands(seed, typical, known);
    let mut waiting: Vec<usize> = (0..list.len()).collect();
    waiting.sort_by(|&a, &b| list[b].seconds.total_cmp(&list[a].seconds).then(a.cmp(&b)));
    let mut running: Vec<(usize, f64)> = Vec::new();
    let (mut now, mut kills) = (0.0, 0);
    while !waiting.is_empty() || !running.is_empty() {
        let mut next = 0;
        while next < waiting.len() && running.len() < CORES {
            let held: f64 = running.iter().map(|&(command, _)| list[command].reserved).sum();
            if held + list[waiting[next]].reserved <= MEMORY {
                running.push((waiting.remove(next), now));
            } else {
                next += 1;
            }
        }
        now += STEP;
        running.retain(|&(command, start)| now - start < list[command].seconds);
        while let Some(victim) = victim(&list, &running, now) {
            let (command, start) = running.remove(victim);
            let used = list[command].used(now - start);
            list[command].reserved = (2.0 * list[command].reserved.max(used)).min(MEMORY);
            waiting.insert(0, command);
            kills += 1;
        }
    }
    MachineRun { makespan: now, kills }
}

/// Returns the running command that uses the most memory, if all commands together use more than the machine has.
fn victim(list: &[Command], running: &[(usize, f64)], now: f64) -> Option<usize> {
    let used: Vec<f64> = running.iter().map(|&(command, start)| list[command].used(now - start)).collect();
    let largest = || (0..used.len()).max_by(|&a, &b| used[a].total_cmp(&used[b]));
    if used.iter().sum::<f64>() > MEMORY { largest() } else { None }
}
