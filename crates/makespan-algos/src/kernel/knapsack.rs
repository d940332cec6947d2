//! The 0/1 knapsack that fills a batch with tasks of high weight.

/// An item that may be put into a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Number of processors.
    pub width: u32,
    /// Value of the item.
    pub value: u64,
}

/// Maximum number of entries of the table. If the table would have more entries, items are chosen greedily by value
/// per processor.
const MAX_ENTRIES: usize = 1 << 28;

/// Chooses items with a total width of at most `capacity` and the largest total value. The result states for each item
/// whether it is chosen.
///
/// Uses integer dynamic programming in O(items x capacity). If the table would have more than 2^28 entries, items are
/// chosen by decreasing value per processor. In this case, the total value may be below the maximum, but by at most
/// the value of one item.
pub fn choose(items: &[Item], capacity: u32) -> Vec<bool> {
    let total: u64 = items.iter().map(|item| u64::from(item.width)).sum();
    if total <= u64::from(capacity) {
        return vec![true; items.len()];
    }
    if items.len().saturating_mul(capacity as usize + 1) > MAX_ENTRIES {
        return by_density(items, capacity);
    }
    let columns = capacity as usize + 1;
    let words = columns.div_ceil(64);
    let mut best = vec![0_u64; columns];
    let mut taken = vec![0_u64; items.len() * words];
    for (item, row) in items.iter().zip(taken.chunks_exact_mut(words)) {
        let width = item.width as usize;
        for column in (width..columns).rev() {
            let with = best[column - width] + item.value;
            if with > best[column] {
                best[column] = with;
                row[column / 64] |= 1 << (column % 64);
            }
        }
    }
    let mut chosen = vec![false; items.len()];
    let mut column = columns - 1;
    for (index, item) in items.iter().enumerate().rev() {
        if taken[index * words + column / 64] >> (column % 64) & 1 == 1 {
            chosen[index] = true;
            column -= item.width as usize;
        }
    }
    chosen
}

fn by_density(items: &[Item], capacity: u32) -> Vec<bool> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let cross = |a: usize, b: usize| u128::from(items[a].value) * u128::from(items[b].width);
    order.sort_unstable_by(|&a, &b| cross(b, a).cmp(&cross(a, b)).then(a.cmp(&b)));
    let mut chosen = vec![false; items.len()];
    let mut left = capacity;
    for index in order {
        if items[index].width <= left {
            left -= items[index].width;
            chosen[index] = true;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_choice_is_the_best_of_all(raw in proptest::collection::vec((1_u32..6, 0_u64..20), 0..10), capacity in 0_u32..15) {
            let items: Vec<Item> = raw.iter().map(|&(width, value)| Item { width, value }).collect();
            let worth = |chosen: &dyn Fn(usize) -> bool| {
                let taken = || items.iter().enumerate().filter(|(index, _)| chosen(*index)).map(|(_, item)| item);
                (taken().map(|item| item.width).sum::<u32>() <= capacity).then(|| taken().map(|item| item.value).sum::<u64>())
            };
            let best = (0_u32..1 << items.len()).filter_map(|mask| worth(&|index| mask >> index & 1 == 1)).max();
            let exact = choose(&items, capacity);
            prop_assert_eq!(worth(&|index| exact[index]), best);
            let greedy = by_density(&items, capacity);
            prop_assert!(worth(&|index| greedy[index]).is_some());
        }
    }
}
