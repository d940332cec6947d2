//! The process around each job of a run: a program of its own, since a small one starts faster than `makespan`.

fn main() -> std::process::ExitCode {
    makespan_exec::serve();
    eprintln!("makespan-job is started by `makespan run` for each job of a run; there is nothing else to do with it");
    std::process::ExitCode::FAILURE
}
