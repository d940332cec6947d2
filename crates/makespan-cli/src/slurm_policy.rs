//! Specifications of the policy `slurm`, such as `slurm[bf_interval=60]`.

/// Returns the parameters of a specification, or `None` if it is another policy.
fn parameters(spec: &str) -> Option<Vec<&str>> {
    let stated = match spec.trim().strip_prefix("slurm")?.trim() {
        "" => "",
        more => more.strip_prefix('[')?.strip_suffix(']')?,
    };
    Some(stated.split(',').map(str::trim).filter(|part| !part.is_empty()).collect())
}

fn name(part: &str) -> &str {
    part.split('=').next().unwrap_or_default().trim()
}

/// Returns the specification `own` with the parameters that `spec` states. Returns `None` if one of the two is another
/// policy.
pub fn merged(own: &str, spec: &str) -> Option<String> {
    let new = parameters(spec)?;
    let is_replaced = |part: &&str| new.iter().any(|other| name(other) == name(part));
    let mut all: Vec<&str> = parameters(own)?.into_iter().filter(|part| !is_replaced(part)).collect();
    all.extend(new.iter().copied());
    Some(if all.is_empty() { "slurm".to_owned() } else { format!("slurm[{}]", all.join(",")) })
}

/// Returns the value of a parameter, if the specification states it.
pub fn value<'a>(spec: &'a str, parameter: &str) -> Option<&'a str> {
    let part = parameters(spec)?.into_iter().find(|part| name(part) == parameter)?;
    part.split_once('=').map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_parameter_replaces_the_own_one() {
        let own = "slurm[bf_interval=30,bf_window=2d]";
        assert_eq!(merged(own, "slurm").as_deref(), Some(own));
        assert_eq!(merged(own, "slurm[bf_interval = 60]").as_deref(), Some("slurm[bf_window=2d,bf_interval = 60]"));
        assert_eq!((merged("slurm", "slurm[]").as_deref(), merged("slurm", "easy")), (Some("slurm"), None));
        assert_eq!((value(own, "bf_window"), value(own, "bf"), value("easy", "bf_window")), (Some("2d"), None, None));
    }
}
