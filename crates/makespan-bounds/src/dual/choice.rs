//! Chooses the jobs that run at the middle of the schedule (that *cross* the middle). The choice is a knapsack
//! problem: the crossing jobs may hold at most a given number of processors in all.

use makespan_core::Area;

/// The least work and the least number of processors of one job under a deadline.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Least work if the job does not cross the middle, or `None` if the job must cross the middle.
    pub short: Option<Area>,
    /// Least work if the job is allowed to cross the middle.
    pub crossing: Area,
    /// Least number of processors if the job crosses the middle.
    pub width: u32,
}

/// A lower bound and an upper bound on the least total work of all jobs. The jobs that cross the middle may hold at
/// most a given number of processors.
#[derive(Clone, Debug)]
pub struct LeastWork {
    /// A lower bound on the total work, valid for every choice of crossing jobs.
    pub least: Area,
    /// The price of each processor that a crossing job holds, in processor-ticks. The Lagrangian sum at this price
    /// proves that `least` is a lower bound. `None` if only the solution of the knapsack problem proves the bound.
    pub price: Option<i64>,
    /// The total work of the best choice that was found, and, for each job, true if the job crosses in this choice.
    /// `None` if the jobs that must cross hold too many processors.
    pub found: Option<(Area, Vec<bool>)>,
}

/// Maximum number of entries in the table of the knapsack. If the table would be larger, the bound on the least work
/// uses only prices.
const MAX_ENTRIES: usize = 1 << 26;

/// Returns true if the knapsack table is small enough for this number of jobs and processors. Then [`super::search`]
/// refutes all deadlines below its guess.
pub fn is_exact(jobs: usize, processors: u32) -> bool {
    jobs.saturating_mul(processors as usize + 1) <= MAX_ENTRIES
}

/// A job that may cross the middle, with the work that the job saves by crossing.
struct Item {
    index: usize,
    width: u32,
    saves: Area,
}

/// Chooses which jobs cross the middle. The choice minimises the total work of all jobs.
///
/// First lets jobs cross in descending order of the work saved per processor, as long as they fit. This yields a choice
/// and a lower bound on the work. The work of the choice exceeds the lower bound by less than the saving of one job. If
/// `target` is between the lower bound and the work of the choice, a better choice may reach `target`. Then the
/// function solves the knapsack problem exactly, by dynamic programming over the processors in O(jobs * capacity),
/// unless the table would be too large.
pub fn choose(needs: &[Need], capacity: u32, target: Area) -> LeastWork {
    let mut crosses = vec![false; needs.len()];
    let mut base: Area = 0;
    let mut forced: u64 = 0;
    let mut items = Vec::new();
    for (index, need) in needs.iter().enumerate() {
        match need.short {
            None => {
                crosses[index] = true;
                forced += u64::from(need.width);
                base += need.crossing;
            }
            Some(short) => {
                base += short;
                if short > need.crossing && need.width <= capacity {
                    items.push(Item { index, width: need.width, saves: short - need.crossing });
                }
            }
        }
    }
    if forced > u64::from(capacity) {
        // At this price, a single processor above the capacity costs more than the whole area.
        let price = i64::try_from(target.saturating_add(1)).ok();
        return LeastWork { least: target.saturating_add(1), price, found: None };
    }
    let room = capacity - forced as u32;
    let (least, price) = fill_by_price(&mut items, room, base, &mut crosses);
    let work = base - items.iter().filter(|item| crosses[item.index]).map(|item| item.saves).sum::<Area>();
    let undecided = least <= target && target < work;
    if undecided && is_exact(items.len(), room) {
        let saved = knapsack(&items, room, &mut crosses);
        return LeastWork { least: base - saved, price: None, found: Some((base - saved, crosses)) };
    }
    LeastWork { least, price: Some(price), found: Some((work, crosses)) }
}

/// Lets items cross in descending order of the saving per processor, as long as they fit. Returns the lower bound on
/// the total work that the best integer price proves, and this price.
fn fill_by_price(items: &mut [Item], room: u32, base: Area, crosses: &mut [bool]) -> (Area, i64) {
    let wanted: u64 = items.iter().map(|item| u64::from(item.width)).sum();
    if wanted <= u64::from(room) {
        let saved: Area = items.iter().map(|item| item.saves).sum();
        items.iter().for_each(|item| crosses[item.index] = true);
        return (base - saved, 0);
    }
    // Floats are precise enough, because the densities only sort the items. The bound below is exact for every price.
    let density = |item: &Item| item.saves as f64 / f64::from(item.width);
    items.sort_unstable_by(|a, b| density(b).total_cmp(&density(a)).then(a.index.cmp(&b.index)));
    let mut left = room;
    let mut price = None;
    for item in items.iter() {
        if item.width <= left {
            left -= item.width;
            crosses[item.index] = true;
        } else if price.is_none() {
            price = Some(item.saves / Area::from(item.width));
        }
    }
    let price = price.unwrap_or(0);
    let bound = |price: Area| {
        let gain: Area = items.iter().map(|item| (item.saves - price * Area::from(item.width)).max(0)).sum();
        base - gain - price * Area::from(room)
    };
    // The bound is concave in the price. The best integer price is next to the best real price.
    let best = [price, price + 1].into_iter().max_by_key(|&price| bound(price)).unwrap_or(price);
    (bound(best), i64::try_from(best).unwrap_or(i64::MAX))
}

/// Returns the largest total saving of items that fit into `room` processors. Sets `crosses` for these items.
fn knapsack(items: &[Item], room: u32, crosses: &mut [bool]) -> Area {
    let columns = room as usize + 1;
    let mut best: Vec<Area> = vec![0; columns];
    let mut taken = vec![0_u64; (items.len() * columns).div_ceil(64)];
    for (row, item) in items.iter().enumerate() {
        let width = item.width as usize;
        for column in (width..columns).rev() {
            let with = best[column - width] + item.saves;
            if with > best[column] {
                best[column] = with;
                let bit = row * columns + column;
                taken[bit / 64] |= 1 << (bit % 64);
            }
        }
    }
    let mut column = columns - 1;
    for (row, item) in items.iter().enumerate().rev() {
        let bit = row * columns + column;
        let take = taken[bit / 64] >> (bit % 64) & 1 == 1;
        crosses[item.index] = take;
        if take {
            column -= item.width as usize;
        }
    }
    best[columns - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brute_force(needs: &[Need], capacity: u32) -> Option<Area> {
        (0_u32..1 << needs.len())
            .filter_map(|mask| {
                let crosses = |index: usize| mask >> index & 1 == 1;
                let width: u32 =
                    needs.iter().enumerate().filter(|(i, _)| crosses(*i)).map(|(_, need)| need.width).sum();
                let works =
                    needs.iter().enumerate().map(|(i, need)| if crosses(i) { Some(need.crossing) } else { need.short });
                (width <= capacity).then(|| works.sum::<Option<Area>>()).flatten()
            })
            .min()
    }

    proptest::proptest! {
        #[test]
        fn the_choice_is_least_and_its_price_is_a_bound(
            raw in proptest::collection::vec((1_i64..40, 1_i64..40, 1_u32..6, proptest::bool::weighted(0.1)), 1..9),
            capacity in 1_u32..12,
            target in 0_i64..300,
        ) {
            let needs: Vec<Need> = raw.iter().map(|&(a, b, width, forced)| Need {
                short: (!forced).then_some(Area::from(a.max(b))), crossing: Area::from(a.min(b)), width,
            }).collect();
            let target = Area::from(target);
            let choice = choose(&needs, capacity, target);
            match brute_force(&needs, capacity) {
                None => proptest::prop_assert!(choice.found.is_none() && choice.least > target),
                Some(least) => {
                    let (work, crosses) = choice.found.unwrap();
                    proptest::prop_assert!(choice.least <= least && least <= work);
                    // Either the target is proved to be unreachable, or the choice reaches it.
                    proptest::prop_assert!(choice.least > target || work <= target);
                    let width: u32 = needs.iter().zip(&crosses).filter(|(_, c)| **c).map(|(need, _)| need.width).sum();
                    proptest::prop_assert!(width <= capacity);
                    let total: Option<Area> = needs.iter().zip(&crosses)
                        .map(|(need, &c)| if c { Some(need.crossing) } else { need.short }).sum();
                    proptest::prop_assert_eq!(total, Some(work));
                }
            }
        }
    }
}
