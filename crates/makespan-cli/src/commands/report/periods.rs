//! The period of a log and its months.

use makespan_core::Time;
use makespan_formats::{Clock, JobLog};

/// A period of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// The month, such as `2024-03`. `None` for the whole log.
    pub month: Option<String>,
    pub begin: Time,
    pub end: Time,
}

impl Period {
    /// Returns the period of a log: from the first submission to the last known instant.
    pub fn whole(log: &JobLog) -> Self {
        let begin = log.jobs.iter().map(|job| job.submitted).min().unwrap_or(Time::ZERO);
        let ends = log.jobs.iter().map(|job| job.period().map_or(job.started.unwrap_or(job.submitted), |held| held.1));
        let end = ends.chain(log.now).max().unwrap_or(begin);
        Self { month: None, begin, end: end.max(begin) }
    }

    /// Returns the months of this period, in order. The first and the last month may be incomplete. Returns `None` if the
    /// dates are beyond the calendar.
    pub fn months(&self, clock: &Clock) -> Option<Vec<Self>> {
        let first = clock.shows(self.begin);
        let (year, month) = (first.get(..4)?.parse::<i32>().ok()?, first.get(5..7)?.parse::<i32>().ok()?);
        let (mut months, mut begin) = (Vec::new(), self.begin);
        for index in year * 12 + month - 1.. {
            let name = |index: i32| format!("{:04}-{:02}", index.div_euclid(12), index.rem_euclid(12) + 1);
            let next = clock.read(&format!("{}-01", name(index + 1)))?.ok()?;
            let end = next.min(self.end);
            months.push(Self { month: Some(name(index)), begin, end });
            if next >= self.end {
                break;
            }
            begin = next;
        }
        Some(months)
    }

    /// Returns the number of processor ticks that the machine offered in this period.
    pub fn capacity(&self, processors: u32) -> i128 {
        i128::from((self.end - self.begin).ticks()) * i128::from(processors)
    }
}

/// Returns the index of the period that contains an instant. The periods are adjacent and in order. An instant between
/// two periods belongs to the later one.
pub fn at(periods: &[Period], instant: Time) -> usize {
    periods.partition_point(|period| period.end <= instant).min(periods.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that months are adjacent, follow the calendar, and cover the period.
    #[test]
    fn months_cover_a_period() {
        let clock = Clock::named(1_706_700_000, "Europe/Berlin").unwrap().unwrap();
        for (days, count) in [(0, 1), (1, 2), (59, 3), (800, 28)] {
            let whole = Period { month: None, begin: Time::ZERO, end: Time::from_seconds(days * 86_400) };
            let months = whole.months(&clock).unwrap();
            assert_eq!((months.len(), months[0].begin, months.last().unwrap().end), (count, whole.begin, whole.end));
            assert!(months.windows(2).all(|pair| pair[0].end == pair[1].begin && pair[0].month < pair[1].month));
            for month in &months {
                assert!(clock.shows(month.begin).starts_with(month.month.as_deref().unwrap()), "{month:?}");
                let next = months.iter().position(|other| other.begin == month.end && other.begin < other.end);
                assert_eq!(at(&months, month.end), next.unwrap_or(count - 1));
            }
        }
    }
}
