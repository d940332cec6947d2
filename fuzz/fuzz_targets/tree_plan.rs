//! Plans of bags on trees.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::tree_plan(bytes));
