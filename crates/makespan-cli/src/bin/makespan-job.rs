//! The shim: the parent process of each job of a run. The shim is a program of its own, because a small program starts
//! faster than `makespan`.

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!("makespan-job is started by `makespan run` for each job of a run; it has no other use");
    std::process::ExitCode::FAILURE
}
