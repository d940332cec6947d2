//! Reads the needs of a job: lists of trackable resources, such as `cpu=2,mem=4G,gres/gpu=1`, and requested memory.

use makespan_core::{Need, Resource};

use super::columns::SacctColumns;
use super::values::count;
use crate::needs::memory;

/// Names and amounts of resources.
type Amounts = Vec<(String, Need)>;

/// Returns the needs of the job in these cells, and whether a need is unreadable. Allocated amounts take precedence
/// over requested amounts. The column of requested memory is used only if no list contains memory.
pub(super) fn needs(columns: &SacctColumns, cells: &[&str]) -> (Amounts, bool) {
    let mut broken = false;
    let mut amounts: Amounts = Vec::new();
    for &column in &columns.lists {
        let (list, wrong) = listed(cells[column]);
        broken |= wrong;
        let new: Amounts =
            list.into_iter().filter(|(name, _)| amounts.iter().all(|(known, _)| known != name)).collect();
        amounts.extend(new);
    }
    let named = amounts.iter().any(|(name, _)| name == Resource::MEMORY);
    if let Some(column) = columns.memory.filter(|_| !named) {
        let nodes = columns.nodes.iter().find_map(|&column| count(cells[column]).ok().flatten());
        match requested(cells[column], nodes.map_or(1, i64::unsigned_abs).max(1)) {
            Ok(need) => amounts.extend(need.map(|need| (Resource::MEMORY.to_owned(), need))),
            Err(()) => broken = true,
        }
    }
    (amounts, broken)
}

/// Returns the resources of a list, with the resource names of Makespan, and whether an amount is unreadable. Entries
/// that are not resources of machines, such as `billing`, are ignored.
fn listed(cell: &str) -> (Amounts, bool) {
    let mut broken = false;
    // For each entry: the name, whether a type follows the name after a colon (as in `gpu:tesla`), and the amount. An
    // entry without a type states the sum over all types.
    let mut found: Vec<(&str, bool, u64)> = Vec::new();
    for (key, value) in cell.split(',').filter_map(|part| part.trim().split_once('=')) {
        let name = match key.split_once('/') {
            None if key == "mem" => Resource::MEMORY,
            Some(("gres" | "license", name)) if !name.is_empty() => name,
            _ => continue,
        };
        let (name, typed) = name.split_once(':').map_or((name, false), |(name, _)| (name, true));
        let name = if name == "gpu" { Resource::GPUS } else { name };
        let amount = if name == Resource::MEMORY { memory(value) } else { value.parse().ok() };
        match amount.filter(|&amount| i64::try_from(amount).is_ok()) {
            Some(amount) => found.push((name, typed, amount)),
            None => broken = true,
        }
    }
    let mut amounts: Vec<(String, u64)> = Vec::new();
    for &(name, typed, amount) in &found {
        if typed && found.iter().any(|other| other.0 == name && !other.1) {
            continue;
        }
        match amounts.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) if typed => *sum = sum.saturating_add(amount).min(i64::MAX as u64),
            Some(_) => {}
            None => amounts.push((name.to_owned(), amount)),
        }
    }
    (
        amounts
            .into_iter()
            .filter(|(_, amount)| *amount > 0)
            .map(|(name, amount)| (name, Need::whole(amount)))
            .collect(),
        broken,
    )
}

/// Returns the requested memory. From version 21.08 on, Slurm states the memory of the whole job. Earlier versions
/// state the memory for each node (`4Gn`) or for each processor (`4Gc`). The value 0 requests all memory of the nodes.
/// The dump does not state this amount, so the result is `None`.
fn requested(cell: &str, nodes: u64) -> Result<Option<Need>, ()> {
    if matches!(cell, "" | "0" | "0n" | "0c" | "?" | "Unknown" | "None" | "N/A") {
        return Ok(None);
    }
    let (text, suffix) = match cell.strip_suffix(['n', 'c']) {
        Some(text) => (text, cell.as_bytes().last()),
        None => (cell, None),
    };
    let amount = memory(text).filter(|&amount| i64::try_from(amount).is_ok()).ok_or(())?;
    let whole = |amount: u64| Need::whole(amount.min(i64::MAX as u64));
    Ok((amount > 0).then(|| match suffix {
        Some(b'n') => whole(amount.saturating_mul(nodes)),
        Some(_) => Need::per_processor(amount),
        None => whole(amount),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_with_its_letters() {
        let gib = |count: u64| count << 30;
        assert_eq!((memory("4G"), memory("2000M"), memory("16")), (Some(gib(4)), Some(2000 << 20), Some(16 << 20)));
        assert_eq!((memory("1.5G"), memory("0"), memory("3T")), (Some(3 << 29), Some(0), Some(3 << 40)));
        for bad in ["", "G", "-4G", "4 G", "4GB", "nan", "1e3", "inf", "4g"] {
            assert_eq!(memory(bad), None, "{bad}");
        }
        assert_eq!(requested("4Gn", 3), Ok(Some(Need::whole(gib(12)))));
        assert_eq!(requested("4Gc", 3), Ok(Some(Need::per_processor(gib(4)))));
        assert_eq!((requested("4G", 3), requested("0n", 3)), (Ok(Some(Need::whole(gib(4)))), Ok(None)));
        assert_eq!(requested("much", 1), Err(()));
    }

    #[test]
    fn lists_name_resources() {
        let listed = |cell: &str| {
            let (amounts, broken) = listed(cell);
            (amounts.into_iter().map(|(name, need)| (name, need.total(1))).collect::<Vec<_>>(), broken)
        };
        let pair = |name: &str, amount| (name.to_owned(), amount);
        let gpus = "billing=4,cpu=4,gres/gpu:tesla=2,gres/gpu=3,mem=8G,node=1,license/ansys=5";
        assert_eq!(listed(gpus), (vec![pair("gpus", 3), pair("memory", 8 << 30), pair("ansys", 5)], false));
        assert_eq!(listed("gres/gpu:a=2,gres/gpu:b=1,gres/fpga=0"), (vec![pair("gpus", 3)], false));
        assert_eq!(listed("mem=x,gres/gpu=-1,gres/=3,energy=99"), (vec![], true));
        assert_eq!(listed(""), (vec![], false));
    }
}
