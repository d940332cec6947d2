//! Assigns processors of SMPs (nodes) of k processors to widths of the form a k + 2^j. The ranges of processors do not
//! overlap and leave no gaps.

use std::cmp::Reverse;

use makespan_core::ProcSet;

use super::Cluster;

/// Consecutive whole SMPs, and consecutive processors within one more SMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SmpRange {
    /// The whole SMPs: the first id and the number of processors, both multiples of the size of an SMP.
    whole: (u32, u32),
    /// The part of one more SMP: the first id and the number of processors, less than the size of an SMP.
    rest: (u32, u32),
}

impl SmpRange {
    /// Returns `count` processors of this range in best placement. For `count` = a k + r, these are `a` whole SMPs,
    /// and r processors of one more SMP.
    pub(super) fn take(self, count: u32, cluster: Cluster) -> ProcSet {
        let range = |(first, count): (u32, u32)| if count == 0 { None } else { Some((first, first + count - 1)) };
        let whole = count - count % cluster.each;
        let parts = if count <= self.whole.1 {
            // The range has more whole SMPs than needed. Take the last r processors from the next whole SMP.
            [range((self.whole.0, count)), None]
        } else {
            [range((self.whole.0, whole)), range((self.rest.0, count - whole))]
        };
        ProcSet::from_intervals(parts.into_iter().flatten().collect())
    }

    /// Returns the mirror image of this range on the platform.
    fn mirrored(self, cluster: Cluster) -> Self {
        let mirror = |(first, count): (u32, u32)| (cluster.processors() - first - count, count);
        Self { whole: mirror(self.whole), rest: mirror(self.rest) }
    }
}

/// Packs from the left: first the whole SMPs of all widths, then the remainders by decreasing size. The total size
/// before a remainder of 2^j is a multiple of 2^j, so no remainder crosses the border of an SMP (lemma 3).
pub(super) fn from_left(widths: &[u32], cluster: Cluster) -> Vec<SmpRange> {
    let (mut places, mut cursor) = wholes(widths, cluster);
    for index in by_remainder(widths, cluster) {
        cursor = put_rest(&mut places[index], widths[index] % cluster.each, cursor);
    }
    places
}

/// Packs from the right: first the whole SMPs of all widths, then the remainders by decreasing size.
pub(super) fn from_right(widths: &[u32], cluster: Cluster) -> Vec<SmpRange> {
    from_left(widths, cluster).into_iter().map(|place| place.mirrored(cluster)).collect()
}

/// Packs `left` from the left and `right` from the right. Remainders that do not fill a whole SMP are packed into at
/// most two shared SMPs in the middle (figure 9 of the paper; figure 8 if no other tasks follow). Also returns the
/// idle processors: whole SMPs, and a part of one more SMP.
pub(super) fn grouped(left: &[u32], right: &[u32], cluster: Cluster) -> (Vec<SmpRange>, Vec<SmpRange>, SmpRange) {
    let (mut left_places, mut cursor) = wholes(left, cluster);
    let (mut right_places, mut from_right) = wholes(right, cluster);
    // Returns the number of remainders that fill whole SMPs. Sums of decreasing powers of two reach every multiple of
    // k exactly.
    let full_smps = |order: &[usize], widths: &[u32]| {
        let sizes = || order.iter().map(|&index| widths[index] % cluster.each);
        let total: u32 = sizes().sum();
        let mut room = total - total % cluster.each;
        sizes()
            .take_while(|&size| {
                room > 0 && {
                    room -= size;
                    true
                }
            })
            .count()
    };
    let (left_order, right_order) = (by_remainder(left, cluster), by_remainder(right, cluster));
    let (left_full, right_full) = (full_smps(&left_order, left), full_smps(&right_order, right));
    for &index in &left_order[..left_full] {
        cursor = put_rest(&mut left_places[index], left[index] % cluster.each, cursor);
    }
    for &index in &right_order[..right_full] {
        from_right = put_rest(&mut right_places[index], right[index] % cluster.each, from_right);
    }
    right_places.iter_mut().for_each(|place| *place = place.mirrored(cluster));
    let remainder = |widths: &[u32], index: usize| widths[index] % cluster.each;
    let mut middle: Vec<(u32, bool, usize)> =
        left_order[left_full..].iter().map(|&index| (remainder(left, index), false, index)).collect();
    middle.extend(right_order[right_full..].iter().map(|&index| (remainder(right, index), true, index)));
    middle.sort_by_key(|&(size, is_right, index)| (Reverse(size), is_right, index));
    for (size, is_right, index) in middle {
        let place = if is_right { &mut right_places[index] } else { &mut left_places[index] };
        cursor = put_rest(place, size, cursor);
    }
    let end = cluster.processors() - from_right;
    let part = (cursor.next_multiple_of(cluster.each)).min(end) - cursor;
    (left_places, right_places, SmpRange { whole: (cursor + part, end - cursor - part), rest: (cursor, part) })
}

/// Packs the whole SMPs of all widths from the left. Returns the ranges and their end.
fn wholes(widths: &[u32], cluster: Cluster) -> (Vec<SmpRange>, u32) {
    let mut cursor = 0;
    let place = |&width: &u32| {
        let whole = width - width % cluster.each;
        cursor += whole;
        SmpRange { whole: (cursor - whole, whole), rest: (0, 0) }
    };
    let places = widths.iter().map(place).collect();
    (places, cursor)
}

/// Returns the indices of the widths that have a remainder, the largest remainder first.
fn by_remainder(widths: &[u32], cluster: Cluster) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..widths.len()).filter(|&index| !widths[index].is_multiple_of(cluster.each)).collect();
    order.sort_by_key(|&index| Reverse(widths[index] % cluster.each));
    order
}

fn put_rest(place: &mut SmpRange, size: u32, cursor: u32) -> u32 {
    place.rest = (cursor, size);
    cursor + size
}
