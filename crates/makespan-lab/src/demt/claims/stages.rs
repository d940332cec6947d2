//! Claims about compaction and shuffling: section 3.2.

use makespan_generate::Family;

use super::check::{Evidence, curve};
use crate::campaign::Claim;
use crate::demt::algorithm::{DEMT, RAW, SHIFT, SHUFFLED_JOBS, UNSHUFFLED};
use crate::demt::points::Criterion::{Makespan, MinsumPrinted};
use crate::demt::points::Points;

/// If the paper calls an improvement "small", the maximum improvement of the weighted completion, as a fraction.
const SMALL: f64 = 0.05;

/// Returns the paper's claims about the stages of its algorithm.
pub(super) fn claims(points: &Points) -> [Claim; 4] {
    [
        better(points, [SHIFT, RAW]).claim(
            "3.2 par. 4, sentence 2",
            "starting jobs as soon as their processors are idle improves the first schedule, by both criteria",
        ),
        better(points, [UNSHUFFLED, SHIFT]).claim(
            "3.2 par. 4, sentence 3",
            "a list in the order of the batches improves the schedule further, by both criteria",
        ),
        shuffled(points, DEMT).claim(
            "3.2 par. 5",
            "shuffling the order of the batches gives small improvements of the weighted completion (here: some, at most 5 %)",
        ),
        shuffled(points, SHUFFLED_JOBS).claim(
            "not in the paper",
            "shuffling jobs within the batches gives small improvements of the weighted completion (here: some, at most 5 %)",
        ),
    ]
}

fn better(points: &Points, [later, earlier]: [&str; 2]) -> Evidence {
    let both = [("makespan", Makespan), ("weighted completion", MinsumPrinted)];
    let cases = Family::ALL.into_iter().flat_map(|family| both.map(|(word, criterion)| (family, word, criterion)));
    Evidence::default().over(cases, |all, (family, word, criterion)| {
        let [later, earlier] = [later, earlier].map(|spec| curve(points, family, spec, criterion));
        if later.is_empty() || earlier.is_empty() {
            return all;
        }
        all.show(&format!("{word}, {family}"), &later).show("before", &earlier).below(&later, &earlier)
    })
}

fn shuffled(points: &Points, spec: &str) -> Evidence {
    Evidence::default().over(Family::ALL, |all, family| {
        let [after, before] = [spec, UNSHUFFLED].map(|spec| curve(points, family, spec, MinsumPrinted));
        let gains: Vec<f64> = after.iter().zip(&before).map(|((_, after), (_, before))| 1.0 - after / before).collect();
        if gains.is_empty() {
            return all;
        }
        let percent: Vec<String> = gains.iter().map(|gain| format!("{:.2}", 100.0 * gain)).collect();
        let all = all.note(format!("{family}: {} %", percent.join(" ")));
        all.answer(gains.into_iter().map(|gain| gain > 0.0 && gain <= SMALL))
    })
}
