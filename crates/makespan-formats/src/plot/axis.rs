//! The range of an axis and its ticks.

/// Distances between ticks, times a power of ten.
const STEPS: [f64; 4] = [1.0, 2.0, 2.5, 5.0];
/// About how many ticks an axis has whose values are not counted out.
const TICKS: f64 = 6.0;
/// Where so few places are measured, the ticks stand at these.
const MAX_PLACES: usize = 12;

/// An axis: its range, and where its ticks are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub low: f64,
    pub high: f64,
    pub log: bool,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// An axis of exactly this range, which is not empty.
    pub fn of(low: f64, high: f64) -> Self {
        Self { low, high, log: false, ticks: nice(low, high) }
    }

    /// An axis for these values, with room beside the first and the last one. Few different values are ticks themselves.
    pub fn around(values: &[f64], log: bool, at_values: bool) -> Self {
        let least = values.iter().copied().reduce(f64::min);
        let (low, high) = least.zip(values.iter().copied().reduce(f64::max)).unwrap_or((1.0, 10.0));
        let (low, high) = if log {
            let room = (high / low).powf(0.04).max(1.05);
            (low / room, high * room)
        } else {
            let room = if low < high { (high - low) * 0.04 } else { 0.5 };
            (low - room, high + room)
        };
        let places = distinct(values);
        let ticks = match (at_values && places.len() <= MAX_PLACES, log) {
            (true, _) if !places.is_empty() && places.iter().all(is_short) => places,
            (_, true) => logarithmic(low, high),
            _ => nice(low, high),
        };
        Self { low, high, log, ticks }
    }

    /// An axis for these values, which ends at `most` where some lie beyond.
    pub fn up_to(values: &[f64], most: Option<f64>) -> Self {
        let Some(most) = most.filter(|&most| values.iter().any(|&value| value > most)) else {
            return Self::around(values, false, false);
        };
        let within: Vec<f64> = values.iter().map(|value| value.min(most)).collect();
        Self::of(Self::around(&within, false, false).low, most)
    }

    /// How far along the axis a value is, from 0 to 1.
    pub fn fraction(&self, value: f64) -> f64 {
        let of = |value: f64| if self.log { value.ln() } else { value };
        (of(value) - of(self.low)) / (of(self.high) - of(self.low))
    }

    /// The value that is so far along the axis.
    pub fn value(&self, fraction: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(fraction)
        } else {
            self.low + (self.high - self.low) * fraction
        }
    }

    /// The ticks whose labels fit beside each other on an axis of this length; the last one is among them.
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

/// Whether a value makes a tick that can be read at a glance.
fn is_short(value: &f64) -> bool {
    label(*value).len() <= 6
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut places = values.to_vec();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Multiples of a round number.
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

/// Powers of ten, with 2 and 5 between them where there are few, or round numbers where there are fewer than two.
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

/// A tick as it is printed.
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
