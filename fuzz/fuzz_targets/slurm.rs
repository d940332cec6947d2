//! What Slurm's commands print: nodes, partitions, jobs in text and JSON, lists of hosts, settings.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| makespan_fuzz::slurm(bytes));
