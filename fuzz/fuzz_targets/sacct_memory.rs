//! Memory of jobs in dumps of sacct.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::sacct_memory(bytes));
