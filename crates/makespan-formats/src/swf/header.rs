//! Reads header lines of the form `; Key: value`.

use crate::Clock;

/// Data about the platform and the clock from the header. All other data are ignored, because they are often wrong, in
/// particular the number of jobs.
#[derive(Default)]
pub(super) struct Header {
    processors: Option<u32>,
    nodes: Option<u32>,
    /// Keys that occur several times with different numbers.
    contradicted: Vec<&'static str>,
    /// Time 0 of the log, in seconds after the beginning of 1970.
    begin: Option<i64>,
    zone: Option<String>,
    /// Offset from UTC, in seconds. Positive values are east of Greenwich.
    east: Option<i32>,
    /// Text of the offset, if it is unreadable.
    strange_offset: Option<String>,
    /// Second of the week at the start of the log, counted from Monday, 0:00, in the local time of the log.
    local: Option<i64>,
}

/// Returns the seconds since Monday, 0:00, of a date such as `Tue Feb 21 18:44:15 IST 2006` (the format of the command
/// `date`).
fn week_of(date: &str) -> Option<i64> {
    let day = date.split_whitespace().next()?.get(..3)?;
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let day = days.iter().position(|known| known.eq_ignore_ascii_case(day))? as i64;
    let times = date.split_whitespace().find(|word| word.matches(':').count() == 2)?;
    let parts: Vec<i64> = times.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let fits = parts.iter().zip([24, 60, 61]).all(|(&part, limit)| (0..limit).contains(&part));
    fits.then(|| day * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2])
}

impl Header {
    /// Reads a line that starts with `;`.
    ///
    /// # Errors
    /// The key and its text, if the line states the number of processors but the number is unreadable.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(line);
        let Some((key, value)) = text.trim_start_matches([';', ' ', '\t']).split_once(':') else { return Ok(()) };
        match key.trim() {
            "UnixStartTime" => self.begin = self.begin.or(value.trim().parse().ok().filter(|&second: &i64| second > 0)),
            "TimeZoneString" => {
                let zone = || Some(value.trim().to_owned()).filter(|zone| !zone.is_empty());
                self.zone = self.zone.take().or_else(zone);
            }
            "StartTime" => self.local = self.local.or(week_of(value)),
            "TimeZone" => {
                let read = value.trim().parse().ok().filter(|&east: &i32| Clock::east(0, east).is_some());
                if read.is_none() && !value.trim().is_empty() && self.strange_offset.is_none() {
                    self.strange_offset = Some(value.trim().to_owned());
                }
                self.east = self.east.or(read);
            }
            _ => {}
        }
        let (key, slot) = match key.trim() {
            "MaxProcs" => ("MaxProcs", &mut self.processors),
            "MaxNodes" => ("MaxNodes", &mut self.nodes),
            _ => return Ok(()),
        };
        // Some logs add an explanation in parentheses after the number, and -1 means unknown.
        let first = value.split_whitespace().next().unwrap_or_default();
        let unread = || format!("{key}: {first}");
        match first.parse::<i64>() {
            Ok(count) if count <= 0 => Ok(()),
            Ok(count) => {
                let count = u32::try_from(count).map_err(|_| unread())?;
                if *slot.get_or_insert(count) != count && !self.contradicted.contains(&key) {
                    self.contradicted.push(key);
                }
                Ok(())
            }
            Err(_) if first.is_empty() => Ok(()),
            Err(_) => Err(unread()),
        }
    }

    /// Returns the second of the week at instant 0, counted from Monday, 0:00, in the time zone of the log. If the
    /// header states no time zone, the result is in UTC.
    pub(super) fn week(&self) -> Option<i64> {
        self.local.or_else(|| self.clock().0.map(|clock| clock.week()))
    }

    /// Returns remarks for the user.
    pub(super) fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        self.contradicted.iter().map(|key| {
            format!("the header states {key} several times, with different numbers; the first number is used")
        })
    }

    /// Returns the clock of the log, and a warning if the time zone is unreadable.
    pub(super) fn clock(&self) -> (Option<Clock>, Option<String>) {
        let Some(begin) = self.begin else { return (None, None) };
        let east = || self.east.map_or_else(|| Clock::local(begin), |east| Clock::east(begin, east));
        match self.zone.as_deref().map(|zone| Clock::named(begin, zone)) {
            None => {
                let strange = self.strange_offset.as_ref().filter(|_| self.east.is_none());
                let told = |text: &String| {
                    format!("TimeZone: `{text}` is not an offset in seconds such as 3600; dates are in universal time")
                };
                (east(), strange.map(told))
            }
            Some(Ok(clock)) => (clock, None),
            Some(Err(problem)) => {
                let told = if self.east.is_some() { "the offset of the header" } else { "universal time" };
                (east(), Some(format!("{problem}; dates are in {told}")))
            }
        }
    }

    /// Returns the number of processors of the platform.
    pub(super) fn processors(&self) -> Option<u32> {
        self.processors.or(self.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_week_is_that_of_the_clock_of_the_log() {
        let week = |lines: &[&str]| {
            let mut header = Header::default();
            lines.iter().for_each(|line| header.take(line.as_bytes()).unwrap());
            header.week()
        };
        assert_eq!(week(&["; MaxProcs: 8"]), None);
        // Saturday, 1 January 2000, 0:00 in UTC. The local time is an hour later in Paris, and Friday evening in New
        // York.
        let start = "; UnixStartTime: 946684800";
        assert_eq!(week(&[start]), Some(5 * 86_400));
        assert_eq!(week(&[start, "; TimeZone: 3600"]), Some(5 * 86_400 + 3600));
        assert_eq!(week(&[start, "; StartTime: Fri Dec 31 19:00:00 EST 1999"]), Some(4 * 86_400 + 19 * 3600));
        for unknown in
            ["; StartTime: yesterday", "; StartTime: Fri 25:00:00", "; UnixStartTime: -1", "; UnixStartTime: ?"]
        {
            assert_eq!(week(&[unknown]), None, "{unknown}");
        }
    }

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
