//! Distributes numbered pieces of work over threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Returns the results of `work` for the pieces `0 .. pieces`, ordered by piece. Each thread takes the next piece when
/// it has finished the last one, so pieces may take different times.
pub fn share<T: Send>(pieces: u64, threads: u32, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return done;
            }
            done.push((piece, work(piece)));
        }
    };
    let mut results = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut results = take();
        for helper in helpers {
            results.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|&(piece, _)| piece);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_pieces() {
        for threads in [1, 2, 5] {
            assert_eq!(share(9, threads, |piece| piece * piece), [0, 1, 4, 9, 16, 25, 36, 49, 64]);
        }
        assert!(share(0, 3, |piece| piece).is_empty());
    }
}
