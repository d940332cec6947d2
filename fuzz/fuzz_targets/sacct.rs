//! Dumps of sacct.

#![no_main]

use makespan_fuzz::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::of(Format::Sacct, bytes));
