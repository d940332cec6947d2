//! Scales: additional supplies that follow from other supplies. A scale of a supply S is an additional supply with its
//! own amount for each task and mode. If tasks fit into S together, these tasks also fit into each scale of S.

use super::engine::log::Log;
use super::model::Model;
use super::supply::Supply;
use super::task::ModelTask;

/// Supplies with a larger amount than this maximum get no scales.
const MAX_AMOUNT: i64 = 64;
/// Maximum number of scales of one supply, and maximum number of scales of all supplies together.
const MAX_SCALES: (usize, usize) = (12, 16);
/// Approximate maximum number of elementary steps to find the scales of a supply.
const MAX_WORK: usize = 1 << 27;
/// Maximum number of steps of a scale that rounds amounts down to a few steps.
const MAX_STEPS: i64 = 5;

/// The amount that each task holds in each mode.
pub(super) type Held = Vec<Vec<i64>>;

/// A scale of a supply, or a lifted scale, which follows from all supplies, nodes and waits together.
pub(super) struct Scale {
    /// The supply to which this scale belongs, or `None` for a lifted scale.
    supply: Option<usize>,
    /// The capacity of the scale for each amount of the supply ([`most_within`]). A lifted scale has only one capacity.
    most: Vec<i64>,
    held: Held,
}

impl Scale {
    /// Creates a lifted scale with the capacity `most`.
    pub(super) fn lifted(held: Held, most: i64) -> Self {
        Self { supply: None, most: vec![most], held }
    }
}

/// Returns, for each supply, the scales that prove the largest bounds. Let m be the capacity of the supply. A scale is
/// made in two steps:
///
/// * First, a function maps each amount that a task holds to another amount. For each k up to m / 2, the function of
///   S. Martello and P. Toth maps amounts below k to 0, and amounts above m - k to m. The functions of S. P. Fekete
///   and J. Schepers (DOI 10.1007/s101070100243) round amounts down to a few steps.
/// * Then the amounts are raised, task by task, as far as the capacity of the scale allows. The longest task comes
///   first. The capacity of a scale is the maximum sum of its amounts over tasks that fit into the supply together (J.
///   Carlier, E. Néron, DOI 10.1016/S0377-2217(02)00763-4).
pub(super) fn all(model: &Model) -> Vec<Scale> {
    let own = model.supplies.len();
    let count = MAX_SCALES.0.min((MAX_SCALES.1 / own).max(2));
    (0..own).flat_map(|supply| best(model, supply, count)).collect()
}

/// Adds scales as supplies to a model. Lifted scales come last.
pub(super) fn add(scales: &[Scale], model: &mut Model, log: &mut Log) {
    model.lifted = model.own + scales.iter().filter(|scale| scale.supply.is_some()).count();
    for Scale { supply, most, held } in scales {
        log.scale(*supply, held);
        let scaled = match *supply {
            Some(supply) => model.supplies[supply].mapped(|amount| most[amount as usize]),
            None => Supply::new(most[0], &[]),
        };
        model.supplies.push(scaled);
        model.tasks.iter_mut().zip(held).for_each(|(task, held)| task.amounts.push(held.clone()));
    }
}

/// Returns at most `count` scales of a supply: the scales that prove the largest bounds. Returns no scales if the search
/// would take more than `MAX_WORK` steps.
fn best(model: &Model, supply: usize, count: usize) -> Vec<Scale> {
    let most = model.supplies[supply].most();
    let own: Held = model.tasks.iter().map(|task| task.amounts[supply].clone()).collect();
    if !(2..=MAX_AMOUNT).contains(&most) || own.iter().flatten().all(|&amount| amount <= 1) {
        return Vec::new();
    }
    let cells = own.len() * own.iter().map(Vec::len).sum::<usize>() * most as usize;
    if cells * (most / 2 + MAX_STEPS) as usize > MAX_WORK {
        return Vec::new();
    }
    let threshold = |least: i64, amount: i64| match amount {
        _ if amount > most - least => most,
        _ if amount < least => 0,
        _ => amount,
    };
    let rounded = |steps: i64, amount: i64| (((steps + 1) * amount + most - 1) / most - 1).max(0);
    let mapped = |function: &dyn Fn(i64) -> i64| -> Held {
        own.iter().map(|amounts| amounts.iter().map(|&amount| function(amount.min(most))).collect()).collect()
    };
    let thresholds = (1..=most / 2).map(|least| mapped(&|amount| threshold(least, amount)));
    let rounded = (1..=MAX_STEPS.min(most - 1)).map(|steps| mapped(&|amount| rounded(steps, amount)));
    let mut order: Vec<usize> = (0..own.len()).collect();
    order.sort_by_key(|&task| (std::cmp::Reverse(model.tasks[task].shortest()), task));
    let mut found: Vec<(f64, Vec<i64>, Held)> = Vec::new();
    for mut held in thresholds.chain(rounded) {
        raise(&mut held, &own, most as usize, &order);
        if held != own && found.iter().all(|other| other.2 != held) {
            let sums = most_within(&held, &own, most as usize, None);
            found.push((area(model, &held) / sums[most as usize].max(1) as f64, sums, held));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().take(count).map(|(_, most, held)| Scale { supply: Some(supply), most, held }).collect()
}

/// Raises the amounts of the scale for one task after the other, as far as possible without raising the capacity of the
/// scale.
fn raise(held: &mut Held, own: &Held, most: usize, order: &[usize]) {
    let all = most_within(held, own, most, None)[most];
    for &task in order {
        let others = most_within(held, own, most, Some(task));
        for (held, &own) in held[task].iter_mut().zip(&own[task]) {
            if (1..=most).contains(&(own as usize)) {
                *held = all - others[most - own as usize];
            }
        }
    }
}

/// Returns a table. Consider all sets of tasks, without the task `except`, that together hold at most c of the supply.
/// Entry c is the maximum, over these sets, of the sum of the amounts of the scale.
fn most_within(held: &Held, own: &Held, most: usize, except: Option<usize>) -> Vec<i64> {
    let mut sums = vec![0; most + 1];
    for (_, (held, own)) in held.iter().zip(own).enumerate().filter(|one| Some(one.0) != except) {
        let before = sums.clone();
        for (&held, &own) in held.iter().zip(own) {
            for size in own as usize..=most {
                sums[size] = sums[size].max(before[size - own as usize] + held);
            }
        }
    }
    sums
}

/// Returns the sum over all tasks of their least areas. The least area of a task is the minimum over its modes of the
/// time multiplied by the amount of the scale.
pub(super) fn area(model: &Model, held: &Held) -> f64 {
    let least = |(task, held): (&ModelTask, &Vec<i64>)| {
        task.times.iter().zip(held).map(|(time, held)| time * held).min().unwrap_or(0) as f64
    };
    model.tasks.iter().zip(held).map(least).sum()
}
