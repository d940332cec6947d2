//! Words of the command line: speed-ups, bandwidths, times, sets of processors.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::options(bytes));
