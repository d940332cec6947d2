//! Which nodes a job may have by their features: `intel&(ib|opa)`, `[intel*1&amd*1]`.

/// An expression over features of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Features {
    /// The node has it.
    Has(String),
    /// All of them hold.
    All(Vec<Self>),
    /// Some of them holds.
    Some(Vec<Self>),
    /// One and the same of them holds on all nodes: `[rack1|rack2]`.
    Same(Vec<Self>),
    /// It holds on so many nodes, whatever the others have: `amd*2`.
    Counted(Box<Self>, u32),
}

/// What the nodes of a job have to have: one way to satisfy an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FeatureChoice {
    /// What holds on each node.
    pub each: Vec<Features>,
    /// What holds on so many nodes. No node counts for two of these.
    pub counted: Vec<(Features, u32)>,
}

/// With parentheses around every part that has parts of its own, so that no order of operators has to be known.
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
    /// Deepest nesting of parentheses that is read.
    const MAX_DEPTH: usize = 32;
    /// Most ways to satisfy an expression that are looked at.
    const MAX_CHOICES: usize = 32;

    /// Reads an expression as Slurm does; `None` if it is none. Of operators beside each other each takes all that is to the left
    /// of it.
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

    /// Whether a node with these features may be one of a job's.
    pub fn hold<S: AsRef<str>>(&self, features: &[S]) -> bool {
        self.choices().iter().any(|choice| choice.may_have(features))
    }

    /// The ways to satisfy it, in the order in which they are written.
    pub fn choices(&self) -> Vec<FeatureChoice> {
        let mut found = match self {
            Self::Counted(inner, count) => {
                vec![FeatureChoice { each: Vec::new(), counted: vec![((**inner).clone(), *count)] }]
            }
            Self::Same(parts) => parts.iter().flat_map(Self::choices).collect(),
            // Where a number is stated, Slurm asks for what is counted alone: `a|b*2` is `b*2`.
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

    /// Whether it speaks of each node by itself.
    fn is_of_one_node(&self) -> bool {
        match self {
            Self::Has(_) => true,
            Self::All(parts) | Self::Some(parts) => parts.iter().all(Self::is_of_one_node),
            Self::Same(_) | Self::Counted(..) => false,
        }
    }

    /// Whether it states numbers of nodes.
    fn counts(&self) -> bool {
        match self {
            Self::Has(_) => false,
            Self::All(parts) | Self::Some(parts) | Self::Same(parts) => parts.iter().any(Self::counts),
            Self::Counted(..) => true,
        }
    }

    /// Whether one node has what is said of one node.
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

    /// Parts with operators between them; in brackets `|` is the same on all nodes, and `&` joins what different nodes have.
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

    /// What is said of one node at least, if no number is.
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
        // Slurm has no sign for what a node must not have, and no feature whose name has one of these.
        if name.is_empty() || name.contains(['!', '{', '}']) { None } else { Self::Has(name.to_owned()).counted(rest) }
    }

    /// With the number that stands behind it.
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
    /// How many nodes the counted parts need together.
    pub fn nodes(&self) -> u32 {
        self.counted.iter().fold(0, |sum, part| sum.saturating_add(part.1))
    }

    /// Whether a node with these features may be one of so many nodes.
    pub fn serves<S: AsRef<str>>(&self, features: &[S], nodes: u32) -> bool {
        let holds = self.each.iter().all(|part| part.holds_on(features));
        // Where each node counts for one part, none may have neither.
        holds
            && (self.nodes() < nodes
                || self.counted.is_empty()
                || self.counted.iter().any(|part| part.0.holds_on(features)))
    }

    /// The counted parts for which such a node counts, as bits; those beyond 64 are never satisfied.
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

/// Puts nodes in front that satisfy counted parts, of which `parts_of` tells the bits of a node and `counts` how many nodes each
/// needs. How many these are, or `None` where there are too few. The order is otherwise kept.
pub fn put_counted_first<T: Copy>(nodes: &mut [T], counts: &[u32], parts_of: impl Fn(T) -> u64) -> Option<usize> {
    let parts: Vec<u64> = nodes.iter().map(|&node| parts_of(node)).collect();
    let chosen = counted_nodes(&parts, counts)?;
    for (to, &from) in chosen.iter().enumerate() {
        nodes[to..=from].rotate_right(1);
    }
    Some(chosen.len())
}

/// Nodes that satisfy counted parts, as positions in `nodes`: of each node the parts for which it counts, as bits, and of each part how
/// many nodes it needs. The first nodes are taken where there is a choice; `None` where there are too few.
fn counted_nodes(nodes: &[u64], counts: &[u32]) -> Option<Vec<usize>> {
    let seats: Vec<usize> = counts.iter().enumerate().flat_map(|(part, &count)| vec![part; count as usize]).collect();
    if seats.len() > nodes.len() {
        return None;
    }
    // Augmenting paths: who has a seat may move to another for the sake of one who has none.
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
