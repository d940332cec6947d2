//! Limits the number of connections for each address and for each token, so that one client cannot use all connections
//! of the server.
//!
//! If a limit is exceeded, the server first closes connections on which no request is being processed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use crate::log::Log;

/// Minimum time between two lines of the log about closed or refused connections.
const LINE_PER: Duration = Duration::from_mins(1);

/// Minimum time for which a connection stays open. In this time the server reads a request that was sent at once.
const YOUNG: Duration = Duration::from_millis(100);

/// Number of clients above which the counts of clients without a recent line of the log are dropped.
const CLIENTS: usize = 1000;

/// The maximum numbers of connections of a group of clients.
#[derive(Clone, Copy, Debug)]
struct GroupLimits {
    /// Without a valid token, for each address.
    strangers: usize,
    /// For each token.
    token: usize,
    /// For each address.
    address: usize,
}

/// The open connections.
#[derive(Debug)]
pub(super) struct Connections {
    limits: GroupLimits,
    log: Log,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    /// The open connections, the oldest first.
    all: BTreeMap<u64, OpenConnection>,
    /// The counts for the log, by the description of the client.
    excesses: BTreeMap<String, Excess>,
}

/// The connections and requests of one client beyond its limits, since the last line of the log about this client.
#[derive(Debug, Default)]
struct Excess {
    closed: u64,
    refused: u64,
    /// The instant of the last line of the log.
    told: Option<Instant>,
}

#[derive(Debug)]
struct OpenConnection {
    /// The address, or `None` if all connections come from a proxy.
    address: Option<IpAddr>,
    /// The id of the token, once a request with a valid token has arrived.
    token: Option<String>,
    /// The number of requests that are being processed, including responses that are being sent.
    requests: usize,
    end: Arc<Notify>,
    /// Whether the server has decided to close the connection.
    is_ending: bool,
}

/// Entry of a connection in the table [`Connections`]. The entry is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    number: u64,
    opened: tokio::time::Instant,
    end: Arc<Notify>,
}

/// A guard for a request that is being processed on a connection.
struct Request(Arc<Connection>);

/// A response body. While the body exists, its connection is not idle.
pub(super) struct GuardedBody {
    inner: Body,
    _request: Request,
}

impl Connections {
    /// Creates an empty table. `most` is the maximum number of all connections.
    pub(super) fn new(most: usize, log: Log) -> Arc<Self> {
        let part = |share: usize| (most * share / 8).max(1);
        // The rest is reserved for other tokens and other addresses.
        let limits = GroupLimits { strangers: part(1), token: part(6), address: part(7) };
        Arc::new(Self { limits, log, open: Mutex::default() })
    }

    /// Adds a connection. If its address then exceeds a limit, closes another connection of this address: an idle
    /// connection or, if there is none, the oldest connection without a token. So a client that never completes its
    /// requests cannot block other clients at its address.
    pub(super) fn enter(self: &Arc<Self>, address: Option<IpAddr>) -> Connection {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let number = open.next;
        open.next += 1;
        let end = Arc::new(Notify::new());
        let new = OpenConnection { address, token: None, requests: 0, end: Arc::clone(&end), is_ending: false };
        open.all.insert(number, new);
        self.limit_address(&mut open, address);
        Connection { connections: Arc::clone(self), number, opened: tokio::time::Instant::now(), end }
    }

    /// Closes a connection of an address for each of its limits that is exceeded. Returns false if there is none to close.
    fn limit_address(&self, open: &mut OpenConnections, address: Option<IpAddr>) -> bool {
        let Some(from) = address else { return true };
        let is_own = |one: &OpenConnection| one.address == address && !one.is_ending;
        let is_stranger = |one: &OpenConnection| is_own(one) && one.token.is_none();
        if open.count(is_stranger) > self.limits.strangers {
            let closed = u64::from(open.close(is_stranger));
            self.tell(open, &format!("the address {from} without a valid token"), (closed, 0));
        }
        if open.count(is_own) <= self.limits.address {
            return true;
        }
        let is_idle = |one: &OpenConnection| is_own(one) && one.token.is_some() && one.requests == 0;
        let closed = open.close(is_idle) || open.close(is_stranger);
        self.tell(open, &format!("the address {from}"), (u64::from(closed), 0));
        closed
    }

    /// Counts closed connections and refused requests of a client. Adds a line to the log, unless there was a line about
    /// this client in the last minute.
    fn tell(&self, open: &mut OpenConnections, whom: &str, (closed, refused): (u64, u64)) {
        if open.excesses.len() >= CLIENTS {
            open.excesses.retain(|_, one| one.told.is_some_and(|told| told.elapsed() < LINE_PER));
        }
        let own = open.excesses.entry(whom.to_owned()).or_default();
        (own.closed, own.refused) = (own.closed + closed, own.refused + refused);
        if own.told.is_some_and(|told| told.elapsed() < LINE_PER) {
            return;
        }
        let Excess { closed, refused, .. } =
            std::mem::replace(own, Excess { told: Some(Instant::now()), ..Excess::default() });
        self.log.warning(&format!(
            "{whom} has too many connections; since the last line about this client: closed connections {closed}, refused \
             requests {refused}"
        ));
    }
}

impl OpenConnections {
    fn count(&self, which: impl Fn(&OpenConnection) -> bool) -> usize {
        self.all.values().filter(|one| which(one)).count()
    }

    /// Closes the oldest connection that `which` accepts. Returns false if there is none.
    fn close(&mut self, which: impl Fn(&OpenConnection) -> bool) -> bool {
        let Some(oldest) = self.all.values_mut().find(|one| which(one)) else { return false };
        oldest.is_ending = true;
        oldest.end.notify_one();
        true
    }
}

impl Connection {
    /// Records that a request of `user` with a valid token has arrived. A connection that was to be closed because it
    /// had no token then stays open. If the token then has too many connections, closes its oldest idle connection.
    /// Returns false if none of them is idle; the request must then be refused.
    pub(super) fn is_known(&self, token: &str, user: &str) -> bool {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = open.all.get_mut(&self.number) else { return true };
        if own.token.as_deref() == Some(token) {
            return !own.is_ending;
        }
        if own.is_ending && own.token.is_some() {
            return false;
        }
        own.token = Some(token.to_owned());
        let address = own.address;
        if std::mem::take(&mut own.is_ending)
            && !self.connections.limit_address(&mut open, address)
            && let Some(own) = open.all.get_mut(&self.number)
        {
            (own.token, own.is_ending) = (None, true);
            return false;
        }
        let is_own = |one: &OpenConnection| one.token.as_deref() == Some(token) && !one.is_ending;
        if open.count(is_own) <= self.connections.limits.token {
            return true;
        }
        let closed = open.close(|one| is_own(one) && one.requests == 0);
        if !closed && let Some(own) = open.all.get_mut(&self.number) {
            own.token = None;
        }
        self.connections.tell(&mut open, user, (u64::from(closed), u64::from(!closed)));
        closed
    }

    /// Waits until the server must close this connection.
    pub(super) async fn ends(&self) {
        loop {
            self.end.notified().await;
            tokio::time::sleep_until(self.opened + YOUNG).await;
            let open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.all.get(&self.number).is_none_or(|own| own.is_ending) {
                return;
            }
        }
    }

    fn change_requests(&self, change: impl FnOnce(&mut usize)) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.all.get_mut(&self.number) {
            change(&mut own.requests);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all.remove(&self.number);
    }
}

impl Request {
    fn new(connection: Arc<Connection>) -> Self {
        connection.change_requests(|count| *count += 1);
        Self(connection)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.change_requests(|count| *count -= 1);
    }
}

/// Answers a request. The connection is not idle until its response has been sent.
pub(super) async fn answered<E>(
    connection: Arc<Connection>,
    answer: impl Future<Output = Result<axum::response::Response, E>>,
) -> Result<axum::http::Response<GuardedBody>, E> {
    let request = Request::new(connection);
    Ok(answer.await?.map(|inner| GuardedBody { inner, _request: request }))
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A client of a random test: its address, and its token if it sends one.
    type Client = (u8, Option<u8>);

    /// The connections of clients without a token are not counted for a user at their address.
    #[test]
    fn each_client_has_its_own_counts() {
        let connections = Connections::new(16, Log::default());
        let address = Some([10, 0, 0, 1].into());
        let strangers: Vec<Connection> = (0..9).map(|_| connections.enter(address)).collect();
        let mut busy = Vec::new();
        for _ in 0..15 {
            let connection = Arc::new(connections.enter(None));
            busy.push(Request::new(Arc::clone(&connection)));
            connection.is_known("token", "ann");
        }
        let open = connections.open.lock().unwrap();
        let counts = open.excesses.iter().map(|(whom, one)| (whom.as_str(), one.closed, one.refused));
        // The first excess of a client is in a line of the log, so it is not counted any more.
        let expected = [("ann", 0, 2), ("the address 10.0.0.1 without a valid token", 6, 0)];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
        drop(open);
        drop(strangers);
    }

    /// A request with a token can arrive after the server has decided to close its connection.
    #[test]
    fn a_token_keeps_a_connection_that_was_to_be_closed() {
        let connections = Connections::new(16, Log::default());
        let address = Some([10, 0, 0, 1].into());
        let first = connections.enter(address);
        let others: Vec<Connection> = (0..3).map(|_| connections.enter(address)).collect();
        let ending = || {
            let open = connections.open.lock().unwrap();
            open.all.iter().filter(|(_, one)| one.is_ending).map(|(number, _)| *number).collect::<Vec<_>>()
        };
        assert_eq!(ending(), [0, 1]);
        assert!(first.is_known("token", "ann"));
        assert_eq!(ending(), [1]);
        drop(others);
    }

    proptest! {
        /// Opens random connections of which some are idle, some are busy and some send no token. Checks that no group
        /// exceeds its limit, that a connection of another token and another address is always possible, and that busy
        /// connections with a token stay open.
        #[test]
        fn a_group_leaves_connections_to_others(
            most in 8_usize..64,
            clients in prop::collection::vec(((0_u8..2, prop::option::of(0_u8..2)), any::<bool>()), 1..200),
        ) {
            let connections = Connections::new(most, Log::default());
            let limits = connections.limits;
            let mut held: Vec<(Client, Arc<Connection>, Option<Request>)> = Vec::new();
            for ((address, token), busy) in clients {
                let connection = Arc::new(connections.enter(Some([10, 0, 0, address].into())));
                let request = Request::new(Arc::clone(&connection));
                if token.is_none_or(|token| connection.is_known(&token.to_string(), "ann")) {
                    held.push(((address, token), connection, Some(request).filter(|_| busy && token.is_some())));
                }
                let ending: Vec<u64> = {
                    let open = connections.open.lock().unwrap();
                    open.all.iter().filter(|(_, one)| one.is_ending).map(|(number, _)| *number).collect()
                };
                for (_, connection, request) in &held {
                    prop_assert!(request.is_none() || !ending.contains(&connection.number), "a busy connection ends");
                }
                held.retain(|(_, connection, _)| !ending.contains(&connection.number));
                let count = |which: &dyn Fn(&Client) -> bool| held.iter().filter(|one| which(&one.0)).count();
                for number in 0..2 {
                    prop_assert!(count(&|one| one.1 == Some(number)) <= limits.token);
                    prop_assert!(count(&|one| one.0 == number && one.1.is_none()) <= limits.strangers);
                    prop_assert!(count(&|one| one.0 == number) <= limits.address + 1);
                }
            }
            prop_assert!(limits.token < most && limits.address < most && limits.strangers < most);
            let other = Arc::new(connections.enter(Some([10, 0, 1, 1].into())));
            prop_assert!(other.is_known("other", "bob"));
        }
    }
}
