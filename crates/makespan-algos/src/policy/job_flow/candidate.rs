//! One job to be planned, and its strategy.

use makespan_core::{Instance, JobId, View};

use super::book::Book;
use super::rules::{Clock, JobFlowRules};
use crate::kernel::chains::frame::Frame;
use crate::kernel::chains::outline::Outline;
use crate::kernel::chains::strategy::{Offer, heft, pareto};
use crate::kernel::chains::walltime::{makespan_alone, walltime};
use crate::kernel::graph::Problem;
use crate::kernel::graph::calendar::Calendar;
use crate::policy::wholes::whole_job;

/// Ends from that of HEFT to the deadline under which variants are sought, less one.
const SHARES: i64 = 2;

/// A whole job as an instance of its own, released now.
pub(super) struct Alone {
    pub whole: usize,
    first: JobId,
    released: i64,
    instance: Instance,
    problem: Problem,
}

/// A job to be planned.
pub(super) struct Candidate<'a> {
    /// Which whole job.
    pub whole: usize,
    /// The first of its tasks.
    pub first: JobId,
    /// When it was released, in ticks.
    pub released: i64,
    /// When its walltime is over, in ticks.
    pub deadline: i64,
    /// How long HEFT takes for it on idle processors.
    pub alone: i64,
    /// No plan is shorter: its longest path, each task at its fastest, without transfers.
    pub shortest: i64,
    /// What it takes of a processor of mean speed.
    pub work: f64,
    /// Whether it was planned in time before.
    pub promised: bool,
    /// Its plan so far.
    pub before: Option<Choice>,
    outline: Outline<'a>,
}

/// The plan of a job.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Its strategy: what ends in time, by finish.
    pub variants: Vec<Offer>,
    /// Which one is taken; HEFT's places without it.
    pub chosen: Option<usize>,
    /// What is taken.
    pub offer: Offer,
    /// Until when each task holds its processor.
    pub until: Vec<i64>,
    /// Whether it ends in time.
    pub in_time: bool,
    /// Whether the job is given up: it holds nothing.
    pub given_up: bool,
}

impl Alone {
    /// The jobs of these numbers.
    pub fn all(wholes: &[usize], rules: &JobFlowRules, view: &View<'_>) -> Vec<Self> {
        let alone = |&whole: &usize| {
            let (first, job) = whole_job(view.instance, whole);
            let release = job.release;
            let instance = view.instance.with_jobs(vec![job.with_release(release.max(view.now))]);
            let problem = rules.method.problem(&instance);
            Self { whole, first, released: release.ticks(), instance, problem }
        };
        wholes.iter().map(alone).collect()
    }
}

impl<'a> Candidate<'a> {
    /// The job with what is known of it.
    pub fn new(alone: &'a Alone, rules: &JobFlowRules, book: &Book) -> Self {
        let Alone { whole, first, released, ref instance, ref problem } = *alone;
        let outline = Outline::new(instance, problem, (0, 0), &rules.method);
        let now = outline.real.release();
        let makespan = makespan_alone(&outline.real);
        let start = match rules.clock {
            Clock::Arrival => released,
            Clock::Handover => now,
        };
        let entry = book.get(whole);
        let deadline = entry.map_or_else(
            || start.saturating_add(walltime(&instance.jobs()[0], || makespan, rules.method.walltime)),
            |entry| entry.deadline,
        );
        Self {
            whole,
            first,
            released,
            deadline,
            alone: makespan,
            shortest: longest_path(&outline.real),
            work: crate::kernel::graph::rank::mean_times(problem).iter().sum(),
            promised: entry.is_some_and(|entry| entry.in_time),
            before: entry.and_then(|entry| entry.choice.clone()),
            outline,
        }
    }

    /// The job on processors.
    pub fn real(&self) -> &Frame<'a> {
        &self.outline.real
    }

    /// Whether no places whatever are in time.
    pub fn is_hopeless(&self) -> bool {
        self.real().release() + self.shortest > self.deadline
    }

    /// The variants that end in time on processors that are free as `calendars` say, by finish: under the deadline, and
    /// under shares of the time between HEFT's end and it.
    pub fn variants(&self, calendars: &[Calendar]) -> Vec<Offer> {
        if self.is_hopeless() {
            return Vec::new();
        }
        let first = heft(self.real(), calendars);
        let shares = if self.deadline > first.finish() { 0..=SHARES } else { SHARES..=SHARES };
        let strategy = |share| self.outline.strategy(calendars, &first, self.deadline, (share, SHARES));
        let mut offers: Vec<Offer> = shares.flat_map(strategy).collect();
        offers.retain(|offer| offer.finish <= self.deadline);
        pareto(offers)
    }

    /// HEFT's places.
    pub fn fallback(&self, calendars: &[Calendar]) -> Offer {
        Offer::plain(&heft(self.real(), calendars))
    }

    /// One of these variants is taken.
    pub fn taken(&self, variants: Vec<Offer>, chosen: usize) -> Choice {
        let offer = variants[chosen].clone();
        let in_time = offer.finish <= self.deadline;
        let until = offer.held_until(self.real());
        Choice { variants, chosen: Some(chosen), offer, until, in_time, given_up: false }
    }

    /// No variant is in time: HEFT's places, unless they are late and `reject` says that the job is given up then.
    pub fn late(&self, offer: Offer, reject: bool) -> Choice {
        let in_time = offer.finish <= self.deadline;
        let until = offer.held_until(self.real());
        Choice { variants: Vec::new(), chosen: None, offer, until, in_time, given_up: reject && !in_time }
    }

    /// Whether its plan so far can be kept on these calendars.
    pub fn kept(&self, calendars: &[Calendar]) -> Option<&Choice> {
        self.before.as_ref().filter(|choice| choice.fits(calendars, self.real().release()))
    }
}

impl Choice {
    /// Whether a variant of a strategy, with its tasks held until these instants, still fits from `now` on.
    pub fn fits(&self, calendars: &[Calendar], now: i64) -> bool {
        fits(&self.offer, &self.until, calendars, now)
    }

    /// Makes processors busy for it.
    pub fn occupy(&self, calendars: &mut [Calendar]) {
        if !self.given_up {
            for (place, &until) in self.offer.places.iter().zip(&self.until) {
                calendars[place.processor as usize].occupy(place.start, until);
            }
        }
    }

    /// Makes its processors free again.
    pub fn vacate(&self, calendars: &mut [Calendar]) {
        if !self.given_up {
            for (place, &until) in self.offer.places.iter().zip(&self.until) {
                calendars[place.processor as usize].vacate(place.start, until);
            }
        }
    }
}

/// The longest path through a job, each task at its fastest and all data at hand.
fn longest_path(frame: &Frame) -> i64 {
    let mut ends = vec![0; frame.tasks()];
    for &task in &frame.chart.order {
        let ready = frame.incoming(task).map(|from| ends[from.task as usize]).max().unwrap_or(0);
        ends[task as usize] = ready + frame.chart.times[task as usize];
    }
    ends.into_iter().max().unwrap_or(0)
}

/// Whether the places of an offer are free, and none is in the past.
pub(super) fn fits(offer: &Offer, until: &[i64], calendars: &[Calendar], now: i64) -> bool {
    offer.places.iter().zip(until).all(|(place, &until)| {
        let free = calendars[place.processor as usize].earliest_fit(place.start, until - place.start);
        place.start >= now && free == place.start
    })
}
