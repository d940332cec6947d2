//! Parses scenarios.

use makespan_formats::Estimates;

/// A scenario: a list of changes to the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Text of the scenario, as the user wrote it.
    pub name: String,
    pub changes: Vec<ScenarioChange>,
}

/// A change to the log or to the policy.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioChange {
    /// Another number of nodes.
    Nodes(Amount),
    /// Another number of processors, on a platform that does not state its nodes.
    Processors(Amount),
    Policy(String),
    Estimates(Estimates),
    /// Removal of one job, or of all jobs of a user, account, partition or QOS.
    Without(JobSelector, String),
    /// Factor by which the arrival rate of jobs is multiplied.
    Load(f64),
}

/// A number, or a change of the present number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    All(u32),
    More(u32),
    Fewer(u32),
}

/// The property that selects the jobs to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobSelector {
    User,
    Account,
    Partition,
    Qos,
    Job,
}

const WORDS: &str = "now, nodes=+20, nodes=-4, nodes=100, processors=+20, policy=conservative, estimates=clairvoyant, load=1.2, or without user=ann \
                     (account=, partition=, qos=, job=)";

impl Scenario {
    /// Returns the policy that the scenario names, if any.
    pub fn policy(&self) -> Option<&str> {
        self.changes.iter().find_map(|change| match change {
            ScenarioChange::Policy(policy) => Some(policy.as_str()),
            _ => None,
        })
    }

    /// Parses words that are separated by spaces outside brackets, such as
    /// `nodes=+20 policy=easy[order=saf] without user=ann`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |problem: String| format!("--scenario '{text}': {problem}; write words such as {WORDS}");
        let words = words(text);
        if words.is_empty() {
            return Err(wrong("it is empty".into()));
        }
        let mut changes = Vec::new();
        let mut left = words.iter().peekable();
        while let Some(word) = left.next() {
            match word.as_str() {
                "now" if words.len() == 1 => {}
                "now" => return Err(wrong("`now` excludes all changes".into())),
                "without" => {
                    let next = left.next().ok_or_else(|| wrong("a word is missing after `without`".into()))?;
                    changes.push(without(next).map_err(wrong)?);
                }
                word => {
                    let change = change(word).map_err(wrong)?;
                    let same =
                        |other: &ScenarioChange| std::mem::discriminant(other) == std::mem::discriminant(&change);
                    if changes.iter().any(same) {
                        return Err(wrong(format!("`{word}` is a second change of the same kind")));
                    }
                    changes.push(change);
                }
            }
        }
        Ok(Self { name: text.trim().to_owned(), changes })
    }
}

/// Splits a text at spaces outside brackets.
fn words(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = text.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c.is_whitespace() && depth <= 0
    });
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn change(word: &str) -> Result<ScenarioChange, String> {
    let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not a known change"))?;
    match key {
        "nodes" => {
            amount(value).map(ScenarioChange::Nodes).ok_or_else(|| format!("`{value}` is not a number of nodes"))
        }
        "processors" => amount(value)
            .map(ScenarioChange::Processors)
            .ok_or_else(|| format!("`{value}` is not a number of processors")),
        "policy" if !value.is_empty() => Ok(ScenarioChange::Policy(value.to_owned())),
        "estimates" => value.parse().map(ScenarioChange::Estimates),
        "load" => {
            let factor = value.parse::<f64>().ok().filter(|factor| (1e-3..=1e3).contains(factor));
            factor.map(ScenarioChange::Load).ok_or_else(|| format!("`{value}` is not a load from 0.001 to 1000"))
        }
        "user" | "account" | "partition" | "qos" | "job" => Err(format!("`without` is missing before `{word}`")),
        _ => Err(format!("`{word}` is not a known change")),
    }
}

fn amount(text: &str) -> Option<Amount> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    match text.as_bytes().first()? {
        b'+' => number(&text[1..]).map(Amount::More),
        b'-' => number(&text[1..]).map(Amount::Fewer),
        _ => number(text).filter(|&all| all > 0).map(Amount::All),
    }
}

fn without(word: &str) -> Result<ScenarioChange, String> {
    let wrong = || format!("`without {word}` does not state whose jobs");
    let (key, value) = word.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
    let whose = match key {
        "user" => JobSelector::User,
        "account" => JobSelector::Account,
        "partition" => JobSelector::Partition,
        "qos" => JobSelector::Qos,
        "job" => JobSelector::Job,
        _ => return Err(wrong()),
    };
    Ok(ScenarioChange::Without(whose, value.to_owned()))
}

impl JobSelector {
    /// Returns the word for this property in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
            Self::Partition => "partition",
            Self::Qos => "QOS",
            Self::Job => "job",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_words() {
        let changes = |text: &str| Scenario::parse(text).unwrap().changes;
        assert_eq!(changes("now"), []);
        assert_eq!(
            changes(" nodes=+20  policy=replan[scheduler=list, keep=oldest] without user=ann without job=3"),
            [
                ScenarioChange::Nodes(Amount::More(20)),
                ScenarioChange::Policy("replan[scheduler=list, keep=oldest]".into()),
                ScenarioChange::Without(JobSelector::User, "ann".into()),
                ScenarioChange::Without(JobSelector::Job, "3".into()),
            ]
        );
        assert_eq!(changes("nodes=-4 load=1.5"), [ScenarioChange::Nodes(Amount::Fewer(4)), ScenarioChange::Load(1.5)]);
        for (bad, part) in [
            ("", "it is empty"),
            ("now nodes=3", "excludes all changes"),
            ("nodes=0", "not a number"),
            ("processors=x", "not a number of processors"),
            ("nodes=++3", "not a number"),
            ("nodes=3 nodes=4", "second"),
            ("without", "after `without`"),
            ("without ann", "whose jobs"),
            ("user=ann", "`without` is missing"),
            ("load=0", "not a load"),
            ("estimates=good", "not a kind"),
            ("faster", "not a known change"),
        ] {
            let error = Scenario::parse(bad).unwrap_err();
            assert!(error.contains(part) && error.contains("nodes=+20"), "{bad}: {error}");
        }
    }
}
