//! Any instance, its format known by content.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::instance(bytes));
