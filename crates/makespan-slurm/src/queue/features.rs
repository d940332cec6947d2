//! Which nodes a job may have by their features: `intel&(ib|opa)`.

/// An expression over features of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Features {
    /// The node has it.
    Has(String),
    /// All of them hold.
    All(Vec<Self>),
    /// Some of them holds.
    Some(Vec<Self>),
}

/// With parentheses around every part that has parts of its own, so that no precedence has to be known.
impl std::fmt::Display for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (parts, sign) = match self {
            Self::Has(name) => return f.write_str(name),
            Self::All(parts) => (parts, "&"),
            Self::Some(parts) => (parts, "|"),
        };
        for (at, part) in parts.iter().enumerate() {
            f.write_str(if at > 0 { sign } else { "" })?;
            match part {
                Self::Has(name) => f.write_str(name)?,
                part => write!(f, "({part})")?,
            }
        }
        Ok(())
    }
}

impl Features {
    /// Deepest nesting of parentheses that is read.
    const MAX_DEPTH: usize = 32;

    /// Reads an expression; `None` if it is none. Numbers of nodes behind features (`[intel*1&amd*1]`) are left out: any node
    /// with one of the features counts, as does any of alternatives that all nodes of a job should share (`[a|b]`).
    ///
    /// ```
    /// use makespan_slurm::queue::Features;
    ///
    /// let wanted = Features::parse("intel&(ib|opa)").unwrap();
    /// assert!(wanted.hold(&["intel".into(), "opa".into()]) && !wanted.hold(&["intel".into()]));
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let found = Self::sum(&mut rest, 0)?;
        rest.is_empty().then_some(found)
    }

    /// Whether a node with these features will do.
    pub fn hold(&self, features: &[String]) -> bool {
        match self {
            Self::Has(name) => features.iter().any(|feature| feature == name),
            Self::All(parts) => parts.iter().all(|part| part.hold(features)),
            Self::Some(parts) => parts.iter().any(|part| part.hold(features)),
        }
    }

    fn sum(rest: &mut &str, depth: usize) -> Option<Self> {
        let mut parts = vec![Self::product(rest, depth)?];
        while let Some(behind) = rest.strip_prefix('|') {
            *rest = behind;
            parts.push(Self::product(rest, depth)?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Self::Some(parts) })
    }

    fn product(rest: &mut &str, depth: usize) -> Option<Self> {
        let mut parts = vec![Self::atom(rest, depth)?];
        while let Some(behind) = rest.strip_prefix(['&', ',']) {
            *rest = behind;
            parts.push(Self::atom(rest, depth)?);
        }
        // With numbers of nodes, each part speaks of some of the nodes only.
        Some(if parts.len() == 1 { parts.remove(0) } else { Self::All(parts) })
    }

    fn atom(rest: &mut &str, depth: usize) -> Option<Self> {
        if depth > Self::MAX_DEPTH {
            return None;
        }
        for (open, close) in [('(', ')'), ('[', ']')] {
            if let Some(behind) = rest.strip_prefix(open) {
                *rest = behind;
                let inner = Self::sum(rest, depth + 1)?;
                *rest = rest.strip_prefix(close)?;
                let counted = Self::skip_number(rest);
                // In brackets, parts joined by `&` are for different nodes.
                return Some(match inner {
                    Self::All(parts) if open == '[' => Self::Some(parts),
                    inner if counted || open == '(' || open == '[' => inner,
                    inner => inner,
                });
            }
        }
        let length = rest.find(|sign: char| "&|()[]*,".contains(sign) || sign.is_whitespace()).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        *rest = behind;
        Self::skip_number(rest);
        (!name.is_empty()).then(|| Self::Has(name.to_owned()))
    }

    /// Leaves out `*3`.
    fn skip_number(rest: &mut &str) -> bool {
        let Some(behind) = rest.strip_prefix('*') else { return false };
        *rest = behind.trim_start_matches(|sign: char| sign.is_ascii_digit());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_every_form_are_read() {
        let node = |features: &[&str]| -> Vec<String> { features.iter().map(|&feature| feature.to_owned()).collect() };
        for (text, features, holds) in [
            ("amd", &["amd", "ib"][..], true),
            ("intel&ib", &["amd", "ib"], false),
            ("intel|ib", &["amd", "ib"], true),
            ("[intel*1&amd*1]", &["amd"], true),
            ("[rack1|rack2]", &["rack2"], true),
            ("(a|b)&c", &["b"], false),
            ("intel*4&ib", &["intel", "ib"], true),
            ("a,b", &["a"], false),
        ] {
            let read = Features::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(read.hold(&node(features)), holds, "{text}");
            assert_eq!(Features::parse(&read.to_string()).as_ref(), Some(&read), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for wrong in ["", "&", "a&", "(a", "a)", "[a|]", "a b", &"(".repeat(100_000)] {
            assert_eq!(Features::parse(wrong), None);
        }
    }
}
