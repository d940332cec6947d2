//! Draws histograms.

use std::io::{self, Write};

use super::axis::Axis;
use super::histogram::Histogram;
use super::svg;

/// Writes a histogram as SVG. If the range is empty or reversed, the axis is from 0 to 1.
///
/// # Errors
/// Errors of the writer.
pub fn write_histogram(out: &mut impl Write, histogram: &Histogram) -> io::Result<()> {
    let (shares, [x, y]) = measured(histogram);
    out.write_all(svg::histogram(&noted(histogram), &shares, [&x, &y]).as_bytes())
}

/// Returns the shares and the axes.
fn measured(histogram: &Histogram) -> (Vec<f64>, [Axis; 2]) {
    let (low, high) = Some(histogram.range).filter(|(low, high)| low < high).unwrap_or((0.0, 1.0));
    let shares = Histogram { range: (low, high), ..histogram.clone() }.shares();
    let largest = shares.iter().copied().fold(0.05, f64::max);
    (shares, [Axis::of(low, high), Axis::of(0.0, largest * 1.05)])
}

/// Returns the histogram with an extended label of the horizontal axis. The label states how much
/// of the sample lies outside the range.
fn noted(histogram: &Histogram) -> Histogram {
    let values = || histogram.values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = histogram.range;
    let [below, above] =
        [values().filter(|&value| value < low).count(), values().filter(|&value| value > high).count()];
    let all = values().count();
    let note = |count: usize, where_to: &str, bin: &str| {
        let percent = 100.0 * count as f64 / all as f64;
        (count > 0).then(|| format!("; the {bin} bar includes the {percent:.1} % {where_to} the range"))
    };
    let notes = [note(below, "below", "first"), note(above, "above", "last")];
    let x_label = notes.into_iter().flatten().fold(histogram.x_label.clone(), |label, note| label + &note);
    Histogram { x_label, ..histogram.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_extremes_count() {
        let histogram = Histogram {
            values: vec![-9.0, 0.1, 0.6, 2.0, f64::NAN],
            range: (0.0, 1.0),
            bins: 2,
            ..Histogram::default()
        };
        assert_eq!(histogram.shares(), [0.5, 0.5]);
        assert_eq!(
            noted(&histogram).x_label,
            "; the first bar includes the 25.0 % below the range; the last bar includes the 25.0 % above the range"
        );
        let within = Histogram { values: vec![0.0, 1.0], ..histogram };
        assert_eq!(noted(&within).x_label, "");
    }

    #[test]
    fn every_histogram_is_a_picture() {
        for values in [vec![], vec![0.2, 0.3, 0.9], vec![f64::INFINITY]] {
            for range in [(0.0, 1.0), (1.0, 0.0)] {
                let (title, x_label) = ("<a> & $b$".to_owned(), "ratio".to_owned());
                let histogram = Histogram { title, x_label, values: values.clone(), range, bins: 10 };
                let mut bytes = Vec::new();
                write_histogram(&mut bytes, &histogram).unwrap();
                let text = String::from_utf8(bytes).unwrap();
                roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            }
        }
    }
}
