use std::num::NonZeroU64;

use dashu_ratio::RBig;
use makespan_core::tree::{OptimumError, TreeProblem, decimal_of};
use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time, Weight};
use makespan_verify::proof::TreePrices;
use proptest::prelude::*;

use super::*;

/// A node: processors, speed, parent and bandwidth. The first entry of a list is the root.
type Figures = (u32, f64, usize, f64);

fn problem(nodes: &[Figures], applications: &[(i64, u64, u64)]) -> TreeProblem {
    late(nodes, &vec![0; nodes.len()], applications)
}

/// Returns a problem with latencies. `latencies` are in quarters of a second.
fn late(nodes: &[Figures], latencies: &[u32], applications: &[(i64, u64, u64)]) -> TreeProblem {
    let node = |(at, &(processors, speed, parent, bandwidth)): (usize, &Figures)| {
        let parent = (at > 0).then_some(parent % at.max(1));
        let latency = Time::from_ticks(i64::from(latencies[at]) * 250_000_000);
        let link = parent.map(|_| Link { bandwidth, latency });
        Node { speed, parent, link, ..Node::new(at.to_string(), processors) }
    };
    let nodes: Vec<Node> = nodes.iter().enumerate().map(node).collect();
    let job = |(at, &(work, data, weight)): (usize, &(i64, u64, u64))| {
        let job = Job::new(at.to_string(), Profile::rigid(1, Time::from_seconds(work)).unwrap());
        let job = job.with_count(NonZeroU64::new(9).unwrap()).with_data(data);
        job.with_weight(Weight::from_millionths(weight * 500_000).unwrap())
    };
    let jobs = applications.iter().enumerate().map(job).collect();
    TreeProblem::new(&Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap()).unwrap()
}

fn trees(most: usize) -> impl Strategy<Value = TreeProblem> {
    let node = (0_u32..3, 1_u32..7, 0_usize..64, 1_u32..9);
    let node = node.prop_map(|(processors, speed, parent, bandwidth)| {
        (processors, f64::from(speed) / 2.0, parent, f64::from(bandwidth) / 4.0)
    });
    // Half of the links have no latency.
    let node = (node, prop_oneof![Just(0), 0_u32..6]);
    let nodes = prop::collection::vec(node, 1..most).prop_map(|mut nodes| {
        let idle = nodes.iter().all(|(node, _)| node.0 == 0);
        nodes[0].0.0 = nodes[0].0.0.max(u32::from(idle));
        nodes
    });
    let applications = prop::collection::vec((1_i64..5, 0_u64..5, 1_u64..4), 1..4);
    (nodes, applications).prop_map(|(nodes, applications)| {
        let (nodes, latencies): (Vec<Figures>, Vec<u32>) = nodes.into_iter().unzip();
        late(&nodes, &latencies, &applications)
    })
}

/// Solves programme (3) in rationals. Writes out the programme row by row, and uses a plain simplex method on a dense
/// tableau with Bland's rule. This method shares no code with the method under test.
fn plain_optimum(problem: &TreeProblem) -> RBig {
    let (nodes, apps) = (problem.nodes(), problem.applications());
    let (n, k) = (nodes.len(), apps.len());
    let columns = n * k + 1;
    let mut rows: Vec<(Vec<RBig>, RBig)> = Vec::new();
    for (at, app) in apps.iter().enumerate() {
        let mut row = vec![RBig::ZERO; columns];
        (0..n).for_each(|node| row[node * k + at] = -RBig::ONE);
        row[n * k] = app.weight.clone();
        rows.push((row, RBig::ZERO));
    }
    for node in 0..n {
        let mut row = vec![RBig::ZERO; columns];
        (0..k).for_each(|at| row[node * k + at] = apps[at].work.clone());
        rows.push((row, problem.capacity(node)));
    }
    for port in 0..n {
        let mut row = vec![RBig::ZERO; columns];
        for worker in 0..n {
            // Walk from the worker towards the root. If the walk reaches a child of this port, the port sends the work
            // of the worker to this child.
            let mut at = worker;
            while let Some(parent) = nodes[at].parent {
                if parent == port {
                    let latency = RBig::from(nodes[at].latency.ticks()) / RBig::from(1_000_000_000_u64);
                    (0..k).for_each(|app| row[worker * k + app] = &latency + &apps[app].data / &nodes[at].bandwidth);
                }
                at = parent;
            }
        }
        rows.push((row, RBig::ONE));
    }
    let mut objective = vec![RBig::ZERO; columns];
    objective[n * k] = RBig::ONE;
    plain_simplex(rows, objective)
}

/// Maximises the objective under `row . x <= right` for all rows and x >= 0. The right sides are not negative.
fn plain_simplex(rows: Vec<(Vec<RBig>, RBig)>, objective: Vec<RBig>) -> RBig {
    let (m, n) = (rows.len(), objective.len());
    let mut table: Vec<Vec<RBig>> = Vec::new();
    for (at, (row, right)) in rows.into_iter().enumerate() {
        let slack = (0..m).map(|other| if other == at { RBig::ONE } else { RBig::ZERO });
        table.push(row.into_iter().chain(slack).chain([right]).collect());
    }
    let mut gains: Vec<RBig> = objective.into_iter().chain((0..=m).map(|_| RBig::ZERO)).collect();
    let mut basis: Vec<usize> = (n..n + m).collect();
    while let Some(enters) = gains[..n + m].iter().position(|gain| *gain > RBig::ZERO) {
        let limit = |row: &Vec<RBig>| &row[n + m] / &row[enters];
        let rising = (0..m).filter(|&row| table[row][enters] > RBig::ZERO);
        let leaves = rising.min_by_key(|&row| (limit(&table[row]), basis[row])).expect("a bounded programme");
        let pivot = table[leaves][enters].clone();
        table[leaves].iter_mut().for_each(|entry| *entry = &*entry / &pivot);
        let line = table[leaves].clone();
        let others = table.iter_mut().enumerate().filter(|(row, _)| *row != leaves).map(|(_, row)| row);
        for row in others.chain([&mut gains]) {
            let factor = row[enters].clone();
            if !factor.is_zero() {
                row.iter_mut().zip(&line).for_each(|(entry, by)| *entry -= &factor * by);
            }
        }
        basis[leaves] = enters;
    }
    -gains[n + m].clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_exact_optimum_is_that_of_a_plain_simplex_method(problem in trees(7)) {
        let best = throughput(&problem, Precision::Exact);
        let optimum = best.optimum.expect("small trees are solved exactly");
        prop_assert_eq!(optimum.verify(&problem), Ok(()));
        prop_assert_eq!(&optimum.throughput, &plain_optimum(&problem));
        prop_assert!(best.bound >= optimum.throughput);
        prop_assert_eq!(best.prices.fair_throughput(&problem), Ok(best.bound));
    }

    #[test]
    fn slices_to_start_from_are_feasible(problem in trees(40)) {
        let figures: figures::Coefficients<f64> = figures::Coefficients::new(&problem, Some(&Scale::new(&problem)));
        let vertex = Vertex::new(&figures, start::slices(&figures)).expect("a basis");
        let solution = &vertex.solution;
        let least = solution.work.iter().chain(&solution.idle).chain(&solution.surplus).copied().fold(0.0, f64::min);
        prop_assert!(least.min(solution.throughput) > -1e-12, "{least}, {}", solution.throughput);
    }

    #[test]
    fn floats_are_feasible_and_nearly_proved(problem in trees(40)) {
        let best = throughput(&problem, Precision::Float);
        prop_assert_eq!(best.rates.fair_throughput(&problem), Ok(best.value.clone()));
        prop_assert!(best.gap() >= 0.0 && best.gap() < 1e-9, "{}", best.gap());
        let exact = throughput(&problem, Precision::Exact).optimum.expect("solved exactly");
        prop_assert!(best.value <= exact.throughput && exact.throughput <= best.bound);
    }

    #[test]
    fn alpha_fair_rates_are_proved_and_no_other_rates_have_more_utility(
        problem in trees(12), alpha in 1_u32..=10, weights in prop::collection::vec(1_u64..9, 3),
    ) {
        let found = alpha_fair(&problem, alpha).expect("the root computes all applications");
        prop_assert_eq!(found.fairness.excess(&problem, &found.rates), Ok(found.excess.clone()));
        prop_assert!(found.excess >= RBig::ZERO && float_of(&found.excess) < 1e-7, "{}", float_of(&found.excess));
        let totals = |rates: &Rates| rates.totals(&problem).iter().map(float_of).collect::<Vec<_>>();
        let utility = |rates: &Rates| -> f64 {
            let each = problem.applications().iter().zip(totals(rates)).map(|(app, total)| {
                let power = 1.0 - f64::from(alpha);
                float_of(&app.weight) * if alpha == 1 { total.ln() } else { total.powf(power) / power }
            });
            each.sum()
        };
        let directed = problem.with_weights(weights.iter().map(|&weight| RBig::from(weight)));
        let other = throughput(&directed, Precision::Exact).rates;
        // The utility is concave, so it exceeds the utility of the fair rates by at most the excess times their value.
        let value: f64 = problem.applications().iter().zip(totals(&found.rates))
            .map(|(app, total)| float_of(&app.weight) * total.powi(1 - alpha as i32)).sum();
        let most = utility(&found.rates) + value * (float_of(&found.excess) + 1e-9);
        prop_assert!(utility(&other) <= most, "{} > {most}", utility(&other));
    }

    #[test]
    fn any_prices_prove_a_bound_that_no_steady_state_passes(
        problem in trees(6), tasks in prop::collection::vec(0_u64..9, 3), ports in prop::collection::vec(0_u64..9, 6),
        exponent in -3_i32..3,
    ) {
        let (n, k) = (problem.nodes().len(), problem.applications().len());
        let prices = TreePrices { tasks: tasks[..k].to_vec(), ports: ports[..n].to_vec(), exponent };
        match prices.fair_throughput(&problem) {
            Ok(bound) => prop_assert!(bound >= plain_optimum(&problem)),
            Err(_) => prop_assert!(tasks[..k].iter().all(|&price| price == 0)),
        }
    }

    /// Checks proposition 1 of the paper, which assumes that all ratios and all bandwidths differ. Sort the workers by
    /// bandwidth, with the root first. Then the workers of each application are consecutive in the optimum with the
    /// least communication.
    #[test]
    fn on_a_star_every_application_has_a_slice_of_the_workers(
        root in (0_u32..2, 1_u32..9), workers in prop::collection::vec((1_u32..9, 1_u32..9), 1..9),
        applications in prop::collection::vec((1_i64..9, 1_u64..9, 1_u64..4), 1..5),
    ) {
        let mut nodes = vec![(root.0, f64::from(root.1), 0, 1.0)];
        // All bandwidths differ. The worker with the largest bandwidth comes first.
        let each = workers.iter();
        let mut bandwidth = 1.0;
        let mut slow: Vec<Figures> = each.map(|&(speed, more)| {
            bandwidth += f64::from(more);
            (1, f64::from(speed), 0, bandwidth)
        }).collect();
        slow.reverse();
        nodes.extend(slow);
        let mut applications = applications;
        applications.sort_by(|a, b| (b.1 * a.0 as u64).cmp(&(a.1 * b.0 as u64)));
        applications.dedup_by(|a, b| b.1 * a.0 as u64 == a.1 * b.0 as u64);
        let problem = problem(&nodes, &applications);
        let best = throughput(&problem, Precision::Exact);
        prop_assert!(best.optimum.is_some());
        let works = |node: usize, app: usize| !best.rates.of(node, app).is_zero();
        for app in 1..applications.len() {
            let last = (0..nodes.len()).rfind(|&node| works(node, app - 1));
            let first = (0..nodes.len()).find(|&node| works(node, app));
            prop_assert!(last.is_none() || first.is_none() || last <= first, "{:?}", best.rates);
        }
    }
}

/// Checks that the port of the root is busy for the latency plus the bytes divided by the bandwidth: ten seconds per
/// task.
#[test]
fn latency_takes_the_time_of_the_port() {
    let problem = late(&[(0, 1.0, 0, 1.0), (1, 1.0, 0, 1.0)], &[0, 36], &[(1, 1, 2)]);
    let best = throughput(&problem, Precision::Exact);
    assert_eq!((best.value.to_string(), best.gap() < 1e-12), ("1/10".into(), true));
    let gains: Vec<(NodePart, f64)> =
        upgrades(&problem, &best.rates, &best.prices).iter().map(|up| (up.part, up.gain)).collect();
    assert!(
        matches!(gains[..], [(NodePart::Latency, late), (NodePart::Link, wide)]
        if (late - 0.9).abs() < 1e-9 && (wide - 0.1).abs() < 1e-9),
        "{gains:?}"
    );
}

#[test]
fn extreme_trees_are_solved_exactly() {
    let check = |nodes: &[Figures], applications: &[(i64, u64, u64)], expect: &str| {
        let problem = problem(nodes, applications);
        let best = throughput(&problem, Precision::Exact);
        let optimum = best.optimum.expect("solved exactly");
        assert_eq!((optimum.verify(&problem), optimum.throughput.to_string()), (Ok(()), expect.into()));
    };
    // The cases are: one node, one switch above one node, no data, a very slow link, a very long tree, and a very wide
    // tree.
    check(&[(2, 1.5, 0, 1.0)], &[(1, 5, 2), (2, 0, 2)], "1");
    check(&[(0, 1.0, 0, 1.0), (3, 1.0, 0, 0.25)], &[(1, 1, 2)], "1/4");
    check(&[(1, 1.0, 0, 1.0), (3, 1.0, 0, 1e-9)], &[(1, 0, 2), (1, 0, 4)], "4/3");
    check(&[(1, 1.0, 0, 1.0), (3, 1.0, 0, 1e-9)], &[(2, 1, 2)], &(decimal_of(0.5) + decimal_of(1e-9)).to_string());
    let path: Vec<Figures> = (0..300).map(|at| (1, 1.0, at.max(1) - 1, 7.0)).collect();
    check(&path, &[(1, 1, 2)], "8");
    // Node 0 is the root and the parent of all other nodes.
    check(&[(1, 1.0, 0, 7.0); 300], &[(1, 1, 2)], "8");
}

#[test]
fn a_wrong_optimum_is_rejected() {
    let problem = problem(&[(1, 1.0, 0, 1.0), (2, 1.0, 0, 0.75), (1, 2.0, 1, 0.5)], &[(1, 1, 2), (3, 1, 2)]);
    let optimum = throughput(&problem, Precision::Exact).optimum.unwrap();
    let mut wrong = optimum.clone();
    wrong.throughput += decimal_of(1e-300);
    assert_eq!(wrong.verify(&problem), Err(OptimumError::Throughput));
    let mut wrong = optimum.clone();
    wrong.port_prices[0] += decimal_of(1e-300);
    assert_eq!(wrong.verify(&problem), Err(OptimumError::Prices));
    let more = optimum.rates.all().iter().map(|rate| rate * decimal_of(1.000_000_000_1)).collect();
    let wrong = Optimum { rates: Rates::new(2, more), ..optimum };
    assert!(matches!(wrong.verify(&problem), Err(OptimumError::Rates(_))));
}
