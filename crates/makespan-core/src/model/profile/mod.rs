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
use table::TimeTable;

use crate::model::{Area, Time};

/// The time of a task on each number of processors that it accepts.
///
/// An allotment is *dominated* if a smaller allotment is at least as fast. Schedulers never choose a dominated
/// allotment, and [`Profile::allotments`] omits dominated allotments. So the times of the returned allotments strictly
/// decrease.
///
/// A task with a time for each machine ([`Profile::on_machines`]) is sequential. For such a task, methods that take an
/// allotment return the values of its fastest machine. Only the instance knows the time of a task on given processors,
/// and whether the task can run on them: [`crate::Instance::time`], [`crate::Instance::time_on`].
#[derive(Clone, Debug, PartialEq)]
pub struct Profile(Shape);

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Rigid { processors: u32, time: Time },
    Table(Arc<TimeTable>),
    Law(Arc<Law>),
    Machines(Arc<Machines>),
}

impl Profile {
    /// Creates the profile of a task that runs on exactly `processors` processors.
    ///
    /// # Errors
    /// [`ProfileError`] if a value is not positive.
    pub fn rigid(processors: u32, time: Time) -> Result<Self, ProfileError> {
        if processors == 0 {
            return Err(ProfileError::Range { min: 0, max: 0 });
        }
        positive(processors, time)?;
        Ok(Self(Shape::Rigid { processors, time }))
    }

    /// Creates the profile of a task from the times that were measured on 1, 2, 3, ... processors.
    ///
    /// # Errors
    /// [`ProfileError`] if there are no times or a time is not positive.
    pub fn table(times: Vec<Time>) -> Result<Self, ProfileError> {
        for (index, &time) in times.iter().enumerate() {
            positive(index as u32 + 1, time)?;
        }
        match times.as_slice() {
            [] => Err(ProfileError::Empty),
            &[time] => Self::rigid(1, time),
            _ => Ok(Self(Shape::Table(Arc::new(TimeTable::new(times, 1))))),
        }
    }

    /// Creates the profile of a task that can run on `min ..= max` processors. The time is `sequential` on one
    /// processor, and falls by `law` on several. Times are rounded up to a tick. The times differ from the law by less
    /// than two ticks and one part in 2^50, because the parameters are rounded to fixed-point numbers. The time never
    /// rises as processors are added.
    ///
    /// # Errors
    /// [`ProfileError`] if the time is not positive, the range is empty or a parameter is out of range.
    pub fn law(sequential: Time, law: SpeedupLaw, min: u32, max: u32) -> Result<Self, ProfileError> {
        positive(1, sequential)?;
        Law::new(sequential, law, min, max).map(|law| Self(Shape::Law(Arc::new(law))))
    }

    /// Creates the profile of a sequential task with a time for each node of the platform, in the order of the nodes.
    /// [`Profile::CANNOT_RUN`] marks nodes on which the task cannot run. Speeds of nodes do not change these times.
    ///
    /// # Errors
    /// [`ProfileError`] if a time is not positive, or if no machine can run the task.
    pub fn on_machines(row: impl Into<Arc<[Time]>>) -> Result<Self, ProfileError> {
        Machines::new(row.into()).map(|machines| Self(Shape::Machines(Arc::new(machines))))
    }

    /// The time on a machine that cannot run the task, for [`Profile::on_machines`]. This time is longer than any
    /// schedule.
    pub const CANNOT_RUN: Time = Machines::CANNOT;

    /// Returns the times on one processor of each node, if the task has a time for each machine.
    /// [`Profile::CANNOT_RUN`] marks nodes on which the task cannot run.
    pub fn machine_times(&self) -> Option<&[Time]> {
        match &self.0 {
            Shape::Machines(machines) => Some(&machines.row),
            _ => None,
        }
    }

    /// Returns true if the task takes exactly one processor.
    pub fn is_sequential(&self) -> bool {
        self.max_processors() == 1
    }

    /// Returns the minimum number of processors that the task accepts.
    pub fn min_processors(&self) -> u32 {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors,
            Shape::Table(table) => table.min,
            Shape::Law(law) => law.min,
            Shape::Machines(_) => 1,
        }
    }

    /// Returns the maximum number of processors that the task accepts.
    pub fn max_processors(&self) -> u32 {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors,
            Shape::Table(table) => table.times.len() as u32,
            Shape::Law(law) => law.max,
            Shape::Machines(_) => 1,
        }
    }

    /// Returns true if the task accepts this allotment.
    pub fn accepts(&self, processors: u32) -> bool {
        (self.min_processors()..=self.max_processors()).contains(&processors)
    }

    /// Returns the time on `processors` processors. If the task has a time for each machine, returns the shortest of
    /// these times.
    ///
    /// # Panics
    /// Panics if the task does not accept this allotment.
    pub fn time(&self, processors: u32) -> Time {
        assert!(self.accepts(processors), "the task accepts this allotment");
        match &self.0 {
            Shape::Rigid { time, .. } => *time,
            Shape::Table(table) => table.times[processors as usize - 1],
            Shape::Law(law) => law.time(processors),
            Shape::Machines(machines) => machines.shortest,
        }
    }

    /// Returns the work on `processors` processors: the number of processors multiplied by the time.
    ///
    /// # Panics
    /// Panics if the task does not accept this allotment.
    pub fn work(&self, processors: u32) -> Area {
        self.time(processors).area(processors)
    }

    /// Returns the minimum number of processors on which the task takes at most `deadline`: the canonical allotment of
    /// Mounié, Rapine and Trystram. Takes O(log processors).
    pub fn min_allotment(&self, deadline: Time) -> Option<u32> {
        match &self.0 {
            Shape::Rigid { processors, time } => (*time <= deadline).then_some(*processors),
            Shape::Table(table) => table.index(deadline).map(|index| table.allotment(index)),
            Shape::Law(law) => law.min_allotment(deadline),
            Shape::Machines(machines) => (machines.shortest <= deadline).then_some(1),
        }
    }

    /// Returns an allotment of least work among the allotments on which the task takes at most `deadline`. For a law,
    /// this is [`Profile::min_allotment`], because work on more processors falls at most by the rounding of times to a
    /// tick.
    pub fn thriftiest(&self, deadline: Time) -> Option<u32> {
        match &self.0 {
            Shape::Table(table) => table.index(deadline).map(|index| match &table.least {
                Some(least) => least[index],
                None => table.allotment(index),
            }),
            _ => self.min_allotment(deadline),
        }
    }

    /// Returns a lower bound on the work of every allotment on which the task takes at most `deadline`. For a table,
    /// the bound is the least work of these allotments. For a law, the bound is the work before times are rounded up to
    /// a tick.
    pub fn least_work(&self, deadline: Time) -> Option<Area> {
        let processors = self.thriftiest(deadline)?;
        match &self.0 {
            Shape::Law(law) => Some(law.least_work(processors)),
            _ => Some(self.work(processors)),
        }
    }

    /// Returns the maximum work of the allotments that are not dominated. For a law, returns an upper bound.
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

    /// Returns the minimum number of processors on which the task takes its shortest time.
    pub fn fastest(&self) -> u32 {
        match &self.0 {
            Shape::Rigid { processors, .. } => *processors,
            Shape::Table(table) => table.allotment(table.useful() - 1),
            Shape::Law(law) => law.min_allotment(law.time(law.max)).unwrap_or(law.max),
            Shape::Machines(_) => 1,
        }
    }

    /// Returns the shortest time over all allotments.
    pub fn shortest(&self) -> Time {
        match &self.0 {
            Shape::Rigid { time, .. } => *time,
            Shape::Table(table) => table.time(table.useful() - 1),
            Shape::Law(law) => law.time(law.max),
            Shape::Machines(machines) => machines.shortest,
        }
    }

    /// Returns the longest time of the allotments that are not dominated, which is the time on the fewest processors.
    /// If the task has a time for each machine, returns the time on the slowest machine that can run the task.
    pub fn longest(&self) -> Time {
        match &self.0 {
            Shape::Machines(machines) => machines.longest,
            _ => self.time(self.min_processors()),
        }
    }

    /// Returns the longest time of all allotments, including dominated ones.
    pub fn slowest(&self) -> Time {
        let longest = self.longest();
        match &self.0 {
            Shape::Table(table) => table.times[table.min as usize - 1..].iter().copied().max().unwrap_or(longest),
            _ => longest,
        }
    }

    /// Returns the allotments that are not dominated, ascending. Their times strictly decrease as the number of
    /// processors grows. For a law, the method enumerates the whole range of allotments, so use it only for small
    /// instances and for output.
    pub fn allotments(&self) -> impl Iterator<Item = u32> + '_ {
        let mut best = Time::MAX;
        (self.min_processors()..=self.max_processors()).filter(move |&processors| {
            let time = self.time(processors);
            let useful = time < best;
            best = best.min(time);
            useful
        })
    }

    /// Returns the number of measured allotments that are dominated.
    pub fn dominated(&self) -> usize {
        match &self.0 {
            Shape::Table(table) => table.times.len() + 1 - table.min as usize - table.useful(),
            _ => 0,
        }
    }

    /// Returns true if the task accepts one processor and work never falls as processors are added:
    /// `k t(k) >= (k - 1) t(k')` for every allotment k and the next smaller allotment `k'` that is not dominated. The
    /// 3/2 dual approximation requires this property. For a law, the comparison uses the times before they are rounded
    /// up to a tick ([`Profile::rounds_up`]).
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

    /// Returns true if the task has a speed-up law and accepts several processors, so that some times are rounded up to
    /// a tick.
    pub fn rounds_up(&self) -> bool {
        matches!(&self.0, Shape::Law(law) if law.max > 1)
    }

    /// Returns true if the task accepts only one number of processors.
    pub fn is_rigid(&self) -> bool {
        self.min_processors() == self.max_processors()
    }

    /// Returns the sequential time and the law, for a task with a speed-up law.
    pub fn speedup(&self) -> Option<(Time, SpeedupLaw)> {
        match &self.0 {
            Shape::Law(law) => Some((law.sequential, law.speedup)),
            _ => None,
        }
    }

    /// Returns the measured times on 1, 2, 3, ... processors, for a task with a table.
    pub fn times(&self) -> Option<&[Time]> {
        match &self.0 {
            Shape::Table(table) => Some(&table.times),
            _ => None,
        }
    }

    /// Limits this profile to at most `processors` processors. Returns `None` if the task needs more processors.
    pub fn at_most(self, processors: u32) -> Option<Self> {
        if self.max_processors() <= processors {
            return Some(self);
        }
        if self.min_processors() > processors {
            return None;
        }
        Some(Self(match self.0 {
            // A table with a single time becomes a rigid profile.
            Shape::Table(table) if processors == 1 => Shape::Rigid { processors, time: table.times[0] },
            Shape::Table(table) => {
                Shape::Table(Arc::new(TimeTable::new(table.times[..processors as usize].to_vec(), table.min)))
            }
            Shape::Law(law) => Shape::Law(Arc::new(Law { max: processors, ..*law })),
            shape @ (Shape::Rigid { .. } | Shape::Machines(_)) => shape,
        }))
    }

    /// Limits this profile to at least `processors` processors. Returns `None` if the task accepts only fewer
    /// processors.
    pub fn at_least(self, processors: u32) -> Option<Self> {
        if self.min_processors() >= processors {
            return Some(self);
        }
        if self.max_processors() < processors {
            return None;
        }
        Some(Self(match self.0 {
            Shape::Table(table) => Shape::Table(Arc::new(TimeTable::new(table.times.clone(), processors))),
            Shape::Law(law) => Shape::Law(Arc::new(Law { min: processors, ..*law })),
            shape @ (Shape::Rigid { .. } | Shape::Machines(_)) => shape,
        }))
    }

    /// Scales this profile so that its longest time is `longest`, which must be positive. The other times keep their
    /// ratio to the longest time and are rounded up to a tick. Times are at most one tick less than half the range of
    /// [`Time`].
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
                Shape::Table(Arc::new(TimeTable::new(table.times.iter().copied().map(scaled).collect(), table.min)))
            }
            Shape::Law(law) => Shape::Law(Arc::new(Law { sequential: scaled(law.sequential), ..*law })),
            Shape::Machines(ref machines) => {
                let kept = |&time: &Time| if time == Self::CANNOT_RUN { time } else { scaled(time) };
                let row: Arc<[Time]> = machines.row.iter().map(kept).collect();
                Machines::new(row).map_or(self.0, |machines| Shape::Machines(Arc::new(machines)))
            }
        })
    }

    /// Removes the allotments or machines on which the task takes longer than `limit`. Returns `None` if none remain.
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

/// Returns the smallest number from `low` to `high` for which `fits` is true. `fits` must be true for `high`. If `fits`
/// is true for a number, it must also be true for all larger numbers up to `high`. Searches in doubling steps from
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
