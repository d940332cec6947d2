//! Projects of PSPLIB.

#![no_main]

use makespan_fuzz::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| [Format::ProGen, Format::Patterson]
    .into_iter()
    .for_each(|format| makespan_fuzz::of(format, bytes)));
