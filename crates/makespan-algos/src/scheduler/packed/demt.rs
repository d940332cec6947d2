//! DEMT for tasks of any kind: batches of doubling lengths are filled with tasks of high weight.

use makespan_core::{Instance, Schedule, Unsupported};

use super::{carried_out, packing, repaired};
use crate::kernel::packing::{Packing, Row};

/// Selects batches as in [`crate::kernel::doubling`], and plans all batches as one list. The predecessors of a task
/// must be in earlier batches. Tasks are added to a batch by decreasing weight over area, if they fit into the
/// remaining area of the batch. Each task gets the allotment of least area with which it is at most as long as the
/// batch.
pub(in crate::scheduler) fn in_batches(instance: &Instance) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let (mut choices, batches) = select(&packing);
    choices = repaired(&packing, choices)?;
    let value = |row: Row| weight(&packing, row) / packing.area(choices[row.index()]).max(f64::MIN_POSITIVE);
    let mut rows: Vec<Row> = packing.rows().collect();
    rows.sort_by(|a, b| {
        let batch = batches[a.index()].cmp(&batches[b.index()]);
        batch.then(value(*b).total_cmp(&value(*a))).then(a.cmp(b))
    });
    let mut places = vec![0.0; rows.len()];
    rows.iter().enumerate().for_each(|(place, row)| places[row.index()] = place as f64);
    carried_out(&packing, &packing.list(&choices, |row| places[row.index()]), false)
}

/// Returns an allotment and a batch for each row. A row is a task or the equal tasks of a bag.
fn select(packing: &Packing<'_>) -> (Vec<u32>, Vec<u32>) {
    let instance = packing.instance();
    let count = packing.rows().len();
    let (mut choices, mut batches) = (packing.fewest(), vec![u32::MAX; count]);
    let shortest = |row: Row| packing.choices_of(row).map(|choice| packing.fastest(choice)).min().unwrap_or(1);
    let mut length = packing.rows().map(shortest).min().unwrap_or(1).max(1) as f64;
    let mut left: Vec<Row> = packing.rows().collect();
    let mut batch = 0;
    while !left.is_empty() {
        let ready = |row: Row| {
            let mut before = instance.incoming(packing.first_of(row)).map(|edge| packing.row_of(edge.from));
            before.all(|from| batches[from.index()] < batch)
        };
        let least = |row: Row| {
            let short = packing.choices_of(row).filter(|&choice| packing.fastest(choice) as f64 <= length);
            short.min_by(|&a, &b| packing.area(a).total_cmp(&packing.area(b)))
        };
        let mut candidates: Vec<(f64, f64, Row, u32)> = left
            .iter()
            .filter(|row| ready(**row))
            .filter_map(|&row| {
                let choice = least(row)?;
                let area = packing.area(choice) * f64::from(packing.count_of(row));
                Some((weight(packing, row) / area.max(f64::MIN_POSITIVE), area, row, choice))
            })
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        let mut room = length;
        let mut first = true;
        for (_, area, row, choice) in candidates {
            // If a row of equal tasks has a larger area than a batch, add the row only as the first row of its batch.
            if area <= room || first {
                room -= area;
                choices[row.index()] = choice;
                batches[row.index()] = batch;
                first = false;
            }
        }
        left.retain(|row| batches[row.index()] == u32::MAX);
        batch += 1;
        length *= 2.0;
    }
    (choices, batches)
}

/// Returns the weight of all tasks of a row of equal tasks.
fn weight(packing: &Packing<'_>, row: Row) -> f64 {
    packing.instance().weight(packing.first_of(row)).as_f64() * f64::from(packing.count_of(row))
}
