//! The shim as a separate program, for callers with an executable that cannot act as the shim
//! ([`makespan_exec::ExecuteOptions::shim`]).

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!("makespan-shim is a part of makespan, which starts it for each job of a run; do not start it yourself");
    std::process::ExitCode::FAILURE
}
