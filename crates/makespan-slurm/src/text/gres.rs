//! Generic resources, such as `gpu:a100:2(S:0-1),shard:8`.

use makespan_core::ProcSet;

/// An amount of a generic resource that a node has or a job holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gres {
    /// The name, such as `gpu`.
    pub name: String,
    /// The kind, such as `a100`. May be empty.
    pub kind: String,
    /// The amount of the resource.
    pub count: u64,
    /// The indices of the units, if Slurm states them.
    pub indices: Option<ProcSet>,
    /// True if jobs share the resource without consuming it (`no_consume`).
    pub shared: bool,
}

impl Gres {
    /// The name of GPUs.
    pub const GPU: &'static str = "gpu";

    /// Parses a list. Also returns the parts that cannot be parsed.
    ///
    /// ```
    /// use makespan_slurm::Gres;
    ///
    /// let (gres, strange) = Gres::list("gpu:a100:2(IDX:0-1),shard:8");
    /// assert_eq!((gres[0].name.as_str(), gres[0].kind.as_str(), gres[0].count), ("gpu", "a100", 2));
    /// assert_eq!((gres[1].count, strange.len()), (8, 0));
    /// ```
    pub fn list(text: &str) -> (Vec<Self>, Vec<String>) {
        let (mut gres, mut strange) = (Vec::new(), Vec::new());
        if super::present(text).is_none() {
            return (gres, strange);
        }
        for part in parts(text) {
            match Self::one(part) {
                Some(one) => gres.push(one),
                None => strange.push(part.to_owned()),
            }
        }
        (gres, strange)
    }

    fn one(text: &str) -> Option<Self> {
        let (text, note) = text.split_once('(').map_or((text, ""), |(text, note)| (text, note.trim_end_matches(')')));
        // A request has the form `gres:gpu:2` or `gres/gpu:2`.
        let text = text.strip_prefix("gres:").or_else(|| text.strip_prefix("gres/")).unwrap_or(text);
        // The total of a job over all nodes has the form `gres/gpu:a100=2`.
        let words: Vec<&str> = text.split([':', '=']).collect();
        let (&name, rest) = words.split_first()?;
        let (count, kinds) = match rest.split_last() {
            Some((last, kinds)) => match number(last) {
                Some(count) => (count, kinds),
                None => (1, rest),
            },
            None => (1, rest),
        };
        let shared = kinds.contains(&"no_consume");
        let kinds: Vec<&str> = kinds.iter().copied().filter(|&kind| kind != "no_consume").collect();
        let valid = !name.is_empty() && kinds.iter().all(|kind| !kind.is_empty());
        let indices = note.strip_prefix("IDX:").filter(|ids| *ids != "N/A").and_then(|ids| ids.parse().ok());
        valid.then(|| Self { name: name.into(), kind: kinds.join(":"), count, indices, shared })
    }
}

/// Splits a text at commas outside parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let between = |character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    };
    text.split(between).filter(|part| !part.is_empty()).collect()
}

/// Parses a count with an optional unit (a power of 1024). For example, `4G` is a bandwidth of a file system.
fn number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        (at, 't' | 'T') => (&text[..at], 40),
        _ => (text, 0),
    };
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse::<u64>().ok()?.checked_mul(1 << shift)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str, kind: &str, count: u64) -> Gres {
        Gres { name: name.into(), kind: kind.into(), count, indices: None, shared: false }
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(Gres::list("(null)"), (vec![], vec![]));
        assert_eq!(Gres::list("gpu").0, [plain("gpu", "", 1)]);
        assert_eq!(Gres::list("gpu:a100").0, [plain("gpu", "a100", 1)]);
        assert_eq!(Gres::list("gpu:0").0, [plain("gpu", "", 0)]);
        assert_eq!(Gres::list("gpu:2(S:0,3),fpga:intel:1").0, [plain("gpu", "", 2), plain("fpga", "intel", 1)]);
        assert_eq!(Gres::list("gres:gpu:a100:2").0, [plain("gpu", "a100", 2)]);
        assert_eq!(Gres::list("gres/gpu:a100=2").0, [plain("gpu", "a100", 2)]);
        let bandwidth = Gres { shared: true, ..plain("bandwidth", "lustre", 4 << 30) };
        assert_eq!(Gres::list("bandwidth:lustre:no_consume:4G").0, [bandwidth]);
        let held = Gres { indices: Some("0-1,3".parse().unwrap()), ..plain("gpu", "", 3) };
        assert_eq!(Gres::list("gpu:3(IDX:0-1,3)").0, [held]);
    }

    #[test]
    fn what_is_strange_is_returned() {
        assert_eq!(Gres::list(":2,gpu::1,gpu:1"), (vec![plain("gpu", "", 1)], vec![":2".into(), "gpu::1".into()]));
    }
}
