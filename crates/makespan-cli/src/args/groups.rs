//! The help text of the program, in which the commands are grouped by purpose.

use std::fmt::Write as _;

use clap::Subcommand;

use super::Command;

/// Commands by purpose. The groups do not contain hidden commands, which only the program itself starts.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Run", &["run", "status", "profile", "history"]),
    ("Serve", &["serve", "submit", "job", "cancel", "hold", "release", "logs", "wait", "token", "service"]),
    ("Plan and prove", &["plan", "bound", "verify", "convert"]),
    ("Simulate", &["simulate"]),
    ("Clusters", &["queue", "where", "report", "slurm"]),
    ("Research", &["compare", "generate", "algorithms"]),
];

/// Commands about this program.
const OWN: (&str, &[&str]) = ("This program", &["completions", "setup", "help"]);

/// Returns the template from which clap generates the help text.
pub fn template() -> String {
    let all = Command::augment_subcommands(clap::Command::new("makespan"));
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS.iter().chain([&OWN]) {
        let about = |name: &&'static str| {
            let command = all.find_subcommand(name)?;
            Some((*name, command.get_about()?.to_string()))
        };
        let mut commands: Vec<(&'static str, String)> = names.iter().filter_map(about).collect();
        if names.contains(&"help") {
            commands.push(("help", "Print the help of a command".to_owned()));
        }
        if commands.is_empty() {
            continue;
        }
        let _infallible = writeln!(text, "\n{heading}:");
        for (name, about) in commands {
            let _infallible = writeln!(text, "  {name:<12} {about}");
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let all = Command::augment_subcommands(clap::Command::new("makespan"));
        let shown: Vec<&str> =
            all.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name).collect();
        for name in &shown {
            let groups = GROUPS.iter().chain([&OWN]).filter(|(_, names)| names.contains(name));
            assert_eq!(groups.count(), 1, "{name}");
        }
        assert!(template().contains("\nPlan and prove:\n  plan "), "{}", template());
    }
}
