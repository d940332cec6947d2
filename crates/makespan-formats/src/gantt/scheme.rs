//! Colours of charts, and pairs of similar colours.

/// Paul Tol's "light" scheme without its grey (<https://personal.sron.nl/~pault/>). The colours are light enough for
/// dark text. People with a common form of colour blindness can distinguish all pairs of colours that are not in
/// [`ALIKE`].
///
/// The last colour is a muted grey for all best-effort bags.
pub const COLOURS: [&str; 9] =
    ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00", BEST_EFFORT];

/// Colour of best-effort bags.
pub const BEST_EFFORT: &str = "#C5CAD1";

/// Number of colours for jobs that are not best-effort bags.
pub(super) const BEST: usize = COLOURS.len() - 1;

/// For each colour, the colours that look similar. Two colours are similar if their distance in CIELAB is below 18, in
/// normal vision or in simulated deuteranopia or protanopia. A test computes the distances.
pub(super) const ALIKE: [&[usize]; COLOURS.len()] = [&[], &[], &[], &[5, 8], &[8], &[3, 8], &[7], &[6], &[3, 4, 5]];

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates dichromacy with the matrices of Machado, Oliveira and Fernandes (2009).
    #[test]
    fn colours_that_look_alike_are_known() {
        const NORMAL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        const PROTAN: [[f64; 3]; 3] = [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ];
        const DEUTAN: [[f64; 3]; 3] =
            [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]];
        let lab = |colour: &str, sight: [[f64; 3]; 3]| {
            let linear = [1, 3, 5].map(|at| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            });
            let product = |row: [f64; 3], with: [f64; 3]| row.iter().zip(with).map(|(a, b)| a * b).sum::<f64>();
            let seen = sight.map(|row| product(row, linear).clamp(0.0, 1.0));
            let xyz = [
                [0.412_456_4 / 0.95047, 0.357_576_1 / 0.95047, 0.180_437_5 / 0.95047],
                [0.212_672_9, 0.715_152_2, 0.072_175_0],
                [0.019_333_9 / 1.08883, 0.119_192_0 / 1.08883, 0.950_304_1 / 1.08883],
            ];
            let [x, y, z] = xyz
                .map(|row| product(row, seen))
                .map(|part| if part > 216.0 / 24_389.0 { part.cbrt() } else { (24389.0 / 27.0 * part + 16.0) / 116.0 });
            [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
        };
        let distance = |a: &str, b: &str, sight| {
            let ([l1, a1, b1], [l2, a2, b2]) = (lab(a, sight), lab(b, sight));
            ((l1 - l2).powi(2) + (a1 - a2).powi(2) + (b1 - b2).powi(2)).sqrt()
        };
        for (one, colour) in COLOURS.iter().enumerate() {
            let near = |&other: &usize| {
                let least = [NORMAL, PROTAN, DEUTAN].map(|sight| distance(colour, COLOURS[other], sight));
                other != one && least.into_iter().fold(f64::INFINITY, f64::min) < 18.0
            };
            assert_eq!((0..COLOURS.len()).filter(near).collect::<Vec<_>>(), ALIKE[one], "{colour}");
        }
    }
}
