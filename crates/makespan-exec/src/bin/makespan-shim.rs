//! The shim as a separate program, for callers with an executable that cannot act as the shim
//! ([`makespan_exec::ExecuteOptions::shim`]).

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!("makespan-shim is started by makespan for each job of a run; there is nothing else to do with it");
    std::process::ExitCode::FAILURE
}
