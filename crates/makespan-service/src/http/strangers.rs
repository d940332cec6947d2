//! Connections on which no token has come yet: of each address a few, the latest.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The connections without a token, by address.
#[derive(Debug)]
pub(super) struct Strangers {
    /// The largest number for an address.
    most: usize,
    all: Mutex<Entered>,
}

#[derive(Debug, Default)]
struct Entered {
    next: u64,
    by_address: HashMap<IpAddr, VecDeque<(u64, Arc<Notify>)>>,
}

/// A connection among those of its address, until a token comes on it or it ends.
#[derive(Debug)]
pub(super) struct Stranger {
    strangers: Arc<Strangers>,
    address: IpAddr,
    number: u64,
    end: Arc<Notify>,
}

impl Strangers {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), all: Mutex::default() })
    }

    /// Enters a connection. If its address has more than the limit, the oldest of them ends, so a
    /// client that half-sends its requests delays no other client, not at its own address either.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Stranger {
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
        Stranger { strangers: Arc::clone(self), address, number, end }
    }
}

impl Stranger {
    /// Stops counting the connection: it sent a known token.
    pub(super) fn is_known(&self) {
        let mut all = self.strangers.all.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = all.by_address.get_mut(&self.address) else { return };
        own.retain(|(number, _)| *number != self.number);
        if own.is_empty() {
            all.by_address.remove(&self.address);
        }
    }

    /// Returns when the connection is to end.
    pub(super) async fn ends(&self) {
        self.end.notified().await;
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.is_known();
    }
}
