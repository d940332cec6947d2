//! Required features of a job's nodes: `intel&(ib|opa)`, `[intel*1&amd*1]`.

/// A logical expression over features of nodes. The smaller expressions that an operator joins are its parts. An
/// expression holds on a node if the node has the required features.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Features {
    /// The node has this feature.
    Has(String),
    /// All parts hold.
    All(Vec<Self>),
    /// At least one part holds.
    Some(Vec<Self>),
    /// One of the parts holds on all nodes of the job. For example, `[rack1|rack2]` requires that all nodes are in one
    /// rack.
    Same(Vec<Self>),
    /// The part holds on this number of nodes of the job, such as 2 in `amd*2`. The job's other nodes may have any
    /// features.
    Counted(Box<Self>, u32),
}

/// One way to satisfy an expression: requirements on the nodes of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FeatureChoice {
    /// Requirements that hold on each node.
    pub each: Vec<Features>,
    /// Requirements, each with the number of nodes on which it must hold. Each node of the job is assigned to at most
    /// one of these requirements.
    pub counted: Vec<(Features, u32)>,
}

/// Prints parentheses around every part that has parts of its own, so that the text does not depend on the precedence
/// of operators.
impl std::fmt::Display for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (parts, sign, around) = match self {
            Self::Has(name) => return f.write_str(name),
            Self::Counted(inner, count) => {
                inner.nested(f)?;
                return write!(f, "*{count}");
            }
            Self::All(parts) => (parts, "&", ("", "")),
            Self::Some(parts) => (parts, "|", ("", "")),
            Self::Same(parts) => (parts, "|", ("[", "]")),
        };
        f.write_str(around.0)?;
        for (at, part) in parts.iter().enumerate() {
            f.write_str(if at > 0 { sign } else { "" })?;
            part.nested(f)?;
        }
        f.write_str(around.1)
    }
}

impl Features {
    /// Maximum nesting depth of parentheses.
    const MAX_DEPTH: usize = 32;
    /// Maximum number of ways to satisfy an expression. Further ways are ignored.
    const MAX_CHOICES: usize = 32;

    /// Parses an expression with the rules of Slurm. Returns `None` if the text is not a valid expression. Operators
    /// have equal precedence and associate to the left.
    ///
    /// ```
    /// use makespan_core::Features;
    ///
    /// let wanted = Features::parse("intel&(ib|opa)").unwrap();
    /// assert!(wanted.hold(&["intel", "opa"]) && !wanted.hold(&["intel"]));
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let found = Self::list(&mut rest, 0, false)?;
        rest.is_empty().then_some(found)
    }

    /// Returns true if a node with these features can be one of the nodes of a job that requires this expression.
    pub fn hold<S: AsRef<str>>(&self, features: &[S]) -> bool {
        self.choices().iter().any(|choice| choice.may_have(features))
    }

    /// Returns the ways to satisfy the expression, in the order in which the expression states them.
    pub fn choices(&self) -> Vec<FeatureChoice> {
        let mut found = match self {
            Self::Counted(inner, count) => {
                vec![FeatureChoice { each: Vec::new(), counted: vec![((**inner).clone(), *count)] }]
            }
            Self::Same(parts) => parts.iter().flat_map(Self::choices).collect(),
            // If some part has a number of nodes (is counted), Slurm ignores the alternatives without a number: `a|b*2`
            // means `b*2`.
            Self::Some(parts) if parts.iter().any(Self::counts) => {
                parts.iter().filter(|part| part.counts()).flat_map(Self::choices).collect()
            }
            Self::Some(parts) if parts.iter().any(|part| !part.is_of_one_node()) => {
                parts.iter().flat_map(Self::choices).collect()
            }
            Self::All(parts) => parts.iter().fold(vec![FeatureChoice::default()], |all, part| {
                let own = part.choices();
                all.iter().flat_map(|one| own.iter().map(|other| one.with(other))).take(Self::MAX_CHOICES).collect()
            }),
            plain => vec![FeatureChoice { each: vec![plain.clone()], counted: Vec::new() }],
        };
        found.truncate(Self::MAX_CHOICES);
        found
    }

    /// Returns true if the expression constrains each node separately, that is, if no part compares or counts nodes.
    fn is_of_one_node(&self) -> bool {
        match self {
            Self::Has(_) => true,
            Self::All(parts) | Self::Some(parts) => parts.iter().all(Self::is_of_one_node),
            Self::Same(_) | Self::Counted(..) => false,
        }
    }

    /// Returns true if some part of the expression states the number of nodes on which it must hold.
    fn counts(&self) -> bool {
        match self {
            Self::Has(_) => false,
            Self::All(parts) | Self::Some(parts) | Self::Same(parts) => parts.iter().any(Self::counts),
            Self::Counted(..) => true,
        }
    }

    /// Returns true if a node with these features satisfies the expression. Ignores the numbers of nodes in the
    /// expression.
    fn holds_on<S: AsRef<str>>(&self, features: &[S]) -> bool {
        match self {
            Self::Has(name) => features.iter().any(|feature| feature.as_ref() == name),
            Self::All(parts) => parts.iter().all(|part| part.holds_on(features)),
            Self::Some(parts) | Self::Same(parts) => parts.iter().any(|part| part.holds_on(features)),
            Self::Counted(inner, _) => inner.holds_on(features),
        }
    }

    fn nested(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if matches!(self, Self::All(_) | Self::Some(_)) { write!(f, "({self})") } else { write!(f, "{self}") }
    }

    /// Parses parts with operators between them. Inside brackets, `|` selects one part that must hold on all nodes, and
    /// `&` joins requirements that different nodes satisfy.
    fn list(rest: &mut &str, depth: usize, in_brackets: bool) -> Option<Self> {
        let mut left = Self::atom(rest, depth)?;
        let mut last = None;
        while let Some(sign) = rest.chars().next().filter(|sign| matches!(sign, '&' | '|' | ',')) {
            let sign = if sign == ',' { '&' } else { sign };
            *rest = &rest[1..];
            let right = Self::atom(rest, depth)?;
            left = match (left, sign) {
                (Self::All(mut parts), '&') if last == Some('&') => {
                    parts.push(right);
                    Self::All(parts)
                }
                (Self::Same(mut parts), '|') if last == Some('|') && in_brackets => {
                    parts.push(right);
                    Self::Same(parts)
                }
                (Self::Some(mut parts), '|') if last == Some('|') => {
                    parts.push(right);
                    Self::Some(parts)
                }
                (left, '&') => Self::All(vec![left, right]),
                (left, _) if in_brackets => Self::Same(vec![left, right]),
                (left, _) => Self::Some(vec![left, right]),
            };
            last = Some(sign);
        }
        Some(match left {
            Self::All(parts) if in_brackets && last == Some('&') => {
                Self::All(parts.into_iter().map(Self::once).collect())
            }
            left => left,
        })
    }

    /// Turns an expression that constrains each node separately into a requirement on one node only: `intel` becomes
    /// `intel*1`.
    fn once(self) -> Self {
        if self.is_of_one_node() { Self::Counted(Box::new(self), 1) } else { self }
    }

    fn atom(rest: &mut &str, depth: usize) -> Option<Self> {
        if depth > Self::MAX_DEPTH {
            return None;
        }
        for (open, close) in [('(', ')'), ('[', ']')] {
            if let Some(behind) = rest.strip_prefix(open) {
                *rest = behind;
                let inner = Self::list(rest, depth + 1, open == '[')?;
                *rest = rest.strip_prefix(close)?;
                return inner.counted(rest);
            }
        }
        let length = rest.find(|sign: char| "&|()[]*,".contains(sign) || sign.is_whitespace()).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        *rest = behind;
        // Slurm has no operator for a feature that a node must not have, and no feature name contains one of these
        // characters.
        if name.is_empty() || name.contains(['!', '{', '}']) { None } else { Self::Has(name.to_owned()).counted(rest) }
    }

    /// Parses the number of nodes after the expression, such as `*2`, if the text has one.
    fn counted(self, rest: &mut &str) -> Option<Self> {
        let Some(behind) = rest.strip_prefix('*') else { return Some(self) };
        let length = behind.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(behind.len());
        let (number, behind) = behind.split_at(length);
        *rest = behind;
        let count = number.parse().ok()?;
        Some(if count == 0 { self } else { Self::Counted(Box::new(self), count) })
    }
}

impl FeatureChoice {
    /// Returns the total number of nodes that the entries of `counted` require.
    pub fn nodes(&self) -> u32 {
        self.counted.iter().fold(0, |sum, part| sum.saturating_add(part.1))
    }

    /// Returns true if a node with these features can be one of the nodes of a job that has `nodes` nodes in total.
    pub fn serves<S: AsRef<str>>(&self, features: &[S], nodes: u32) -> bool {
        let holds = self.each.iter().all(|part| part.holds_on(features));
        // If the counted parts require all nodes of the job, each node must satisfy one of these parts.
        holds
            && (self.nodes() < nodes
                || self.counted.is_empty()
                || self.counted.iter().any(|part| part.0.holds_on(features)))
    }

    /// Returns the counted parts that a node with these features satisfies: bit i is set for part i. The result has no
    /// bit for parts beyond the first 64, so no node satisfies them.
    pub fn parts_of<S: AsRef<str>>(&self, features: &[S]) -> u64 {
        let parts = self.counted.iter().take(64).enumerate();
        parts.filter(|(_, part)| part.0.holds_on(features)).fold(0, |bits, (at, _)| bits | 1 << at)
    }

    fn may_have<S: AsRef<str>>(&self, features: &[S]) -> bool {
        self.serves(features, self.nodes())
    }

    fn with(&self, other: &Self) -> Self {
        let (mut each, mut counted) = (self.each.clone(), self.counted.clone());
        each.extend(other.each.iter().cloned());
        counted.extend(other.counted.iter().cloned());
        Self { each, counted }
    }
}

/// Chooses nodes that satisfy the counted parts, moves them to the front of the list and returns their number. Returns
/// `None` if too few nodes are suitable. `parts_of` returns the parts that a node satisfies, as bits. `counts` contains
/// the number of nodes that each part requires. The order of the nodes is otherwise unchanged.
pub fn put_counted_first<T: Copy>(nodes: &mut [T], counts: &[u32], parts_of: impl Fn(T) -> u64) -> Option<usize> {
    let parts: Vec<u64> = nodes.iter().map(|&node| parts_of(node)).collect();
    let chosen = counted_nodes(&parts, counts)?;
    for (to, &from) in chosen.iter().enumerate() {
        nodes[to..=from].rotate_right(1);
    }
    Some(chosen.len())
}

/// Returns the positions of nodes that satisfy the counted parts, or `None` if too few nodes are suitable. `nodes`
/// contains, for each node, the parts that it satisfies, as bits. `counts` contains the number of nodes that each part
/// requires. The first suitable nodes are chosen.
fn counted_nodes(nodes: &[u64], counts: &[u32]) -> Option<Vec<usize>> {
    let seats: Vec<usize> = counts.iter().enumerate().flat_map(|(part, &count)| vec![part; count as usize]).collect();
    if seats.len() > nodes.len() {
        return None;
    }
    // Bipartite matching by augmenting paths. A seat is one of the nodes that a part requires. Seats exchange their
    // nodes until a node is free for a seat that has none.
    let mut seat_of: Vec<Option<usize>> = vec![None; seats.len()];
    for seat in 0..seats.len() {
        let mut seen = vec![false; nodes.len()];
        if !seated(seat, &seats, nodes, &mut seat_of, &mut seen) {
            return None;
        }
    }
    let mut chosen: Vec<usize> = seat_of.into_iter().flatten().collect();
    chosen.sort_unstable();
    Some(chosen)
}

fn seated(seat: usize, seats: &[usize], nodes: &[u64], seat_of: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    let part = seats[seat];
    for node in 0..nodes.len() {
        if seen[node] || part >= 64 || nodes[node] >> part & 1 == 0 {
            continue;
        }
        seen[node] = true;
        let holder = seat_of.iter().position(|&taken| taken == Some(node));
        if holder.is_none_or(|holder| seated(holder, seats, nodes, seat_of, seen)) {
            seat_of[seat] = Some(node);
            return true;
        }
    }
    false
}

#[cfg(test)]
#[path = "features/tests.rs"]
mod tests;
