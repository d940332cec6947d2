//! The `makespan` command: plans, proves, verifies, compares, runs.

fn main() -> std::process::ExitCode {
    makespan_cli::main()
}
