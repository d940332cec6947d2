//! Selection of Pareto-optimal items.

/// Returns the items that are not dominated, sorted by figures. An item is dominated if another item is at least as
/// good in all figures, where smaller is better. Among items with equal figures, the first remains.
///
/// ```
/// use makespan_core::undominated;
///
/// let time_and_cost = [(5, 1), (2, 9), (3, 9), (2, 9), (4, 3)];
/// let best = undominated(time_and_cost.to_vec(), |&(time, cost)| [time, cost]);
/// assert_eq!(best, [(2, 9), (4, 3), (5, 1)]);
/// ```
pub fn undominated<T, const N: usize>(all: Vec<T>, figures: impl Fn(&T) -> [i128; N]) -> Vec<T> {
    let mut rated: Vec<([i128; N], T)> = all.into_iter().map(|one| (figures(&one), one)).collect();
    rated.sort_by_key(|(own, _)| *own);
    let mut kept: Vec<([i128; N], T)> = Vec::new();
    for (own, one) in rated {
        let is_met = |(other, _): &([i128; N], T)| other.iter().zip(&own).all(|(other, own)| other <= own);
        if !kept.iter().any(is_met) {
            kept.push((own, one));
        }
    }
    kept.into_iter().map(|(_, one)| one).collect()
}
