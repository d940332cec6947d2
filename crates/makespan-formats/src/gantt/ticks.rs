//! Ticks of a time axis, and durations in words.

const UNITS: [(f64, &str); 4] = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s")];

/// Convenient distances between ticks, from a second to ten days, in seconds.
const STEPS: [f64; 25] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0,
    10_800.0, 14_400.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0, 432_000.0, 604_800.0, 864_000.0,
];

/// Returns the distance between ticks, in seconds. At most `count` distances of this length are needed for `span`
/// seconds.
pub(crate) fn step(span: f64, count: usize) -> f64 {
    let least = span / count.max(1) as f64;
    let last = STEPS[STEPS.len() - 1];
    match STEPS.iter().find(|&&step| step >= least) {
        Some(&step) if least > 0.5 => step,
        // Distances below a second are 1, 2 or 5 times a power of ten in seconds. Distances above ten days are 1, 2 or
        // 5 times a power of ten in days.
        _ if least > last => round_up(least / 86_400.0) * 86_400.0,
        _ => round_up(least.max(1e-9)),
    }
}

/// Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least `value`.
pub(super) fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|&step| step >= value * 0.999_999)
        .unwrap_or(value)
}

/// Returns the label of a tick at `seconds`. `step` is the distance between ticks, in seconds.
pub(crate) fn label(seconds: f64, step: f64) -> String {
    if seconds == 0.0 {
        return "0".to_owned();
    }
    if step < 1.0 {
        return small(seconds, step);
    }
    let mut left = (seconds / step).round() * step;
    let mut parts = Vec::new();
    for (unit, name) in UNITS {
        let whole = (left / unit + 1e-9).floor();
        if whole > 0.0 {
            parts.push(format!("{whole} {name}"));
            left -= whole * unit;
        }
    }
    parts.join(" ")
}

/// Returns the label of a tick if the distance between ticks is below a second.
fn small(seconds: f64, step: f64) -> String {
    let (unit, name) = match step {
        step if step >= 0.01 => (1.0, "s"),
        step if step >= 1e-5 => (1e-3, "ms"),
        _ => (1e-6, "µs"),
    };
    let places = (-(step / unit).log10()).ceil().max(0.0) as usize;
    format!("{:.places$} {name}", seconds / unit)
}

/// Formats a duration with its two largest units. Whole seconds have no decimal places. Other durations below a minute
/// have three decimal places.
pub fn duration(seconds: f64) -> String {
    let digits = |value: f64, name: &str| {
        let places = if (value - value.round()).abs() < 1e-6 { 0 } else { 3 };
        format!("{value:.places$} {name}")
    };
    match seconds {
        0.0 => "0 s".to_owned(),
        s if s < 1e-3 => digits(s * 1e6, "µs"),
        s if s < 1.0 => digits(s * 1e3, "ms"),
        s if s < 60.0 => digits(s, "s"),
        s => {
            // A value that rounds up to a larger unit is shown in that unit: 3599.9 s are 1 h, not 60 min.
            let rounded = |index: usize| (s / UNITS[index + 1].0).round() * UNITS[index + 1].0;
            let large = (0..3).find(|&index| rounded(index) >= UNITS[index].0).unwrap_or(2);
            let (unit, name) = UNITS[large];
            let (minor, minor_name) = UNITS[large + 1];
            let minors = (s / minor).round();
            let ratio = unit / minor;
            let (whole, rest) = ((minors / ratio).floor(), minors % ratio);
            if rest == 0.0 { format!("{whole} {name}") } else { format!("{whole} {name} {rest} {minor_name}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_in_their_unit() {
        for (span, expect) in
            [(10.0, 1.0), (95.0, 10.0), (3_000.0, 300.0), (86_400.0, 10_800.0), (4e6, 432_000.0), (1e8, 17_280_000.0)]
        {
            assert!((step(span, 10) - expect).abs() < 1e-6, "{span}: {}", step(span, 10));
        }
        assert!((step(0.003, 10) - 0.0005).abs() < 1e-9);
        assert!(step(0.0, 10) > 0.0);
    }

    #[test]
    fn labels_use_the_largest_units() {
        assert_eq!(label(5_400.0, 1_800.0), "1 h 30 min");
        assert_eq!(label(172_800.0, 86_400.0), "2 d");
        assert_eq!(label(0.0015, 0.0005), "1.5 ms");
        assert_eq!(label(0.5, 0.1), "0.5 s");
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([1.6, 1.588, 12.5, 12.0].map(duration), ["1.600 s", "1.588 s", "12.500 s", "12 s"]);
        assert_eq!(duration(0.000_000_001), "0.001 µs");
        assert_eq!(duration(3_599.9), "1 h");
        assert_eq!(duration(90_000.0), "1 d 1 h");
        assert_eq!(duration(150.0), "2 min 30 s");
    }
}
