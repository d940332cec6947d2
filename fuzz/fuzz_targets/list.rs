//! Lists of commands, templates, and what make, ninja and Snakemake print.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::list(bytes));
