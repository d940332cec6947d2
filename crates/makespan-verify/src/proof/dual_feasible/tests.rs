use super::*;
use makespan_core::{Job, Platform, ProcSet, Profile, Unavailable};

fn ticks(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

fn instance(processors: u32, rigid: &[(u32, i64)], closed: &[(&str, i64, i64)]) -> Instance {
    let job = |(index, &(width, time)): (usize, &(u32, i64))| {
        Job::new(index.to_string(), Profile::rigid(width, ticks(time)).unwrap())
    };
    let period = |&(ids, start, end): &(&str, i64, i64)| {
        let processors: ProcSet = ids.parse().unwrap();
        Unavailable { processors, start: ticks(start), end: ticks(end) }
    };
    let jobs = rigid.iter().enumerate().map(job).collect();
    Instance::new(Platform::flat(processors).unwrap(), jobs, closed.iter().map(period).collect()).unwrap()
}

fn steps(steps: &[(i64, u32)]) -> Scale {
    Scale::Steps(steps.to_vec())
}

fn term(price: i64, widths: Scale, times: Scale) -> Term {
    Term { price, widths, times }
}

fn refutes(deadline: i64, terms: &[Term], instance: &Instance) -> bool {
    let certificate = DualFeasible { deadline: ticks(deadline), from: Time::ZERO, terms: terms.to_vec() };
    match certificate.proves(instance) {
        Ok(proven) => {
            assert_eq!(proven, i128::from(deadline) + 1);
            true
        }
        Err(CertificateError::NotRefuted { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn widths_just_over_a_third_leave_two_at_a_time() {
    // Five jobs of width 4 on 10 processors: only two of them can run at the same time, so the optimum is 30. A bound
    // by area alone, or by jobs that cross an instant (`Rejection`), is only 20.
    let five = instance(10, &[(4, 10); 5], &[]);
    let third = [term(1, steps(&[(4, 1)]), Scale::Whole)];
    assert!(refutes(24, &third, &five));
    assert!(!refutes(25, &third, &five));
    // No three jobs fit one after the other into 29. This proof combines a function of the width with a function of the
    // time.
    let both = [term(1, steps(&[(4, 1)]), steps(&[(10, 1)]))];
    assert!(refutes(29, &both, &five));
    assert!(!refutes(30, &both, &five));
}

#[test]
fn times_just_over_a_third_leave_two_in_a_row() {
    // Five jobs of width 1 and time 10 on 2 processors: some processor runs three of them one after the other.
    let five = instance(2, &[(1, 10); 5], &[]);
    assert!(refutes(29, &[term(1, Scale::Whole, steps(&[(10, 1)]))], &five));
    assert!(!refutes(30, &[term(1, Scale::Whole, steps(&[(10, 1)]))], &five));
}

#[test]
fn a_job_pays_for_the_terms_together() {
    // A job takes 12 on one processor and 7 on two. The cost of a job is the sum of two terms: one for the area, and
    // one for jobs that run one after the other. The first term is smaller for the slow allotment, and the second term
    // is smaller for the fast allotment. So neither term alone refutes the deadline.
    let table = |index: usize| Job::new(index.to_string(), Profile::table(vec![ticks(12), ticks(7)]).unwrap());
    let four = Instance::new(Platform::flat(3).unwrap(), (0..4).map(table).collect(), vec![]).unwrap();
    let area = term(1, Scale::Whole, Scale::Whole);
    let chain = |price| term(price, Scale::Whole, steps(&[(9, 1)]));
    assert!(!refutes(16, std::slice::from_ref(&area), &four));
    assert!(!refutes(16, &[chain(1)], &four));
    assert!(refutes(16, &[area.clone(), chain(2)], &four));
    assert!(!refutes(17, &[area, chain(2)], &four));
}

#[test]
fn closed_processors_count_as_jobs() {
    // From 5 to 15, two of three processors are closed, so that no job on two processors can run.
    let closed = instance(3, &[(2, 6), (2, 6)], &[("0-1", 5, 15)]);
    let wide = |times| [term(1, steps(&[(2, 1)]), times)];
    assert!(refutes(21, &wide(Scale::Whole), &closed));
    assert!(!refutes(22, &wide(Scale::Whole), &closed));
    // The two jobs and the closed period each take at least 6, and no two of them overlap. So this certificate refutes
    // every deadline below 18.
    assert!(refutes(17, &wide(steps(&[(6, 1)])), &closed));
    assert!(!refutes(18, &wide(steps(&[(6, 1)])), &closed));
}

#[test]
fn laws_on_many_processors_are_grouped_safely() {
    let law = |index: usize| {
        let law = makespan_core::SpeedupLaw::Amdahl { serial: 0.1 };
        Job::new(index.to_string(), Profile::law(ticks(1_000_000), law, 1, 3000).unwrap())
    };
    let instance = Instance::new(Platform::flat(3000).unwrap(), (0..9).map(law).collect(), vec![]).unwrap();
    let rate = |widths| [term(1, widths, steps(&[(60_000, 1)]))];
    // The job takes at least 100300 ticks, even on all 3000 processors, so the deadline of 100000 is impossible.
    assert!(refutes(100_000, &rate(Scale::Whole), &instance));
    for widths in [Scale::Whole, steps(&[(1, 1), (1000, 1000)])] {
        assert!(!refutes(900_300, &rate(widths), &instance));
    }
}

#[test]
fn malformed_certificates_prove_nothing() {
    let instance = instance(2, &[(1, 10)], &[]);
    let good = || vec![term(1, Scale::Whole, steps(&[(5, 1)]))];
    let made = |deadline: i64, from: i64, terms: Vec<Term>| {
        DualFeasible { deadline: ticks(deadline), from: ticks(from), terms }.proves(&instance)
    };
    assert!(matches!(made(11, 0, good()), Err(CertificateError::NotRefuted { .. })));
    assert_eq!(made(0, 0, vec![]), Ok(0));
    let bad = [
        made(9, 9, good()),
        made(9, -1, good()),
        made(-9, -10, good()),
        made(9, 0, vec![]),
        made(9, 0, vec![term(-1, Scale::Whole, Scale::Whole)]),
        made(9, 0, vec![term(1, Scale::Whole, Scale::Whole); 17]),
        made(9, 0, vec![term(1, steps(&[]), Scale::Whole)]),
        made(9, 0, vec![term(1, steps(&[(0, 1)]), Scale::Whole)]),
        made(9, 0, vec![term(1, steps(&[(1, 0)]), Scale::Whole)]),
        made(9, 0, vec![term(1, Scale::Whole, steps(&[(2, 2), (2, 3)]))]),
        made(9, 0, vec![term(1, Scale::Whole, steps(&[(2, 2), (3, 2)]))]),
    ];
    let fine = made(i64::MAX, 0, vec![term(1, Scale::Whole, steps(&[(1, 1)]))]);
    assert!(matches!(fine, Err(CertificateError::Unproved(_))), "{fine:?}");
    for result in bad {
        assert!(matches!(result, Err(CertificateError::Malformed(_))), "{result:?}");
    }
}

#[test]
fn figures_too_large_are_an_error() {
    let instance = instance(2, &[(1, 10)], &[]);
    let terms = vec![term(i64::MAX, steps(&[(1, u32::MAX)]), Scale::Whole); 2];
    let huge = DualFeasible { deadline: Time::MAX, from: Time::ZERO, terms };
    assert_eq!(huge.proves(&instance), Err(CertificateError::Overflow));
}
