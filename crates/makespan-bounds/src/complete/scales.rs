//! Dual-feasible scales of the processors. Each scale is a further supply, and each task holds an amount of this
//! supply that depends on its number of processors.

use super::engine::log::Log;
use super::model::Model;

/// Maximum number of processors for which scales are added.
const MAX_PROCESSORS: i64 = 64;
/// Maximum number of scales.
const MAX_SCALES: usize = 16;

/// Adds scales to the supplies. Let m be the number of processors. For each k up to m / 2, the scale of S. Martello
/// and P. Toth rounds widths below k down to 0 and widths above m - k up to m. The scales of S. P. Fekete and J.
/// Schepers (DOI 10.1007/s101070100243) have few steps. A scale is omitted if every task holds the same amounts as in
/// an earlier scale.
pub(super) fn add(model: &mut Model, log: &mut Log) {
    let processors = model.supplies[0].most();
    if processors > MAX_PROCESSORS || model.tasks.iter().all(|task| task.allotments == [1]) {
        return;
    }
    let threshold = (1..=processors / 2).map(|least| {
        let value = move |width: i64| match width {
            _ if width > processors - least => processors,
            _ if width < least => 0,
            _ => width,
        };
        (0..=processors).map(value).collect::<Vec<i64>>()
    });
    let rounded = (1..=3.min(processors - 1)).map(|steps| {
        let value = |width: i64| ((steps + 1) * width + processors - 1) / processors - 1;
        (0..=processors).map(|width| value(width).max(0)).collect::<Vec<i64>>()
    });
    let amounts = |model: &Model, scale: &[i64]| -> Vec<Vec<i64>> {
        let of = |task: &super::model::ModelTask| {
            task.allotments.iter().map(|&width| scale.get(width as usize).copied().unwrap_or(0)).collect()
        };
        model.tasks.iter().map(of).collect()
    };
    let widths: Vec<i64> = (0..=processors).collect();
    let mut known = vec![amounts(model, &widths)];
    for scale in threshold.chain(rounded) {
        let own = amounts(model, &scale);
        if known.len() > MAX_SCALES || known.contains(&own) {
            continue;
        }
        let most = most_within(&scale);
        log.scale(most[most.len() - 1], &scale[1..]);
        let supply = model.supplies[0].mapped(|open| most[open as usize]);
        model.supplies.push(supply);
        for (task, own) in model.tasks.iter_mut().zip(&own) {
            task.amounts.push(own.clone());
        }
        known.push(own);
    }
}

/// Returns, for each number of processors n, the maximum sum of the scaled widths over all multisets of widths whose
/// sum is at most n.
fn most_within(scale: &[i64]) -> Vec<i64> {
    let mut most = vec![0; scale.len()];
    for size in 1..scale.len() {
        most[size] = (1..=size).map(|width| most[size - width] + scale[width]).max().unwrap_or(0);
    }
    most
}
