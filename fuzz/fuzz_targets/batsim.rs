//! Workloads of Batsim.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::batsim(bytes));
