//! The hosts that a user states.

use std::fs;
use std::path::Path;

/// A host that a user states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// The destination for `ssh`, such as `user@host`.
    pub name: String,
    /// Number of cores. If `None`, the host reports its cores.
    pub cores: Option<u32>,
    /// The working folder of tasks. The default is the working folder of the planner.
    pub directory: Option<String>,
    /// Resources that the host has for tasks that need them, such as `bigdisk`.
    pub tags: Vec<String>,
}

impl HostSpec {
    /// Parses a list such as `host1,user@host2*8`.
    ///
    /// # Errors
    /// A description of the first error.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        unique(text.split(',').map(|one| Self::parse(&[one.trim()])).collect::<Result<_, _>>()?)
    }

    /// Reads a file with one host on each line: the name, the number of cores, `directory=DIR` and `tags=A,B`. All
    /// words except the name are optional. `#` begins a comment.
    ///
    /// # Errors
    /// A description of the first error, with the file and the line.
    pub fn file(path: &Path) -> Result<Vec<Self>, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut hosts = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if !words.is_empty() {
                let place = |error| format!("{}, line {}: {error}", path.display(), number + 1);
                hosts.push(Self::parse(&words).map_err(place)?);
            }
        }
        if hosts.is_empty() {
            return Err(format!("{} names no host; write one host on each line, such as: user@host 8", path.display()));
        }
        unique(hosts).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(words: &[&str]) -> Result<Self, String> {
        let (name, starred) = match words[0].rsplit_once('*') {
            Some((name, cores)) => (name, Some(positive(cores)?)),
            None => (words[0], None),
        };
        // The program `ssh` would read a name such as `-oProxyCommand=..` as an option.
        if name.is_empty() || name.starts_with('-') || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(format!("`{name}` is not the name of a host; write a name such as host, or user@host*8"));
        }
        let mut host = Self { name: name.to_owned(), cores: starred, directory: None, tags: Vec::new() };
        for word in &words[1..] {
            match word.split_once('=') {
                Some(("directory", folder)) if folder.starts_with('/') => host.directory = Some(folder.to_owned()),
                Some(("directory", folder)) => {
                    return Err(format!("directory={folder}: write an absolute path, such as directory=/data"));
                }
                Some(("tags", tags)) => host.tags = tags.split(',').map(str::to_owned).collect(),
                None if host.cores.is_none() => host.cores = Some(positive(word)?),
                _ => {
                    return Err(format!(
                        "`{word}` is unknown; after the name, write the number of cores, directory=DIR or tags=A,B"
                    ));
                }
            }
        }
        Ok(host)
    }
}

fn positive(text: &str) -> Result<u32, String> {
    let cores = text.parse().ok().filter(|&cores| (1..=1 << 16).contains(&cores));
    cores.ok_or_else(|| format!("`{text}` is not a number of cores; write a number such as 8"))
}

fn unique(hosts: Vec<HostSpec>) -> Result<Vec<HostSpec>, String> {
    let twice = |(at, host): &(usize, &HostSpec)| hosts[..*at].iter().any(|other| other.name == host.name);
    match hosts.iter().enumerate().find(twice) {
        Some((_, host)) => {
            Err(format!("the host `{0}` is named twice; name it once, with its cores: {0}*8", host.name))
        }
        None => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_from_lists_and_files() {
        let host = |name: &str, cores| HostSpec { name: name.into(), cores, directory: None, tags: vec![] };
        assert_eq!(HostSpec::list("a, u@b*8").unwrap(), [host("a", None), host("u@b", Some(8))]);
        for bad in ["", "a,", "a*0", "a*x", "-oProxyCommand=x", "a,a", "a b"] {
            assert!(HostSpec::list(bad).is_err(), "{bad}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.txt");
        fs::write(&path, "# machines\na 4 directory=/d tags=x,y\n\nb\n").unwrap();
        let first = HostSpec { directory: Some("/d".into()), tags: vec!["x".into(), "y".into()], ..host("a", Some(4)) };
        assert_eq!(HostSpec::file(&path).unwrap(), [first, host("b", None)]);
        for (bad, place) in
            [("a 4 5\n", "line 1"), ("a\nb directory=x\n", "line 2"), ("\n", "no host"), ("a\na\n", "twice")]
        {
            fs::write(&path, bad).unwrap();
            assert!(HostSpec::file(&path).unwrap_err().contains(place), "{bad}");
        }
    }
}
