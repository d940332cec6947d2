//! The sieve of Eratosthenes, in segments that fit into the cache of a processor.

use crate::share::share;

const SEGMENT: u64 = 1 << 17;

/// Returns the number of primes from 2 to `up_to`.
pub fn count(up_to: u64, threads: u32) -> u64 {
    let small = small_primes(up_to.isqrt());
    share(up_to / SEGMENT + 1, threads, |segment| {
        let first = segment * SEGMENT;
        count_between(first, (first + SEGMENT - 1).min(up_to), &small)
    })
    .into_iter()
    .sum()
}

fn count_between(first: u64, last: u64, small: &[u64]) -> u64 {
    let mut composite = vec![false; (last - first + 1) as usize];
    for number in first..2.min(last + 1) {
        composite[(number - first) as usize] = true;
    }
    for &prime in small.iter().take_while(|&&prime| prime * prime <= last) {
        let from = (prime * prime).max(first.next_multiple_of(prime));
        for number in (from..=last).step_by(prime as usize) {
            composite[(number - first) as usize] = true;
        }
    }
    composite.into_iter().filter(|&composite| !composite).count() as u64
}

fn small_primes(up_to: u64) -> Vec<u64> {
    let mut composite = vec![false; up_to as usize + 1];
    let mut primes = Vec::new();
    for number in 2..=up_to {
        if !composite[number as usize] {
            primes.push(number);
            (number * number..=up_to).step_by(number as usize).for_each(|multiple| composite[multiple as usize] = true);
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_the_tables_do() {
        let known = [(0, 0), (1, 0), (2, 1), (10, 4), (100, 25), (131_072, 12_251), (1_000_000, 78_498)];
        for (up_to, primes) in known {
            assert_eq!(count(up_to, 1), primes, "{up_to}");
            assert_eq!(count(up_to, 3), primes, "{up_to}");
        }
    }
}
