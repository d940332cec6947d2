//! Limits on requests and connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limits on requests and connections.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestLimits {
    /// Maximum number of requests per second, and maximum number of requests in a burst, for each token and for each
    /// address without a token.
    pub requests: f64,
    /// Maximum number of connections. Further connections wait. One address may use an eighth of this number for
    /// connections without a token, and seven eighths in all. One token may use six eighths. If a client opens more
    /// connections, the server first closes idle connections of the token or the address.
    pub connections: usize,
    /// Time limit for receiving a request without its body. Also the time after which a connection without requests is
    /// closed.
    pub head: Duration,
    /// Time limit for receiving a body.
    pub body: Duration,
    /// Maximum time for which a client may accept no bytes of a response.
    pub write: Duration,
    /// Time without events after which a stream sends a comment, to show that the connection is alive.
    pub alive: Duration,
    /// Maximum time for finishing the current requests when the server stops.
    pub grace: Duration,
}

impl Default for RequestLimits {
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

/// A group of requests that share a limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum LimitedGroup {
    /// The requests with one token, by the id of the token.
    Token(String),
    /// The requests without a valid token from one address.
    Address(IpAddr),
}

/// Token buckets that limit the rate of requests. The capacity of each bucket is the number of requests allowed in one
/// second.
pub(super) struct Buckets {
    rate: f64,
    all: Mutex<HashMap<LimitedGroup, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Buckets {
    /// Number of buckets above which full buckets are removed.
    const MAX: usize = 10_000;

    pub(super) fn new(rate: f64) -> Self {
        Self { rate, all: Mutex::new(HashMap::new()) }
    }

    /// Counts a request. If the limit is exceeded, returns an error: the number of seconds until the next request is
    /// allowed.
    pub(super) fn take(&self, who: LimitedGroup, now: Instant) -> Result<(), u32> {
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

/// Returns the address for which requests are counted. For IPv6, returns the /64 network, because a host may use any
/// address of this network.
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
        let (who, start) = (LimitedGroup::Token("a".into()), Instant::now());
        for _ in 0..10 {
            assert_eq!(buckets.take(who.clone(), start), Ok(()));
        }
        assert_eq!(buckets.take(who.clone(), start), Err(1));
        assert_eq!(buckets.take(LimitedGroup::Token("b".into()), start), Ok(()), "others are not concerned");
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
            buckets.take(LimitedGroup::Token(index.to_string()), now).unwrap();
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
