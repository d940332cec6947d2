//! The shim: the parent process of each job of a run. The shim is a program of its own, because a small program starts
//! faster than `makespan`.

fn main() -> std::process::ExitCode {
    makespan_exec::serve_wrapping(makespan_cli::ninja_job::wrapped);
    eprintln!("makespan-job is a part of makespan, which starts it for each job of a run; do not start it yourself");
    std::process::ExitCode::FAILURE
}
