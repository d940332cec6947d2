//! The process around each job, where the program that keeps the jobs is a test.

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!("service-shim is started by a service for each of its jobs; there is nothing else to do with it");
    std::process::ExitCode::FAILURE
}
