//! Published sets of moldable jobs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::moldable_set(bytes));
