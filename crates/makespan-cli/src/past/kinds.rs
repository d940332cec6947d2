//! Decides which tasks are alike.

use makespan_core::{Instance, TaskId};
use makespan_history::Command;

/// Returns the kinds of a task, the most specific first. For a task with a command, these are the command, the template
/// that the user stated, and the template with holes. For a task without a command, this is the user who submitted it,
/// if known.
pub fn kinds(instance: &Instance, task: TaskId, stated: Option<&str>) -> Vec<String> {
    let command = &instance.task(task).command;
    if command.is_empty() {
        return instance.job_of(task).user.map(|user| format!("user {user}")).into_iter().collect();
    }
    of_command(command, stated)
}

/// Returns the kinds of a command, the most specific first.
pub fn of_command(command: &[String], stated: Option<&str>) -> Vec<String> {
    let command = Command::new(command.to_vec());
    let (own, template) = (format!("command {:?}", command.words()), format!("template {}", command.template().text));
    std::iter::once(own).chain(stated.map(|stated| format!("stated {stated}"))).chain([template]).collect()
}
