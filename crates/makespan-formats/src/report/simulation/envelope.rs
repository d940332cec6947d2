//! Reduces long series to the number of columns that a picture has.

use makespan_core::Time;

/// State of a simulation from an instant until the instant of the next level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationLevel {
    /// First instant of the state.
    pub time: Time,
    /// Number of busy processors.
    pub held: u32,
    /// Number of waiting jobs.
    pub waiting: u32,
}

/// Minimum, mean and maximum of a quantity over a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    pub least: u32,
    pub mean: f64,
    pub most: u32,
}

/// Period that is drawn as one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Column {
    pub from: Time,
    pub to: Time,
    pub held: Spread,
    pub waiting: Spread,
}

/// Returns the columns between two instants. If there are at most `exact` levels, each level becomes a column.
/// Otherwise, the levels are reduced to `columns` columns of equal length. Before the first level, no processor is
/// busy and no job waits.
pub(super) fn columns(levels: &[SimulationLevel], [from, to]: [Time; 2], exact: usize, columns: usize) -> Vec<Column> {
    let pieces = || Pieces { levels, at: 0, from, to };
    if levels.len() <= exact {
        return pieces().map(|(from, to, level)| OpenColumn::new(from, level).done_at(to)).collect();
    }
    let span = i128::from((to - from).ticks());
    // Rounding differences are spread evenly: the lengths of two columns differ by at most one tick.
    let bound = |index: usize| from + Time::from_ticks((span * index as i128 / columns as i128) as i64);
    let mut gathered = Vec::with_capacity(columns);
    let mut open: Option<OpenColumn> = None;
    let mut index = 1;
    for (mut start, end, level) in pieces() {
        while start < end {
            while bound(index) <= start {
                index += 1;
            }
            let edge = bound(index);
            let until = end.min(edge);
            let column = open.get_or_insert_with(|| OpenColumn::new(start, level));
            column.add(until - start, level);
            start = until;
            if until == edge {
                gathered.extend(open.take().map(|column| column.done_at(edge)));
            }
        }
    }
    gathered
}

/// Iterator over the periods of constant level. Empty periods are skipped.
struct Pieces<'a> {
    levels: &'a [SimulationLevel],
    at: usize,
    from: Time,
    to: Time,
}

impl Iterator for Pieces<'_> {
    type Item = (Time, Time, SimulationLevel);

    fn next(&mut self) -> Option<Self::Item> {
        while self.from < self.to {
            while self.levels.get(self.at).is_some_and(|level| level.time <= self.from) {
                self.at += 1;
            }
            let level = self.at.checked_sub(1).map_or(SimulationLevel::default(), |at| self.levels[at]);
            let end = self.levels.get(self.at).map_or(self.to, |next| next.time.min(self.to));
            let start = std::mem::replace(&mut self.from, end);
            if start < end {
                return Some((start, end, level));
            }
        }
        None
    }
}

/// A column under construction.
struct OpenColumn {
    from: Time,
    least: [u32; 2],
    most: [u32; 2],
    areas: [i128; 2],
    spanned: i128,
    last: SimulationLevel,
}

impl OpenColumn {
    fn new(from: Time, level: SimulationLevel) -> Self {
        let both = [level.held, level.waiting];
        Self { from, least: both, most: both, areas: [0; 2], spanned: 0, last: level }
    }

    fn add(&mut self, time: Time, level: SimulationLevel) {
        let ticks = i128::from(time.ticks());
        self.spanned += ticks;
        for (index, value) in [level.held, level.waiting].into_iter().enumerate() {
            self.least[index] = self.least[index].min(value);
            self.most[index] = self.most[index].max(value);
            self.areas[index] += ticks * i128::from(value);
        }
    }

    fn done_at(mut self, to: Time) -> Column {
        if self.spanned == 0 {
            let level = self.last;
            self.add(to - self.from, level);
        }
        let spread = |index: usize| Spread {
            least: self.least[index],
            mean: self.areas[index] as f64 / (self.spanned.max(1)) as f64,
            most: self.most[index],
        };
        Column { from: self.from, to, held: spread(0), waiting: spread(1) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn level(ticks: i64, held: u32, waiting: u32) -> SimulationLevel {
        SimulationLevel { time: Time::from_ticks(ticks), held, waiting }
    }

    const SPAN: [Time; 2] = [Time::ZERO, Time::from_ticks(100)];

    #[test]
    fn few_levels_stay_as_they_are() {
        let found = columns(&[level(10, 3, 0), level(40, 5, 2)], SPAN, 10, 4);
        let shown: Vec<_> = found.iter().map(|c| (c.from.ticks(), c.to.ticks(), c.held.mean, c.waiting.most)).collect();
        assert_eq!(shown, [(0, 10, 0.0, 0), (10, 40, 3.0, 0), (40, 100, 5.0, 2)]);
        assert_eq!(columns(&[], SPAN, 10, 4).len(), 1);
        assert!(columns(&[], [Time::ZERO; 2], 10, 4).is_empty());
    }

    #[test]
    fn many_levels_become_columns_that_keep_the_extremes() {
        let found = columns(&[level(0, 4, 1), level(30, 8, 9), level(31, 0, 0), level(75, 2, 3)], SPAN, 3, 4);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1].held, Spread { least: 0, mean: (5.0 * 4.0 + 8.0) / 25.0, most: 8 });
        assert_eq!(found[1].waiting.most, 9);
        assert_eq!(found[2].held, Spread::default());
        assert_eq!((found[3].from.ticks(), found[3].held.mean), (75, 2.0));
    }

    proptest! {
        #[test]
        fn columns_keep_the_area(
            changes in prop::collection::vec((1_i64..40, 0_u32..9, 0_u32..9), 1..60), count in 1_usize..30, exact in 0_usize..40,
        ) {
            let mut time = -1;
            let levels: Vec<SimulationLevel> = changes.iter().map(|&(step, held, waiting)| { time += step; level(time, held, waiting) }).collect();
            let span = [Time::ZERO, Time::from_ticks(time + 20)];
            let area = |columns: &[Column]| columns.iter().map(|c| c.held.mean * (c.to - c.from).ticks() as f64).sum::<f64>();
            let whole = columns(&levels, span, usize::MAX, 1);
            let found = columns(&levels, span, exact, count);
            prop_assert!((area(&whole) - area(&found)).abs() < 1e-6 * area(&whole).max(1.0));
            prop_assert_eq!(found.last().unwrap().to, span[1]);
            prop_assert!(found.windows(2).all(|pair| pair[0].to == pair[1].from));
            prop_assert!(found.len() <= count.max(exact + 1));
        }
    }
}
