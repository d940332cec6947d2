//! The form of refusals.

/// Checks that the refusal of a certificate has one of three reasons: the certificate cannot be read, a numbered step
/// is not valid, or the certificate proves less than it claims. The last reason contains both values.
pub fn is_clear_refusal(problem: &str) -> bool {
    let Some((_, reason)) = problem.split_once(": the certificate ").or_else(|| problem.split_once(": step ")) else {
        return !problem.contains("certificate");
    };
    let is_step = |(step, rest): (&str, &str)| {
        step.split('.').all(|number| number.parse::<u32>().is_ok()) && rest.starts_with("is not valid: ")
    };
    reason.starts_with("cannot be read: ")
        || reason.split_once(" of the certificate ").is_some_and(is_step)
        || reason.strip_prefix("proves less than it claims: the bound is ").is_some_and(|values| {
            values.contains(", but the certificate proves ")
                || values.contains(", but the certificate is valid only for ")
        })
}
