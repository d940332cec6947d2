//! DAX and compound jobs in XML.

#![no_main]

use makespan_fuzz::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| [Format::Dax, Format::CompoundXml]
    .into_iter()
    .for_each(|format| makespan_fuzz::of(format, bytes)));
