//! The time of a task as a function of its allotment.

mod error;
mod law;
mod machines;
mod power;
mod speedup;
mod table;

use std::sync::Arc;

pub use error::ProfileError;
use law::Law;
use machines::Machines;
pub use speedup::SpeedupLaw;
use table::Table;

use crate::model::{Area, Time};

/// The time of a task on each number of processors that it accepts.
///
/// An allotment is *dominated* when fewer processors are at least as fast; schedulers never choose one
/// ([`Profile::allotments`] leaves them out), which makes times strictly decreasing whatever was measured.
///
/// A task with a time of its own on each machine ([`Profile::on_machines`]) is sequential; what is asked of its one
/// allotment is answered for the machine on which it is fastest. How long a job takes on given processors, and whether
/// it can run there, only the instance knows: [`crate::Instance::time`], [`crate::Instance::time_on`].
#[derive(Clone, Debug, PartialEq)]
pub struct Profile(Shape);

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Rigid { processors: u32, time: Time },
    Table(Arc<Table>),
    Law(Arc<Law>),
    Machines(Arc<Machines>),
}

impl Profile {
    /// A task that runs on exactly `processors`.
    ///
    /// # Errors
    /// [`ProfileError`] when either figure is not positive.
    pub fn rigid(processors: u32, time: Time) -> Result<Self, ProfileError> {
        if processors == 0 {
            return Err(ProfileError::Range { min: 0, max: 0 });
        }
        positive(processors, time)?;
        Ok(Self(Shape::Rigid { processors, time }))
    }

    /// A task with measured times on 1, 2, 3 .. processors.
    ///
    /// # Errors
    /// [`ProfileError`] when there is none or one is not positive.
    pub fn table(times: Vec<Time>) -> Result<Self, ProfileError> {
        for (index, &time) in times.iter().enumerate() {
            positive(index as u32 + 1, time)?;
        }
        match times.as_slice() {
            [] => Err(ProfileError::Empty),
            &[time] => Self::rigid(1, time),
            _ => Ok(Self(Shape::Table(Arc::new(Table::new(times, 1))))),
        }
    }

    /// A task of `sequential` time on one processor whose time falls by `law`, on `min ..= max` processors. Times are
    /// the law's, rounded up to a tick, and differ from it by less than two ticks and one part in 2^50: the parameters become
    /// fixed-point numbers, with which the arithmetic is exact. More processors never take longer.
    ///
    /// # Errors
    /// [`ProfileError`] when the time is not positive, the range is empty or a parameter is out of range.
    pub fn law(sequential: Time, law: SpeedupLaw, min: u32, max: u32) -> Result<Self, ProfileError> {
        positive(1, sequential)?;
        Law::new(sequential, law, min, max).map(|law| Self(Shape::Law(Arc::new(law))))
    }

    /// A sequential task with a time of its own on one processor of each node of the platform, in the order of the
    /// nodes; [`Profile::CANNOT_RUN`] where it cannot run. Speeds of nodes do not change these times.
    ///
    /// # Errors
    /// [`ProfileError`] when a time is not positive, or no machine can run the task.
    pub fn on_machines(row: impl Into<Arc<[Time]>>) -> Result<Self, ProfileError> {
        Machines::new(row.into()).map(|machines| Self(Shape::Machines(Arc::new(machines))))
    }

    /// In [`Profile::on_machines`] the time on a machine that cannot run the task: longer than any schedule.
    pub const CANNOT_RUN: Time = Machines::CANNOT;

    /// The times on one processor of each node, for a task that has a time of its own on each machine;
    /// [`Profile::CANNOT_RUN`] where it cannot run.
    pub fn machine_times(&self) -> Option<&[Time]> {
        match &self.0 {
            Shape::Machines(machines) => Some(&machines.row),
            _ => None,
        }
    }

    /// Whether the task takes exactly one processor.
    pub fn is_sequential(&self) -> bool {
        self.max_processors() == 1
    }

    /// Fewest processors that the task accepts.
    pub fn min_processors(&self) -> u32 {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors,
            Shape::Table(table) => table.min,
            Shape::Law(law) => law.min,
            Shape::Machines(_) => 1,
        }
    }

    /// Most processors that the task accepts.
    pub fn max_processors(&self) -> u32 {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors,
            Shape::Table(table) => table.times.len() as u32,
            Shape::Law(law) => law.max,
            Shape::Machines(_) => 1,
        }
    }

    /// Whether the task accepts this allotment.
    pub fn accepts(&self, processors: u32) -> bool {
        (self.min_processors()..=self.max_processors()).contains(&processors)
    }

    /// The time on `processors`; that of the fastest machine where machines have their own.
    ///
    /// # Panics
    /// When the task does not accept this allotment.
    pub fn time(&self, processors: u32) -> Time {
        assert!(self.accepts(processors), "a task is timed only on an allotment that it accepts");
        match &self.0 {
            Shape::Rigid { time, .. } => *time,
            Shape::Table(table) => table.times[processors as usize - 1],
            Shape::Law(law) => law.time(processors),
            Shape::Machines(machines) => machines.shortest,
        }
    }

    /// Processors times time.
    ///
    /// # Panics
    /// When the task does not accept this allotment.
    pub fn work(&self, processors: u32) -> Area {
        self.time(processors).area(processors)
    }

    /// The fewest processors on which the task takes at most `deadline`: the canonical allotment of Mounié, Rapine
    /// and Trystram. O(log processors).
    pub fn min_allotment(&self, deadline: Time) -> Option<u32> {
        match &self.0 {
            Shape::Rigid { processors, time } => (*time <= deadline).then_some(*processors),
            Shape::Table(table) => table.index(deadline).map(|index| table.allotment(index)),
            Shape::Law(law) => law.min_allotment(deadline),
            Shape::Machines(machines) => (machines.shortest <= deadline).then_some(1),
        }
    }

    /// An allotment of least work among those that take at most `deadline`. For a law this is
    /// [`Profile::min_allotment`], since work never falls there but by the rounding of a tick.
    pub fn thriftiest(&self, deadline: Time) -> Option<u32> {
        match &self.0 {
            Shape::Table(table) => table.index(deadline).map(|index| match &table.least {
                Some(least) => least[index],
                None => table.allotment(index),
            }),
            _ => self.min_allotment(deadline),
        }
    }

    /// No allotment that takes at most `deadline` has less work than this; exact for tables, and for laws the work
    /// before times are rounded up to a tick.
    pub fn least_work(&self, deadline: Time) -> Option<Area> {
        let processors = self.thriftiest(deadline)?;
        match &self.0 {
            Shape::Law(law) => Some(law.least_work(processors)),
            _ => Some(self.work(processors)),
        }
    }

    /// The most work over all allotments that are not dominated; for a law no less than that.
    pub fn most_work(&self) -> Area {
        match &self.0 {
            Shape::Rigid { processors, .. } => self.work(*processors),
            Shape::Table(table) => {
                let work = |index| table.time(index).area(table.allotment(index));
                (0..table.useful()).map(work).max().unwrap_or(0)
            }
            Shape::Law(law) => law.most_work(),
            Shape::Machines(machines) => machines.longest.area(1),
        }
    }

    /// The fewest processors that reach the shortest time.
    pub fn fastest(&self) -> u32 {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors,
            Shape::Table(table) => table.allotment(table.useful() - 1),
            Shape::Law(law) => law.min_allotment(law.time(law.max)).unwrap_or(law.max),
            Shape::Machines(_) => 1,
        }
    }

    /// The shortest time over all allotments.
    pub fn shortest(&self) -> Time {
        match &self.0 {
            Shape::Rigid { time, .. } => *time,
            Shape::Table(table) => table.time(table.useful() - 1),
            Shape::Law(law) => law.time(law.max),
            Shape::Machines(machines) => machines.shortest,
        }
    }

    /// The longest time over all allotments that are not dominated: that of the fewest processors, on the slowest
    /// machine that can run the task where machines have their own.
    pub fn longest(&self) -> Time {
        match &self.0 {
            Shape::Machines(machines) => machines.longest,
            _ => self.time(self.min_processors()),
        }
    }

    /// The longest time over all allotments, dominated ones too.
    pub fn slowest(&self) -> Time {
        let longest = self.longest();
        match &self.0 {
            Shape::Table(table) => table.times[table.min as usize - 1..].iter().copied().max().unwrap_or(longest),
            _ => longest,
        }
    }

    /// The allotments that are not dominated, ascending: their times strictly decrease. Enumerates a law's whole
    /// range, so it is for small instances and for output.
    pub fn allotments(&self) -> impl Iterator<Item = u32> + '_ {
        let mut best = Time::MAX;
        (self.min_processors()..=self.max_processors()).filter(move |&processors| {
            let time = self.time(processors);
            let useful = time < best;
            best = best.min(time);
            useful
        })
    }

    /// How many measured allotments are dominated.
    pub fn dominated(&self) -> usize {
        match &self.0 {
            Shape::Table(table) => table.times.len() + 1 - table.min as usize - table.useful(),
            _ => 0,
        }
    }

    /// Whether the task accepts one processor and work never falls as processors are added, the assumption of the
    /// 3/2 dual approximation: `k t(k) >= (k - 1) t(k')` where `k'` is the next smaller useful allotment. Along a law
    /// this is said of the times before they are rounded up to a tick ([`Profile::rounds_up`]).
    pub fn is_monotone(&self) -> bool {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors == 1,
            Shape::Table(table) => {
                table.min == 1
                    && (1..table.useful()).all(|index| {
                        let processors = table.allotment(index);
                        table.time(index).area(processors) >= table.time(index - 1).area(processors - 1)
                    })
            }
            Shape::Law(law) => law.min == 1 && law.is_monotone(),
            Shape::Machines(_) => true,
        }
    }

    /// Whether times on several processors are those of a law, rounded up to a tick.
    pub fn rounds_up(&self) -> bool {
        matches!(&self.0, Shape::Law(law) if law.max > 1)
    }

    /// Whether the task runs on one number of processors only.
    pub fn is_rigid(&self) -> bool {
        self.min_processors() == self.max_processors()
    }

    /// The law behind the times and its sequential time, for a task that has one.
    pub fn speedup(&self) -> Option<(Time, SpeedupLaw)> {
        match &self.0 {
            Shape::Law(law) => Some((law.sequential, law.speedup)),
            _ => None,
        }
    }

    /// The measured times on 1, 2, 3 .. processors, for a task that has a table.
    pub fn times(&self) -> Option<&[Time]> {
        match &self.0 {
            Shape::Table(table) => Some(&table.times),
            _ => None,
        }
    }

    /// This profile on at most `processors`; `None` when the task needs more.
    pub fn at_most(self, processors: u32) -> Option<Self> {
        if self.max_processors() <= processors {
            return Some(self);
        }
        if self.min_processors() > processors {
            return None;
        }
        Some(Self(match self.0 {
            // The same shape as a table of one time has from the start.
            Shape::Table(table) if processors == 1 => Shape::Rigid { processors, time: table.times[0] },
            Shape::Table(table) => {
                Shape::Table(Arc::new(Table::new(table.times[..processors as usize].to_vec(), table.min)))
            }
            Shape::Law(law) => Shape::Law(Arc::new(Law { max: processors, ..*law })),
            shape @ (Shape::Rigid { .. } | Shape::Machines(_)) => shape,
        }))
    }

    /// This profile on at least `processors`; `None` when the task accepts only fewer.
    pub fn at_least(self, processors: u32) -> Option<Self> {
        if self.min_processors() >= processors {
            return Some(self);
        }
        if self.max_processors() < processors {
            return None;
        }
        Some(Self(match self.0 {
            Shape::Table(table) => Shape::Table(Arc::new(Table::new(table.times.clone(), processors))),
            Shape::Law(law) => Shape::Law(Arc::new(Law { min: processors, ..*law })),
            shape @ (Shape::Rigid { .. } | Shape::Machines(_)) => shape,
        }))
    }

    /// The same profile where the longest time is this, a positive one, and all others are in proportion, rounded up to a tick.
    /// Saturates at half the range of [`Time`], less a tick.
    ///
    /// ```
    /// use makespan_core::{Profile, Time};
    ///
    /// let profile = Profile::table([60, 40].map(Time::from_seconds).to_vec())?.lasting(Time::from_seconds(3));
    /// assert_eq!((profile.time(1), profile.time(2)), (Time::from_seconds(3), Time::from_seconds(2)));
    /// # Ok::<(), makespan_core::ProfileError>(())
    /// ```
    #[must_use]
    pub fn lasting(self, longest: Time) -> Self {
        let before = i128::from(self.longest().ticks());
        let scaled = |time: Time| {
            let ticks = i128::from(time.ticks()) * i128::from(longest.ticks().max(1));
            let most = i128::from(Self::CANNOT_RUN.ticks() - 1);
            Time::from_ticks((ticks + before - 1).div_euclid(before).min(most) as i64)
        };
        Self(match self.0 {
            Shape::Rigid { processors, time } => Shape::Rigid { processors, time: scaled(time) },
            Shape::Table(table) => {
                Shape::Table(Arc::new(Table::new(table.times.iter().copied().map(scaled).collect(), table.min)))
            }
            Shape::Law(law) => Shape::Law(Arc::new(Law { sequential: scaled(law.sequential), ..*law })),
            Shape::Machines(ref machines) => {
                let kept = |&time: &Time| if time == Self::CANNOT_RUN { time } else { scaled(time) };
                let row: Arc<[Time]> = machines.row.iter().map(kept).collect();
                Machines::new(row).map_or(self.0, |machines| Shape::Machines(Arc::new(machines)))
            }
        })
    }

    /// This profile without the allotments, or machines, that take longer than `limit`; `None` when every one does.
    pub fn within(self, limit: Time) -> Option<Self> {
        if let Shape::Machines(machines) = &self.0 {
            if machines.longest <= limit {
                return Some(self);
            }
            return machines.within(limit).map(|machines| Self(Shape::Machines(Arc::new(machines))));
        }
        let fewest = self.min_allotment(limit)?;
        self.at_least(fewest)
    }
}

/// The first number from `low` to `high` that fits, where `high` does and all after the first do: in doubling steps from
/// `near`, then by bisection.
fn first_fitting(mut low: u32, mut high: u32, near: u32, fits: impl Fn(u32) -> bool) -> u32 {
    let mut step = 1;
    if fits(near) {
        high = near;
        while low < high {
            let probe = high.saturating_sub(step).max(low);
            if !fits(probe) {
                low = probe + 1;
                break;
            }
            high = probe;
            step *= 2;
        }
    } else {
        low = near + 1;
        while low < high {
            let probe = low.saturating_add(step - 1).min(high);
            if fits(probe) {
                high = probe;
                break;
            }
            low = probe + 1;
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if fits(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

fn positive(processors: u32, time: Time) -> Result<(), ProfileError> {
    if time > Time::ZERO { Ok(()) } else { Err(ProfileError::NotPositive { processors, time }) }
}

#[cfg(test)]
mod tests;
