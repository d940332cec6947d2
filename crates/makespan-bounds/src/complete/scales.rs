//! Dual-feasible scales of the processors: further supplies, of which each task holds an amount that depends on its
//! processors.

use super::engine::log::Log;
use super::model::Model;

/// Maximum number of processors, and maximum number of scales.
const MAX_PROCESSORS: i64 = 64;
const MAX_SCALES: usize = 16;

/// Adds scales to the supplies: for each k up to half of the processors, the scale of S. Martello and P. Toth, which
/// rounds widths below k down to 0 and widths above m - k up to m; and scales of S. P. Fekete and J. Schepers (DOI
/// 10.1007/s101070100243) with few steps. A scale that agrees with an earlier one on all widths is omitted.
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

/// Returns, for each number of processors, the maximum sum of the scale over widths that add up to at most this number.
fn most_within(scale: &[i64]) -> Vec<i64> {
    let mut most = vec![0; scale.len()];
    for size in 1..scale.len() {
        most[size] = (1..=size).map(|width| most[size - width] + scale[width]).max().unwrap_or(0);
    }
    most
}
