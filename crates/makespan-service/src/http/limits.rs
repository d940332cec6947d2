//! How much may be asked, and for how long the server waits for who asks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How much may be asked, and for how long the server waits for who asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Requests a second of one token, or of one address without a token; as many may come at once.
    pub requests: f64,
    /// Maximum number of connections; further connections wait. An address may have an eighth of this number of
    /// connections without a token. If the address opens more, the server closes the oldest of them.
    pub connections: usize,
    /// How long a request may take to arrive, without its body; a connection without requests ends then, too.
    pub head: Duration,
    /// How long a body may take to arrive.
    pub body: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write: Duration,
    /// After how long a stream of events without any says that it is alive.
    pub alive: Duration,
    /// How long requests that are being answered may take when the server is to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self {
            requests: 2000.0,
            connections: 2000,
            head: 10 * second,
            body: 60 * second,
            write: 30 * second,
            alive: 15 * second,
            grace: 5 * second,
        }
    }
}

/// Whose requests are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counted {
    /// Those with a token.
    Token(String),
    /// Those without one, from one address.
    Address(IpAddr),
}

/// Counts requests: each bucket holds the requests of a second, and is filled as time goes by.
pub(super) struct Buckets {
    rate: f64,
    all: Mutex<HashMap<Counted, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Buckets {
    /// Buckets that are kept; full ones are forgotten when there are more.
    const MAX: usize = 10_000;

    pub(super) fn new(rate: f64) -> Self {
        Self { rate, all: Mutex::new(HashMap::new()) }
    }

    /// Takes one request; where none is left, the seconds until one is.
    pub(super) fn take(&self, who: Counted, now: Instant) -> Result<(), u32> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= Self::MAX && !all.contains_key(&who) {
            all.retain(|_, bucket| bucket.left + self.filled(bucket.at, now) < self.rate);
        }
        let bucket = all.entry(who).or_insert(Bucket { left: self.rate, at: now });
        bucket.left = (bucket.left + self.filled(bucket.at, now)).min(self.rate);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err(((1.0 - bucket.left) / self.rate).ceil().max(1.0) as u32);
        }
        bucket.left -= 1.0;
        Ok(())
    }

    fn filled(&self, since: Instant, now: Instant) -> f64 {
        now.saturating_duration_since(since).as_secs_f64() * self.rate
    }
}

/// An address as it is counted: of IPv6 the network, in which one host has as many addresses as it likes.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6((u128::from(six) & (u128::MAX << 64)).into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_what_its_rate_allows() {
        let buckets = Buckets::new(10.0);
        let (who, start) = (Counted::Token("a".into()), Instant::now());
        for _ in 0..10 {
            assert_eq!(buckets.take(who.clone(), start), Ok(()));
        }
        assert_eq!(buckets.take(who.clone(), start), Err(1));
        assert_eq!(buckets.take(Counted::Token("b".into()), start), Ok(()), "others are not concerned");
        let later = start + Duration::from_millis(250);
        assert_eq!(buckets.take(who.clone(), later), Ok(()));
        assert_eq!(buckets.take(who.clone(), later), Ok(()));
        assert_eq!(buckets.take(who, later), Err(1));
    }

    #[test]
    fn buckets_do_not_grow_without_end() {
        let buckets = Buckets::new(10.0);
        let start = Instant::now();
        for index in 0..3 * Buckets::MAX {
            let now = start + Duration::from_millis(index as u64);
            buckets.take(Counted::Token(index.to_string()), now).unwrap();
        }
        assert!(buckets.all.lock().unwrap().len() <= Buckets::MAX + 1);
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let same = |one: &str, other: &str| network(one.parse().unwrap()) == network(other.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:1:2:3"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }
}
