//! The axes of a figure: their ranges and ticks.

/// Possible distances between ticks, each times a power of ten.
const STEPS: [f64; 4] = [1.0, 2.0, 2.5, 5.0];
/// Approximate number of ticks of an axis with ticks at round values.
const TICKS: f64 = 6.0;
/// Additional height for the labels of values above the axis, as a share of the axis height without this addition.
const TOLD: f64 = 0.2;
/// If an axis has at most this number of different values, its ticks may be at these values. If there are more values,
/// the ticks are at round values.
const MAX_PLACES: usize = 12;

/// Range, scale and ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub low: f64,
    pub high: f64,
    pub log: bool,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// Returns a linear axis with exactly this range, which must not be empty.
    pub fn of(low: f64, high: f64) -> Self {
        Self { low, high, log: false, ticks: nice(low, high) }
    }

    /// Returns an axis for these values, with some space before the first and after the last value. If `at_values` is
    /// true and there are only a few different values with short labels, the ticks are at these values.
    pub fn around(values: &[f64], log: bool, at_values: bool) -> Self {
        let least = values.iter().copied().reduce(f64::min);
        let (low, high) = least.zip(values.iter().copied().reduce(f64::max)).unwrap_or((1.0, 10.0));
        let (low, high) = if log {
            let room = (high / low).powf(0.04).max(1.05);
            let [low, high] = [low / room, high * room];
            (short_below(low, low), short_above(high, high))
        } else {
            let room = if low < high { (high - low) * 0.04 } else { 0.5 };
            let [low, high] = [low - room, high + room];
            (short_below(low, high - low), short_above(high, high - low))
        };
        let places = distinct(values);
        let ticks = match (at_values && places.len() <= MAX_PLACES, log) {
            (true, _) if !places.is_empty() && places.iter().all(is_short) => places,
            (_, true) => logarithmic(low, high),
            _ => nice(low, high),
        };
        Self { low, high, log, ticks }
    }

    /// Returns a vertical axis for points. Each point consists of the lower end of its bar, its value, and the upper
    /// end of its bar. If no value is above `most`, the axis includes all values. Otherwise, the axis ends above the
    /// values up to `most`, with space for the labels of larger values. The end is a tick or `most`, whichever is
    /// lower.
    pub fn up_to(points: &[[f64; 3]], most: Option<f64>) -> Self {
        let values = points.as_flattened();
        let Some(most) = most.filter(|&most| values.iter().any(|&value| value > most)) else {
            return Self::around(values, false, false);
        };
        let least = values.iter().copied().fold(most, f64::min);
        let marked = points.iter().map(|point| point[1]).filter(|&value| value <= most).fold(least, f64::max);
        // An axis need not contain a bar that extends far above all points. A label shows the end of such a bar.
        let longest = least + 2.0 * (marked - least);
        let within: Vec<f64> = values.iter().copied().filter(|&value| value <= longest.min(most)).collect();
        let axis =
            if within.is_empty() { Self::around(&[most], false, false) } else { Self::around(&within, false, false) };
        let room = axis.high + TOLD * (axis.high - axis.low);
        let ticks = nice(axis.low, room);
        let step = ticks.get(1).map_or(1.0, |second| second - ticks[0]);
        let end = (room / step - 1e-9).ceil() * step;
        Self::of(axis.low, if end < most { end } else { most })
    }

    /// Returns the position of a value on the axis, from 0 (low end) to 1 (high end).
    pub fn fraction(&self, value: f64) -> f64 {
        let of = |value: f64| if self.log { value.ln() } else { value };
        (of(value) - of(self.low)) / (of(self.high) - of(self.low))
    }

    /// Returns the value at a position on the axis, from 0 (low end) to 1 (high end).
    pub fn value(&self, fraction: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(fraction)
        } else {
            self.low + (self.high - self.low) * fraction
        }
    }

    /// Returns the ticks with labels that do not overlap on an axis of the given length. The last tick always has a
    /// label.
    pub fn labelled(&self, length: f64, width: impl Fn(&str) -> f64) -> Vec<f64> {
        let mut shown: Vec<f64> = Vec::new();
        let mut free = f64::INFINITY;
        for &tick in self.ticks.iter().rev() {
            let (middle, half) = (self.fraction(tick) * length, width(&label(tick)) / 2.0);
            if middle + half <= free {
                shown.push(tick);
                free = middle - half;
            }
        }
        shown.reverse();
        shown
    }
}

/// Rounds a value down to about a hundredth of `span`, so that people who edit the figure see short numbers.
fn short_below(value: f64, span: f64) -> f64 {
    shortened(value, span, f64::floor)
}

/// Rounds a value up to about a hundredth of `span`.
fn short_above(value: f64, span: f64) -> f64 {
    shortened(value, span, f64::ceil)
}

fn shortened(value: f64, span: f64, to: fn(f64) -> f64) -> f64 {
    let places = 2.0 - span.abs().log10().floor();
    let unit = 10_f64.powf(places.abs());
    // Integers with a rounding error of floats become exact integers.
    let to = |scaled: f64| if (scaled - scaled.round()).abs() < 1e-6 { scaled.round() } else { to(scaled) };
    let short = if places > 0.0 { to(value * unit) / unit } else { to(value / unit) * unit };
    if short.is_finite() { short } else { value }
}

/// Returns whether the label of a value is short enough to be read at a glance.
fn is_short(value: &f64) -> bool {
    label(*value).len() <= 6
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut places = values.to_vec();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Returns the multiples of a round number between `low` and `high`.
fn nice(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / TICKS;
    let power = 10_f64.powf(raw.log10().floor());
    let step = STEPS.iter().map(|step| step * power).find(|&step| step >= raw).unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !step.is_normal() || last - first > 100.0 {
        return vec![low];
    }
    (0..=(last - first) as u32).map(|index| (first + f64::from(index)) * step).collect()
}

/// Returns ticks for a logarithmic axis: the powers of ten. If there are fewer than four, 2 and 5 times the powers of
/// ten are added. If there are still fewer than two ticks, returns multiples of a round number instead.
fn logarithmic(low: f64, high: f64) -> Vec<f64> {
    let powers = || (low.log10().floor() as i32..=high.log10().ceil() as i32).map(|power| 10_f64.powi(power));
    let within = |ticks: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        ticks.filter(|&tick| (low..=high).contains(&tick)).collect()
    };
    let tens = within(&mut powers());
    if tens.len() >= 4 {
        return tens;
    }
    let between = within(&mut powers().flat_map(|power| [power, 2.0 * power, 5.0 * power]));
    if between.len() >= 2 { between } else { nice(low, high) }
}

/// Returns the label of a tick.
pub(super) fn label(value: f64) -> String {
    let size = value.abs();
    if size >= 1e7 || (size > 0.0 && size < 1e-4) {
        return format!("{value:.3e}").replace(".000e", "e");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_ticks() {
        let axis = Axis::around(&[25.0, 400.0, 50.0, 100.0, 25.0], true, true);
        assert_eq!(axis.ticks, [25.0, 50.0, 100.0, 400.0]);
    }

    #[test]
    fn ends_are_short() {
        let ends = |values: &[f64], log| {
            let axis = Axis::around(values, log, false);
            [axis.low, axis.high].map(|end| end.to_string())
        };
        assert_eq!(ends(&[1.0, 3.37], true), ["0.952", "3.54"]);
        assert_eq!(ends(&[0.0, 1.0], false), ["-0.04", "1.04"]);
        assert_eq!(ends(&[25.0, 400.0], false), ["10", "415"]);
        assert_eq!(ends(&[1e-7, 3e-7], false), ["0.000000092", "0.000000308"]);
    }

    /// Checks an axis for points between 1 and 2.4, with one long bar, and with one line far above the other lines.
    #[test]
    fn an_axis_is_for_what_is_within_it() {
        let points = [[1.0, 1.2, 1.3], [1.8, 2.1, 2.4], [1.1, 1.3, 5.0], [10.0, 10.1, 10.2]];
        let axis = Axis::up_to(&points, Some(6.0));
        assert_eq!((axis.high.to_string(), axis.ticks.last()), ("3".into(), Some(&3.0)), "{axis:?}");
        assert_eq!(Axis::up_to(&points[..2], Some(6.0)), Axis::around(points[..2].as_flattened(), false, false));
        for points in [&[[7.0, 8.0, 9.0]][..], &[[1.0, 5.9, 5.9], [7.0, 8.0, 9.0]]] {
            assert_eq!(Axis::up_to(points, Some(6.0)).high.to_string(), "6");
        }
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.1 + 0.2, 1.0, -0.0, 2.5, 100_000.0, 2e9, 3e-7].map(label);
        assert_eq!(labels, ["0.3", "1", "0", "2.5", "100000", "2e9", "3e-7"]);
    }

    proptest! {
        #[test]
        fn every_axis_has_its_values_and_a_tick(
            values in prop::collection::vec(1e-3_f64..1e6, 1..30), log: bool, at_values: bool
        ) {
            let axis = Axis::around(&values, log, at_values);
            prop_assert!(values.iter().all(|&value| (0.0..=1.0).contains(&axis.fraction(value))));
            prop_assert!(!axis.ticks.is_empty());
            let inside = |&tick: &f64| (-1e-6..=1.0 + 1e-6).contains(&axis.fraction(tick));
            prop_assert!(axis.ticks.iter().all(inside), "{:?}", axis);
            prop_assert!(axis.ticks.is_sorted());
            prop_assert!(!axis.labelled(100.0, |_| 30.0).is_empty());
        }
    }
}
