//! Descriptions of domains for a metascheduler, in TOML.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{FilePlace, FormatError};
use crate::input::open;
use crate::toml_document::from_toml;

/// Maximum size of the file after decompression, in bytes.
const LIMIT: u64 = 1 << 24;
/// Maximum of a price and of a budget.
const GREATEST: f64 = 1e6;

/// The domains of a platform, and the budgets of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainsFile {
    /// The domains, at least one.
    pub domains: Vec<DomainEntry>,
    /// The maximum charge for each job, in thousandths of a unit of cost, by the name of the job.
    pub budgets: BTreeMap<String, i64>,
}

/// A domain of a [`DomainsFile`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainEntry {
    /// The unique name.
    pub name: String,
    /// The names of the nodes, as in the file, such as `n[0-3]`.
    pub nodes: String,
    /// The spec of the local policy.
    pub policy: String,
    /// The price of a processor in thousandths.
    pub price: u32,
    /// The log of the owners' jobs.
    pub log: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainsDocument {
    domains: Vec<DomainDocument>,
    #[serde(default)]
    budgets: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainDocument {
    name: String,
    nodes: String,
    policy: Option<String>,
    price: Option<f64>,
    log: Option<PathBuf>,
}

/// Reads the domains from a file. Relative paths of logs start at the folder of the file.
///
/// # Errors
/// [`FormatError`] with the line, or with the field if its value is not valid.
pub fn read_domains(path: &Path) -> Result<DomainsFile, FormatError> {
    let name = path.display().to_string();
    let raw = File::open(path).map_err(|error| FormatError::io(&name, "open it", error))?;
    let mut text = String::new();
    let read = open(raw, LIMIT).and_then(|mut input| input.read_to_string(&mut text));
    read.map_err(|error| FormatError::io(&name, "read it", error))?;
    let mut file = parse_domains(&name, &text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for log in file.domains.iter_mut().filter_map(|domain| domain.log.as_mut()) {
        *log = folder.join(&*log);
    }
    Ok(file)
}

/// Reads the domains from a text. `file` is the file name for errors.
///
/// ```
/// let text = "domains = [{ name = \"a\", nodes = \"n[0-3]\", price = 1.5 }]\nbudgets = { job0 = 20 }";
/// let file = makespan_formats::parse_domains("domains.toml", text)?;
/// assert_eq!((file.domains[0].price, file.budgets["job0"]), (1500, 20_000));
/// # Ok::<(), makespan_formats::FormatError>(())
/// ```
///
/// # Errors
/// [`FormatError`] with the line, or with the field if its value is not valid.
pub fn parse_domains(file: &str, text: &str) -> Result<DomainsFile, FormatError> {
    let document: DomainsDocument = from_toml(file, text)?;
    let wrong = |field: String, problem: String| FormatError::content(file, FilePlace::field(field), problem);
    if document.domains.is_empty() {
        return Err(wrong("domains".into(), "the list is empty; state at least one domain".into()));
    }
    let mut names = BTreeSet::new();
    let mut domains = Vec::new();
    for (at, domain) in document.domains.into_iter().enumerate() {
        let field = |key: &str| format!("domains[{at}].{key}");
        let DomainDocument { name, nodes, policy, price, log } = domain;
        if name.is_empty() {
            return Err(wrong(field("name"), "the name is empty; write a name".into()));
        }
        if !names.insert(name.clone()) {
            return Err(wrong(field("name"), format!("another domain has the name `{name}`; give each its own name")));
        }
        let price = price.unwrap_or(1.0);
        if !(0.001..=GREATEST).contains(&price) {
            return Err(wrong(field("price"), format!("{price} is not a price from 0.001 to {GREATEST}")));
        }
        let policy = policy.unwrap_or_else(|| "easy".into());
        let price = thousandths(price).map_err(|problem| wrong(field("price"), problem))?;
        domains.push(DomainEntry { name, nodes, policy, price: price as u32, log });
    }
    let mut budgets = BTreeMap::new();
    for (job, budget) in document.budgets {
        let field = format!("budgets.{job}");
        if !(0.0..=GREATEST * 1e6).contains(&budget) {
            return Err(wrong(field, format!("{budget} is not a budget from 0 to {:e}", GREATEST * 1e6)));
        }
        budgets.insert(job, thousandths(budget).map_err(|problem| wrong(field, problem))?);
    }
    Ok(DomainsFile { domains, budgets })
}

/// Converts an amount to thousandths. Returns an error if it has more than three decimals.
fn thousandths(amount: f64) -> Result<i64, String> {
    let whole = (amount * 1000.0).round();
    // Parsing and division both round to the nearest float. So the two floats are equal if the amount has at most three
    // decimals.
    if (whole / 1000.0).total_cmp(&amount).is_ne() {
        return Err(format!("{amount} has more than three decimals; round it to thousandths"));
    }
    Ok(whole as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_to_a_thousandth() {
        for of in 0..20_000_i64 {
            let text = format!("{}.{:03}", of / 1000, of % 1000);
            assert_eq!(thousandths(text.parse().unwrap()), Ok(of), "{text}");
        }
        assert_eq!(thousandths(1e12), Ok(1_000_000_000_000_000));
        assert_eq!(thousandths(999_999_999_999.999), Ok(999_999_999_999_999));
    }

    #[test]
    fn wrong_values_are_named_with_their_place() {
        let domain = |keys: &str| format!("[[domains]]\nname = \"a\"\nnodes = \"n0\"\n{keys}\n");
        assert_eq!(parse_domains("d", &domain("")).unwrap().domains[0].policy, "easy");
        for (text, parts) in [
            ("domains = []".to_owned(), ["d: domains: ", "at least one"]),
            (domain("prize = 2"), ["d:4", "did you mean `price`"]),
            (domain("price = 0"), ["domains[0].price", "from 0.001"]),
            (domain("price = nan"), ["domains[0].price", "from 0.001"]),
            (domain("price = 1.0005"), ["domains[0].price", "1.0005 has more than three decimals"]),
            (domain("[budgets]\njob = 0.0001"), ["budgets.job", "round it to thousandths"]),
            (domain("price = \"x\""), ["domains[0].price", "expected a number"]),
            (domain(&domain("")), ["domains[1].name", "another domain"]),
            (domain("[budgets]\njob = -1"), ["budgets.job", "from 0 to"]),
            ("[[domains]]\nname = \"a\"".to_owned(), ["domains[0]", "`nodes` is missing"]),
        ] {
            let error = parse_domains("d", &text).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
