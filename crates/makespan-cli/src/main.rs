//! The `makespan` command. It plans, proves, verifies, compares, simulates and runs.

fn main() -> std::process::ExitCode {
    makespan_cli::main()
}
