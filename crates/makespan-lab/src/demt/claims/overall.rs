//! What the paper concludes from all figures, and the time of Figure 7.

use makespan_generate::Family;

use super::Claim;
use super::check::{Curve, Evidence, around, curve, is_stable, level};
use crate::demt::Criterion::{self, Makespan, MinsumPrinted};
use crate::demt::Points;
use crate::demt::algorithm::{DEMT, LPTF, SAF, SEQUENTIAL, SHELF};

/// The observations after the figures.
pub(super) fn claims(points: &Points) -> Vec<Claim> {
    let mut claims = vec![not_much_worse(points)];
    claims.extend(minsum_level(points));
    claims.extend(makespan_level(points));
    claims.push(more_parallel(points));
    claims.push(simple_cases(points));
    claims.extend(preferred(points));
    claims.push(time(points));
    claims
}

fn demt(points: &Points, family: Family, criterion: Criterion) -> Curve {
    curve(points, family, DEMT, criterion)
}

fn everywhere(points: &Points, criterion: Criterion) -> Curve {
    Family::ALL.into_iter().flat_map(|family| demt(points, family, criterion)).collect()
}

fn not_much_worse(points: &Points) -> Claim {
    let mut evidence = Evidence::default();
    for (word, criterion) in [("makespan", Makespan), ("minsum", MinsumPrinted)] {
        for family in Family::ALL {
            evidence.each(&format!("{word}, {family}"), &demt(points, family, criterion), |ratio| ratio <= 2.25);
        }
    }
    evidence.claim("4.2 par. 3, sentence 5", "DEMT is not much worse than 2 on either criterion (here: at most 2.25)")
}

fn minsum_level(points: &Points) -> [Claim; 2] {
    let [mut never, mut two] = [(); 2].map(|()| Evidence::default());
    for family in Family::ALL {
        never.each(family.name(), &demt(points, family, MinsumPrinted), |ratio| ratio <= 2.5);
    }
    if let Some(level) = level(&everywhere(points, MinsumPrinted)) {
        two.note(format!("{level:.2}"));
        two.answer(around(level, 2.0));
    }
    [
        never.claim("4.2 par. 7, sentence 2", "DEMT's minsum ratio is never over 2.5"),
        two.claim("4.2 par. 7, sentence 2", "DEMT's minsum ratio is around 2 on average (here: within 0.25)"),
    ]
}

fn makespan_level(points: &Points) -> [Claim; 2] {
    let [mut almost, mut average] = [(); 2].map(|()| Evidence::default());
    let makespan = everywhere(points, Makespan);
    if let Some(level) = level(&makespan) {
        let below = makespan.iter().filter(|&&(_, ratio)| ratio < 2.0).count();
        almost.note(format!("below 2 at {below} of {} points", makespan.len()));
        almost.answer(below * 10 >= makespan.len() * 9);
        average.note(format!("{level:.2}"));
        average.answer(level <= 2.0);
    }
    [
        almost.claim(
            "4.2 par. 7, sentence 3",
            "DEMT's makespan ratio is almost always below 2 (here: at 90 % of the points)",
        ),
        average.claim("4.2 par. 7, sentence 3", "DEMT's makespan ratio is 1.9 on average (here: at most 2)"),
    ]
}

fn more_parallel(points: &Points) -> Claim {
    let mut evidence = Evidence::default();
    for (word, criterion) in [("makespan", Makespan), ("minsum", MinsumPrinted)] {
        let of = |family| level(&demt(points, family, criterion));
        if let (Some(high), Some(weak)) = (of(Family::High), of(Family::Weak)) {
            evidence.note(format!("{word}: {high:.2} on high, {weak:.2} on weak"));
            evidence.answer(high < weak);
        }
    }
    evidence.claim("4.2 par. 8, sentence 1", "DEMT performs better when the jobs are more parallel")
}

fn simple_cases(points: &Points) -> Claim {
    let mut evidence = Evidence::default();
    for family in [Family::Weak, Family::High, Family::Mixed] {
        let (saf, demt) = (curve(points, family, SAF, MinsumPrinted), demt(points, family, MinsumPrinted));
        evidence.show(&format!("{family}, saf"), &saf);
        evidence.show("demt", &demt);
        evidence.below(&saf, &demt);
    }
    evidence.claim(
        "4.2 par. 9, sentence 1",
        "SAF performs well on simple cases (here: a lower minsum than DEMT's on weak, high and mixed)",
    )
}

fn preferred(points: &Points) -> [Claim; 2] {
    let [mut insensitive, mut far] = [(); 2].map(|()| Evidence::default());
    let of = |family| level(&demt(points, family, MinsumPrinted)).map(|level| (0, level));
    let levels: Curve = Family::ALL.into_iter().filter_map(of).collect();
    insensitive.show("means by family", &levels);
    insensitive.answer_if_known(is_stable(&levels));
    for family in Family::ALL {
        let others = [SEQUENTIAL, SHELF, LPTF, SAF].map(|algorithm| level(&curve(points, family, algorithm, Makespan)));
        let best = others.into_iter().flatten().min_by(f64::total_cmp);
        if let (Some(best), Some(demt)) = (best, level(&demt(points, family, Makespan))) {
            far.note(format!("{family}: {demt:.2}, best other {best:.2}"));
            far.answer(demt <= 1.5 * best);
        }
    }
    [
        insensitive.claim(
            "4.2 par. 9, sentence 3",
            "DEMT's minsum ratio is insensitive to the kind of jobs (here: family means within a factor of 1.25)",
        ),
        far.claim(
            "4.2 par. 9, sentence 3",
            "DEMT's makespan is not far from the alternatives' (here: 1.5 times the best other's at most, Gang aside)",
        ),
    ]
}

fn time(points: &Points) -> Claim {
    let mut evidence = Evidence::default();
    let largest = points.iter().filter(|point| point.algorithm == DEMT).map(|point| point.jobs).max();
    for point in points.iter().filter(|point| point.algorithm == DEMT && Some(point.jobs) == largest) {
        evidence.note(format!("{}, n = {}: longest {:.3} s", point.family, point.jobs, point.seconds[2]));
        evidence.answer(point.seconds[2] < 2.0);
    }
    evidence.claim("4.2 par. 10, on Figure 7", "DEMT takes less than 2 s on the largest instances")
}
