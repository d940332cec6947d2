//! Any log or instance, for simulation.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::replay(bytes));
