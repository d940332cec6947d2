//! Logs in the Standard Workload Format.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::swf(bytes));
