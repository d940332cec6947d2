//! Options that prevent make from running recipes in a dry run.

use crate::error::{FilePlace, FormatError};

use super::database::Database;

/// Definition that replaces the shell by a program that does nothing. Without this definition, make would run the lines
/// with `+` or `$(MAKE)` even in a dry run.
pub(super) const STUB: &str = "SHELL := true";

/// Returns the options for a dry run that runs no recipe. `known` is the output of the first call of make, and `file`
/// is the makefile.
///
/// The options set the shell of each target, which runs only the recipe. They do not affect `$(shell ..)` in the text
/// of a makefile.
///
/// # Errors
/// [`FormatError`] with the line of a recipe that the options cannot prevent from running.
pub fn stubs(file: &str, known: &str) -> Result<Vec<String>, FormatError> {
    let wrong = |(makefile, line): (&str, usize), problem: String| {
        Err(FormatError::content(makefile, FilePlace::line(line), problem))
    };
    let Some(database) = Database::read(known) else { return Ok(Vec::new()) };
    let mut stubs = vec![format!("--eval=%: override {STUB}")];
    let own =
        database.targets().into_iter().flat_map(|(name, target)| target.variables.iter().map(move |one| (name, one)));
    let by_pattern = database.patterns().iter().map(|(pattern, variable)| (*pattern, variable));
    for (name, variable) in own.chain(by_pattern).filter(|(_, variable)| variable.name() == "SHELL") {
        if variable.is_override {
            return wrong(
                variable.place.unwrap_or((file, 0)),
                format!("`{name}` overrides SHELL, so its recipe cannot be read without running it; remove `override`"),
            );
        }
        stubs.push(format!("--eval={name}: override {STUB}"));
    }
    if database.get(".SECONDEXPANSION").is_some() {
        let asks = |need: &str| need.contains("$(shell") || need.contains("${shell");
        if let Some((name, _)) =
            database.targets().into_iter().find(|(_, target)| target.needs.iter().any(|need| asks(need)))
        {
            let problem = format!(
                "the prerequisites of `{name}` call a shell in a second expansion (.SECONDEXPANSION), so they cannot be read without running recipes; assign the output of the shell to a variable with `:=`"
            );
            return Err(FormatError::content(file, FilePlace::default(), problem));
        }
    }
    Ok(stubs)
}
