//! Which nodes have the features that a job needs.

/// An expression over the names of features: `ib`, `ib&ssd`, `a100|h100`, `ib&(a100|h100)`. Of operators beside each other, as in
/// Slurm, each holds for all that is to the left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Constraint {
    Feature(Box<str>),
    Both(Box<Constraint>, Box<Constraint>),
    Either(Box<Constraint>, Box<Constraint>),
}

/// Deeper brackets than these are refused.
const MAX_DEPTH: usize = 50;

impl Constraint {
    /// Reads an expression. Counts (`ib*4`) and alternatives for all nodes together (`[a|b]`) are not known.
    pub fn parse(text: &str) -> Option<Self> {
        let (read, rest) = Self::read(text.trim(), 0)?;
        rest.is_empty().then_some(read)
    }

    fn read(text: &str, depth: usize) -> Option<(Self, &str)> {
        let (mut left, mut rest) = Self::one(text, depth)?;
        while let Some(operator) = rest.chars().next().filter(|c| matches!(c, '&' | '|' | ',')) {
            let (right, behind) = Self::one(&rest[1..], depth)?;
            let (a, b) = (Box::new(left), Box::new(right));
            left = if operator == '|' { Self::Either(a, b) } else { Self::Both(a, b) };
            rest = behind;
        }
        Some((left, rest))
    }

    fn one(text: &str, depth: usize) -> Option<(Self, &str)> {
        if let Some(inner) = text.strip_prefix('(') {
            let (read, rest) = (depth < MAX_DEPTH).then(|| Self::read(inner, depth + 1))??;
            return Some((read, rest.strip_prefix(')')?));
        }
        let end = text.find(['&', '|', ',', '(', ')', '[', ']', '*']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        (!name.is_empty()).then(|| (Self::Feature(name.into()), rest))
    }

    /// Whether a node with these features will do.
    pub fn holds(&self, features: &[Box<str>]) -> bool {
        match self {
            Self::Feature(name) => features.contains(name),
            Self::Both(a, b) => a.holds(features) && b.holds(features),
            Self::Either(a, b) => a.holds(features) || b.holds(features),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_say_which_nodes_will_do() {
        let holds = |text: &str, features: &str| {
            let features: Vec<Box<str>> = features.split(' ').map(Into::into).collect();
            Constraint::parse(text).map(|constraint| constraint.holds(&features))
        };
        assert_eq!(holds("ib", "ib ssd"), Some(true));
        assert_eq!(holds("ib&gpu", "ib ssd"), Some(false));
        assert_eq!(holds("ib&(gpu|ssd)", "ib ssd"), Some(true));
        assert_eq!(holds("ib&(gpu|ssd)", "ssd"), Some(false));
        assert_eq!(holds("gpu|ssd&ib", "gpu"), Some(false), "from left to right");
        for bad in ["", "ib*4", "[a|b]", "a&", "(a", "a)", "a||b", &"(".repeat(5000)] {
            assert_eq!(holds(bad, "ib"), None, "{bad}");
        }
    }
}
