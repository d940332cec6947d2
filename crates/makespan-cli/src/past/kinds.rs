//! Decides which tasks are similar, so that run times can be learned from one another.

use makespan_core::{Instance, TaskId};
use makespan_history::Command;

/// Returns the kinds of a task, the most specific first. Tasks that share a kind are similar.
///
/// For a task with a command, the kinds are the command, the template that the user stated, and the template that
/// remains if the variable parts of the command are removed. For a task without a command, the only kind is the user
/// who submitted the task, if known.
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
