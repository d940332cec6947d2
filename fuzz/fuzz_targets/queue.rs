//! The queue of a cluster, read and played.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::queue(bytes));
