//! Claims about all figures together, and about the times in Figure 7.

use makespan_generate::Family;

use super::check::{Curve, Evidence, around, curve, is_stable, level};
use crate::campaign::Claim;
use crate::demt::algorithm::{DEMT, LPTF, SAF, SEQUENTIAL, SHELF};
use crate::demt::points::Criterion::{self, Makespan, MinsumPrinted};
use crate::demt::points::Points;

/// Returns the claims about all families together, which the paper states after its figures.
pub(super) fn claims(points: &Points) -> Vec<Claim> {
    let demt = |family, criterion| curve(points, family, DEMT, criterion);
    let everywhere =
        |criterion| -> Curve { Family::ALL.into_iter().flat_map(|family| demt(family, criterion)).collect() };
    let both = [("makespan", Makespan), ("weighted completion", MinsumPrinted)];
    let cases = both.into_iter().flat_map(|(word, criterion)| Family::ALL.map(|family| (word, criterion, family)));
    let not_much_worse = Evidence::default().over(cases, |all, (word, criterion, family)| {
        all.each(&format!("{word}, {family}"), &demt(family, criterion), |ratio| ratio <= 2.25)
    });
    let never = Evidence::default()
        .over(Family::ALL, |all, family| all.each(family.name(), &demt(family, MinsumPrinted), |ratio| ratio <= 2.5));
    let two = Evidence::default().over(level(&everywhere(MinsumPrinted)), |all, level| {
        all.note(format!("{level:.2}")).answer([around(level, 2.0)])
    });
    let makespan = everywhere(Makespan);
    let below = makespan.iter().filter(|&&(_, ratio)| ratio < 2.0).count();
    let almost = Evidence::default().over(level(&makespan), |all, _| {
        let figure = format!("below 2 at {below} of {} points", makespan.len());
        all.note(figure).answer([below * 10 >= makespan.len() * 9])
    });
    let average =
        Evidence::default().over(level(&makespan), |all, level| all.note(format!("{level:.2}")).answer([level <= 2.0]));
    let mut claims = vec![
        not_much_worse.claim(
            "4.2 par. 3, sentence 5",
            "The ratio of DEMT is not much above 2 for either criterion (here: at most 2.25)",
        ),
        never.claim("4.2 par. 7, sentence 2", "DEMT's ratio of weighted completion is never over 2.5"),
        two.claim(
            "4.2 par. 7, sentence 2",
            "DEMT's ratio of weighted completion is around 2 on average (here: within 0.25)",
        ),
        almost.claim(
            "4.2 par. 7, sentence 3",
            "DEMT's makespan ratio is almost always below 2 (here: at 90 % of the points)",
        ),
        average.claim("4.2 par. 7, sentence 3", "DEMT's makespan ratio is 1.9 on average (here: at most 2)"),
    ];
    claims.extend(kinds(points, &demt));
    claims.push(time(points));
    claims
}

/// Returns the claims about the kinds of jobs.
fn kinds(points: &Points, demt: &dyn Fn(Family, Criterion) -> Curve) -> [Claim; 4] {
    let both = [("makespan", Makespan), ("weighted completion", MinsumPrinted)];
    let more_parallel = Evidence::default().over(both, |all, (word, criterion)| {
        let of = |family| level(&demt(family, criterion));
        let Some((high, weak)) = of(Family::High).zip(of(Family::Weak)) else { return all };
        all.note(format!("{word}: {high:.2} on high, {weak:.2} on weak")).answer([high < weak])
    });
    let simple = Evidence::default().over([Family::Weak, Family::High, Family::Mixed], |all, family| {
        let (saf, demt) = (curve(points, family, SAF, MinsumPrinted), demt(family, MinsumPrinted));
        all.show(&format!("{family}, saf"), &saf).show("demt", &demt).below(&saf, &demt)
    });
    let of = |family| level(&demt(family, MinsumPrinted)).map(|level| (0, level));
    let levels: Curve = Family::ALL.into_iter().filter_map(of).collect();
    let insensitive = Evidence::default().show("means by family", &levels).answer(is_stable(&levels));
    let far = Evidence::default().over(Family::ALL, |all, family| {
        let others = [SEQUENTIAL, SHELF, LPTF, SAF].map(|algorithm| level(&curve(points, family, algorithm, Makespan)));
        let best = others.into_iter().flatten().min_by(f64::total_cmp);
        let Some((best, demt)) = best.zip(level(&demt(family, Makespan))) else { return all };
        all.note(format!("{family}: {demt:.2}, best other {best:.2}")).answer([demt <= 1.5 * best])
    });
    [
        more_parallel.claim("4.2 par. 8, sentence 1", "DEMT performs better when the jobs are more parallel"),
        simple.claim(
            "4.2 par. 9, sentence 1",
            "SAF performs well on simple cases (here: a lower weighted completion than DEMT's on weak, high and mixed)",
        ),
        insensitive.claim(
            "4.2 par. 9, sentence 3",
            "DEMT's ratio of weighted completion is insensitive to the kind of jobs (here: family means within a factor of 1.25)",
        ),
        far.claim(
            "4.2 par. 9, sentence 3",
            "DEMT's makespan is not far from the makespans of the other algorithms (here: at most 1.5 times the best makespan of an algorithm other than Gang)",
        ),
    ]
}

fn time(points: &Points) -> Claim {
    let demt = || points.iter().filter(|point| point.algorithm == DEMT);
    let largest = demt().map(|point| point.jobs).max();
    let large = demt().filter(|point| Some(point.jobs) == largest);
    let evidence = Evidence::default().over(large, |all, point| {
        let longest = point.seconds[2];
        all.note(format!("{}, n = {}: longest {longest:.3} s", point.family, point.jobs)).answer([longest < 2.0])
    });
    evidence.claim("4.2 par. 10, on Figure 7", "DEMT takes less than 2 s on the largest instances")
}
