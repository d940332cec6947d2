//! The shim process around each job, for tests. In production, the `makespan` program itself is the shim.

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!(
        "service-shim is a part of makespan, which starts it for each job of a service; do not start it yourself"
    );
    std::process::ExitCode::FAILURE
}
