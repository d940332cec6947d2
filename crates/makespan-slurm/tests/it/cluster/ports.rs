//! Ports that no other cluster on this machine uses.

use std::net::TcpListener;
use std::process::id;

/// Consecutive ports, below the range that the system uses for outgoing connections.
pub struct Ports {
    first: u16,
    /// The listener on the port before `first`. It locks the ports while they are used.
    _lock: TcpListener,
}

impl Ports {
    const FROM: u16 = 20_000;
    const BLOCK: u16 = 96;
    const BLOCKS: u16 = 130;

    /// Takes `count` ports. The process that listens on the first port of a block owns the block. The other ports are
    /// tested, because daemons of a stopping cluster may still use them.
    pub fn take(count: usize) -> Self {
        assert!(count < usize::from(Self::BLOCK), "a cluster of tests has at most {} nodes", Self::BLOCK - 2);
        let begin = (id() % u32::from(Self::BLOCKS)) as u16;
        for block in (0..Self::BLOCKS).map(|step| (begin + step) % Self::BLOCKS) {
            let port = Self::FROM + block * Self::BLOCK;
            let Ok(lock) = TcpListener::bind(("127.0.0.1", port)) else { continue };
            let free = |port| TcpListener::bind(("0.0.0.0", port)).is_ok();
            if (1..=count as u16).all(|step| free(port + step)) {
                return Self { first: port + 1, _lock: lock };
            }
        }
        panic!("no {count} free ports from {} on", Self::FROM)
    }

    /// Returns one of the ports.
    pub fn at(&self, index: usize) -> u16 {
        self.first + index as u16
    }
}
