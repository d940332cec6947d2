//! Header lines `; Key: value`.

use crate::Clock;

/// What the header says about the platform and the clock; nothing else in it is believed, least of all the number of jobs.
#[derive(Default)]
pub(super) struct Header {
    processors: Option<u32>,
    nodes: Option<u32>,
    /// Keys that come again with another number.
    contradicted: Vec<&'static str>,
    /// Seconds after 1970 at time 0.
    begin: Option<i64>,
    zone: Option<String>,
    /// Seconds east of Greenwich.
    east: Option<i32>,
}

impl Header {
    /// Takes a line that starts with `;`.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(line);
        let Some((key, value)) = text.trim_start_matches([';', ' ', '\t']).split_once(':') else { return Ok(()) };
        match key.trim() {
            "UnixStartTime" => self.begin = self.begin.or(value.trim().parse().ok().filter(|&second: &i64| second > 0)),
            "TimeZoneString" => {
                let zone = || Some(value.trim().to_owned()).filter(|zone| !zone.is_empty());
                self.zone = self.zone.take().or_else(zone);
            }
            "TimeZone" => self.east = self.east.or(value.trim().parse().ok()),
            _ => {}
        }
        let (key, slot) = match key.trim() {
            "MaxProcs" => ("MaxProcs", &mut self.processors),
            "MaxNodes" => ("MaxNodes", &mut self.nodes),
            _ => return Ok(()),
        };
        // Some logs add an explanation in parentheses after the number, and -1 means unknown.
        let first = value.split_whitespace().next().unwrap_or_default();
        match first.parse::<i64>() {
            Ok(count) if count <= 0 => Ok(()),
            Ok(count) => {
                let count = u32::try_from(count).map_err(|_| format!("{key}: {count} is too large"))?;
                if *slot.get_or_insert(count) != count && !self.contradicted.contains(&key) {
                    self.contradicted.push(key);
                }
                Ok(())
            }
            Err(_) if first.is_empty() => Ok(()),
            Err(_) => Err(format!("`{first}` is not a number; write one such as `; {key}: 100`")),
        }
    }

    /// What the user should know.
    pub(super) fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        self.contradicted.iter().map(|key| format!("the header states {key} several times; the first number counts"))
    }

    /// What a clock shows at the times of the log, and what is to be said of that.
    pub(super) fn clock(&self) -> (Option<Clock>, Option<String>) {
        let Some(begin) = self.begin else { return (None, None) };
        let east = || self.east.map_or_else(|| Clock::local(begin), |east| Clock::east(begin, east));
        match self.zone.as_deref().map(|zone| Clock::named(begin, zone)) {
            None => (east(), None),
            Some(Ok(clock)) => (clock, None),
            Some(Err(problem)) => {
                let told = if self.east.is_some() { "the offset of the header" } else { "universal time" };
                (east(), Some(format!("{problem}; dates are in {told}")))
            }
        }
    }

    /// Processors of the platform.
    pub(super) fn processors(&self) -> Option<u32> {
        self.processors.or(self.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_procs_counts_before_max_nodes() {
        let mut header = Header::default();
        for line in ["; MaxJobs: 10000000", ";MaxNodes: 50 (25 wide)", "; MaxProcs: -1", ";", "; x"] {
            header.take(line.as_bytes()).unwrap();
        }
        assert_eq!(header.processors(), Some(50));
        header.take(b"; MaxProcs: 100").unwrap();
        assert_eq!(header.processors(), Some(100));
        assert_eq!(header.remarks().count(), 0);
        header.take(b"; MaxProcs: 200").unwrap();
        assert_eq!((header.processors(), header.remarks().count()), (Some(100), 1));
        assert!(header.take(b"; MaxProcs: many").is_err());
        assert!(header.take(b"; MaxProcs: 99999999999").is_err());
    }
}
