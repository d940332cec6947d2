//! Anneals one list: its order, its allotments, and the sites (sets of nodes) of its tasks.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::decoder::{DecodedList, Decoder, Scheme};
use crate::kernel::move_to;
use crate::kernel::packing::{ListEntry, NodeSet};
use crate::search::{Neighbourhood, SearchCourse, anneal, heat};

/// The initial temperature, as a fraction of the best value. The temperature is proportional to the square of the
/// remaining fraction of the search.
const HOT: f64 = 0.003;
/// Fraction of the changes that give a task another allotment.
const OF_CHOICES: f64 = 0.4;
/// Fraction of the changes that give a task another site, if there are several sites.
const OF_SITES: f64 = 0.25;
/// Probability with which another change is made before the list is evaluated, for up to `FEW` tasks. With more tasks,
/// the probability is inversely proportional to their number. Several changes are made together because each of them
/// alone may make the list worse.
const ANOTHER: f64 = 0.5;
const FEW: f64 = 10.0;

/// An annealing of a list, which changes one task at a time.
pub(super) struct Annealing {
    random: ChaCha8Rng,
    present: DecodedList,
    value: f64,
    best: (f64, DecodedList),
    /// The changes of the current step.
    changes: Vec<Undo>,
}

/// The part of a search in which a list is annealed. All fields are fractions of the search, from 0 to 1. The
/// temperature reaches zero at `cold`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoursePart {
    pub from: f64,
    pub until: f64,
    pub cold: f64,
}

/// The data that undo a change.
enum Undo {
    Choice(usize, u32),
    Site(usize, NodeSet),
    /// A move from one position to another.
    Move(usize, usize),
}

impl Annealing {
    /// Creates an annealing of a list with the value `value`.
    pub fn new(value: f64, listed: DecodedList, random: ChaCha8Rng) -> Self {
        Self { random, present: listed.clone(), value, best: (value, listed), changes: Vec::new() }
    }

    pub fn best(&self) -> &(f64, DecodedList) {
        &self.best
    }

    pub fn into_best(self) -> (f64, DecodedList) {
        self.best
    }

    /// Continues for the part `part` of the search. Returns the number of steps made.
    pub fn run(&mut self, decoder: &mut Decoder<'_, '_>, part: CoursePart, course: &mut SearchCourse) -> u64 {
        let mut running = Running { annealing: self, decoder, part, steps: 0 };
        anneal(&mut running, course);
        running.steps
    }

    /// Tries one or several changes together. `left` falls from 1 to 0 during the annealing. The temperature is
    /// proportional to the square of `left`.
    pub fn step(&mut self, decoder: &mut Decoder<'_, '_>, left: f64) {
        let another = ANOTHER * (FEW / self.present.list.len() as f64).min(1.0);
        self.changes.clear();
        loop {
            let change = self.change(decoder);
            self.changes.push(change);
            if !self.random.random_bool(another) {
                break;
            }
        }
        let allowed = self.value + heat(HOT * self.best.0 * left * left, &mut self.random);
        let value = decoder.value(&self.present, allowed);
        if value > allowed || !value.is_finite() {
            self.changes.iter().rev().for_each(|change| change.apply(&mut self.present));
            return;
        }
        self.value = value;
        if value < self.best.0 {
            self.best.0 = value;
            self.best.1.list.copy_from_slice(&self.present.list);
            self.best.1.sites.clone_from(&self.present.sites);
        }
    }

    /// Changes the allotment, the site or the position of one task.
    fn change(&mut self, decoder: &Decoder<'_, '_>) -> Undo {
        let Self { random, present: DecodedList { scheme, list, sites }, .. } = self;
        let at = random.random_range(0..list.len());
        let ListEntry { task, choice } = list[at];
        if *scheme == Scheme::Insertion && decoder.sites().count() > 1 && random.random_bool(OF_SITES) {
            if sites.is_empty() {
                sites.resize(decoder.packing.instance().tasks() as usize, NodeSet::ANY);
            }
            let old = sites[task.index()];
            let anywhere = old != NodeSet::ANY && random.random_bool(0.5);
            let number = if anywhere { 0 } else { random.random_range(0..decoder.sites().count()) };
            sites[task.index()] = decoder.sites().at(number);
            return Undo::Site(task.index(), old);
        }
        let choices = decoder.packing.choices_of(decoder.packing.row_of(task));
        if choices.len() > 1 && random.random_bool(OF_CHOICES) {
            list[at].choice = other(choice, &choices, random);
            return Undo::Choice(at, choice);
        }
        // Usually draw a small distance, and sometimes a distance of up to the length of the list.
        let far = list.len() as i64;
        let reach = if random.random_bool(0.7) { (far / 10).clamp(2, 30) } else { far };
        let to = (at as i64 + random.random_range(-reach..=reach)).clamp(0, far - 1) as usize;
        move_to(list, at, to);
        Undo::Move(at, to)
    }
}

/// Returns another allotment of the task, usually a neighbouring one.
fn other(choice: u32, choices: &std::ops::Range<u32>, random: &mut impl Rng) -> u32 {
    match random.random_range(0..4) {
        0 => random.random_range(choices.clone()),
        1 | 2 if choice + 1 < choices.end => choice + 1,
        _ if choice > choices.start => choice - 1,
        _ => choice + 1,
    }
}

impl Undo {
    fn apply(&self, listed: &mut DecodedList) {
        match *self {
            Self::Choice(at, choice) => listed.list[at].choice = choice,
            Self::Site(task, site) => listed.sites[task] = site,
            Self::Move(from, to) => move_to(&mut listed.list, to, from),
        }
    }
}

/// The annealing of a list in its part of a search.
struct Running<'r, 'p, 'a> {
    annealing: &'r mut Annealing,
    decoder: &'r mut Decoder<'p, 'a>,
    part: CoursePart,
    steps: u64,
}

impl Neighbourhood for Running<'_, '_, '_> {
    fn is_optimal(&self) -> bool {
        self.annealing.best.0 <= self.decoder.aim.floor
    }

    fn is_over(&self, done: f64) -> bool {
        done >= self.part.until
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.annealing.best.0)
    }

    fn step(&mut self, done: f64) {
        let CoursePart { from, cold, .. } = self.part;
        let left = 1.0 - (done - from) / (cold - from);
        self.annealing.step(self.decoder, left.clamp(0.0, 1.0));
        self.steps += 1;
    }
}
