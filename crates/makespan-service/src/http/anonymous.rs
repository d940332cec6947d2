//! Limits the number of connections without a token for each address. If an address exceeds the limit, the server
//! closes its oldest connection without a token.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// Connections without a token, by address.
#[derive(Debug)]
pub(super) struct AnonymousConnections {
    /// Maximum number of connections without a token for each address.
    most: usize,
    all: Mutex<WaitingConnections>,
}

#[derive(Debug, Default)]
struct WaitingConnections {
    next: u64,
    by_address: HashMap<IpAddr, VecDeque<(u64, Arc<Notify>)>>,
}

/// Entry in the table [`AnonymousConnections`] for a connection without a token. The entry is removed when the
/// connection ends or when it sends a valid token.
#[derive(Debug)]
pub(super) struct AnonymousConnection {
    anonymous: Arc<AnonymousConnections>,
    address: IpAddr,
    number: u64,
    end: Arc<Notify>,
}

impl AnonymousConnections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), all: Mutex::default() })
    }

    /// Adds a connection. If the address then exceeds the limit, the server closes the address's oldest connection in
    /// the table. So a client that never completes its requests cannot block other clients at the same address.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> AnonymousConnection {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let number = all.next;
        all.next += 1;
        let end = Arc::new(Notify::new());
        let own = all.by_address.entry(address).or_default();
        own.push_back((number, Arc::clone(&end)));
        if own.len() > self.most
            && let Some((_, oldest)) = own.pop_front()
        {
            oldest.notify_one();
        }
        AnonymousConnection { anonymous: Arc::clone(self), address, number, end }
    }
}

impl AnonymousConnection {
    /// Removes the connection from the table, for example after the connection has sent a valid token.
    pub(super) fn is_known(&self) {
        let mut all = self.anonymous.all.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = all.by_address.get_mut(&self.address) else { return };
        own.retain(|(number, _)| *number != self.number);
        if own.is_empty() {
            all.by_address.remove(&self.address);
        }
    }

    /// Waits until the server must close this connection.
    pub(super) async fn ends(&self) {
        self.end.notified().await;
    }
}

impl Drop for AnonymousConnection {
    fn drop(&mut self) {
        self.is_known();
    }
}
