//! Functions that all certificates of prices share: checks, sums, and the price of open time.

use super::CertificateError;
use super::capacity::OpenProcessors;
use super::error::{malformed, unproved};
use makespan_core::{Instance, Time, mean};

/// Checks that no price is negative.
pub(super) fn check<'p>(prices: impl IntoIterator<Item = &'p i64>) -> Result<(), CertificateError> {
    if prices.into_iter().any(|&price| price < 0) { malformed("a price is negative") } else { Ok(()) }
}

/// Checks the instants, the scale and the lists of prices of a certificate. Each list contains one price for each
/// period between two consecutive instants, in units of `2^-scale`.
pub(super) fn check_in_time<'p>(
    instants: &[Time],
    scale: u32,
    lists: impl IntoIterator<Item = &'p Vec<i64>>,
) -> Result<(), CertificateError> {
    for prices in lists {
        if instants.len() != prices.len() + 1 {
            return malformed("the number of instants is not one more than the number of prices");
        }
        check(prices)?;
    }
    if scale > 64 {
        return malformed("the scale has more than 64 binary places");
    }
    let ascending = instants.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || instants.first().is_some_and(|&instant| instant < Time::ZERO) {
        return malformed("the instants are not ascending, or an instant is negative");
    }
    Ok(())
}

/// Checks that a list contains exactly one entry for each node.
pub(super) fn check_nodes<T>(each: &[T], instance: &Instance) -> Result<(), CertificateError> {
    if each.len() == instance.platform().nodes().len() {
        Ok(())
    } else {
        malformed("the number of prices, or of lists of prices, is not the number of nodes")
    }
}

/// Checks that every task runs on one processor.
pub(super) fn check_sequential(instance: &Instance) -> Result<(), CertificateError> {
    if instance.is_sequential() { Ok(()) } else { unproved("these prices apply only to sequential jobs") }
}

/// A sum in 128 bits that detects overflow.
#[derive(Default)]
pub(super) struct Sum(pub(super) i128);

impl Sum {
    /// Adds an amount. `None` represents an amount that does not fit into 128 bits.
    pub(super) fn add(&mut self, amount: Option<i128>) -> Result<(), CertificateError> {
        self.0 = amount.and_then(|amount| self.0.checked_add(amount)).ok_or(CertificateError::Overflow)?;
        Ok(())
    }
}

/// Returns the payments of the jobs (`paid`) minus the price of all open time (`sold`), rounded down to an integer, or
/// 0 if the difference is negative. Both arguments are in units of `2^-scale`.
pub(super) fn left(paid: i128, sold: i128, scale: u32) -> Result<i128, CertificateError> {
    // The shift rounds down, so the bound remains valid.
    paid.checked_sub(sold).map(|left| (left >> scale).max(0)).ok_or(CertificateError::Overflow)
}

/// Converts `ends`, a lower bound on the sum of the completion times of all jobs, to a lower bound on the mean flow in
/// thousandths of a tick.
pub(super) fn flow(ends: i128, instance: &Instance) -> i128 {
    let released: i128 = instance.jobs().iter().map(|job| i128::from(job.release.ticks())).sum();
    mean((ends - released).max(0), instance.jobs().len())
}

/// Returns `deadline` plus one tick as a bound on the makespan if `needed` exceeds `available`. Otherwise, returns an
/// error. Every schedule that ends by `deadline` must need at least the amount `needed`.
pub(super) fn refute(deadline: Time, needed: i128, available: i128) -> Result<i128, CertificateError> {
    if needed > available {
        return Ok(i128::from(deadline.ticks()) + 1);
    }
    Err(CertificateError::NotRefuted { deadline, needed, available })
}

/// Returns the price of the open time of all nodes until `end`. Each node has one price for each period between two
/// consecutive instants.
pub(super) fn sold(
    instance: &Instance,
    instants: &[Time],
    by_node: &[Vec<i64>],
    end: Time,
) -> Result<i128, CertificateError> {
    let mut sum = Sum::default();
    for (node, prices) in by_node.iter().enumerate() {
        let open = OpenProcessors::new(instance, node);
        for (pair, &price) in instants.windows(2).zip(prices).filter(|(_, price)| **price > 0) {
            let [from, until] = [pair[0], pair[1]].map(|at| i128::from(at.min(end).ticks()));
            sum.add(open.within(from, until).and_then(|open| open.checked_mul(price.into())))?;
        }
    }
    Ok(sum.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_in_time_are_checked() {
        let check = |instants: &[i64], scale: u32, prices: &[i64]| {
            let instants: Vec<Time> = instants.iter().copied().map(Time::from_ticks).collect();
            check_in_time(&instants, scale, [&prices.to_vec()])
        };
        assert_eq!(check(&[0, 3, 5], 64, &[0, 7]), Ok(()));
        for (instants, scale, prices) in [
            (&[0, 3][..], 0, &[1, 2][..]),
            (&[], 0, &[]),
            (&[0, 3, 5], 65, &[1, 2]),
            (&[0, 3, 3], 0, &[1, 2]),
            (&[0, 5, 3], 0, &[1, 2]),
            (&[-1, 3, 5], 0, &[1, 2]),
            (&[0, 3, 5], 0, &[1, -1]),
        ] {
            let checked = check(instants, scale, prices);
            assert!(matches!(checked, Err(CertificateError::Malformed(_))), "{instants:?} {scale} {prices:?}");
        }
    }

    #[test]
    fn sums_and_differences_do_not_leave_128_bits() {
        let mut sum = Sum(i128::MAX - 1);
        assert_eq!((sum.add(Some(1)), sum.add(Some(1))), (Ok(()), Err(CertificateError::Overflow)));
        assert_eq!(Sum::default().add(None), Err(CertificateError::Overflow));
        // -3 / 2 is rounded down to -2 and then raised to 0, and 3 / 2 is rounded down to 1.
        assert_eq!((left(1, 4, 1), left(4, 1, 1)), (Ok(0), Ok(1)));
        assert_eq!(left(i128::MIN, 1, 0), Err(CertificateError::Overflow));
    }
}
