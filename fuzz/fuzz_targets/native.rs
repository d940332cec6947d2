//! Native JSON and TOML.

#![no_main]

use makespan_fuzz::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| [Format::Json, Format::Toml]
    .into_iter()
    .for_each(|format| makespan_fuzz::of(format, bytes)));
