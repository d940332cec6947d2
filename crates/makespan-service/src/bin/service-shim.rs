//! The shim process around each job, for tests. In production, the `makespan` program itself is the shim.

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!("service-shim is started by a service for each of its jobs; there is nothing else to do with it");
    std::process::ExitCode::FAILURE
}
