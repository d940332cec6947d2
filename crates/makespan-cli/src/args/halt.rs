//! The value of `--halt`, in the notation of GNU parallel.

use std::str::FromStr;

use makespan_exec::{HaltCount, HaltLimit, HaltRule};

/// The rule that ends a run early, or `None` if no rule is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HaltOption(pub Option<HaltRule>);

/// Short forms of the rule in GNU parallel, each with its long form.
const SHORT: [(&str, &str); 5] =
    [("0", "never"), ("1", "soon,fail=1"), ("2", "now,fail=1"), ("-1", "soon,success=1"), ("-2", "now,success=1")];

impl FromStr for HaltOption {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "write never, or WHEN,RULE: WHEN is now or soon, and RULE is fail=N, success=N or done=N (a \
                     number or a percentage above 0), such as now,fail=1 or soon,fail=30%";
        let text = SHORT.iter().find(|(short, _)| *short == text).map_or(text, |(_, long)| long);
        if text == "never" || text.starts_with("never,") {
            return Ok(Self(None));
        }
        let percent = text.strip_suffix('%').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let text = if percent.is_some() { format!("soon,fail={text}") } else { text.to_owned() };
        let (when, rest) = text.split_once(',').ok_or(wrong)?;
        let ends_running = match when {
            "now" => true,
            "soon" => false,
            _ => return Err(wrong),
        };
        let (counted, limit) = rest.split_once('=').ok_or(wrong)?;
        let counts = match counted {
            "fail" => HaltCount::Failures,
            "success" => HaltCount::Successes,
            "done" => HaltCount::Ends,
            _ => return Err(wrong),
        };
        let (digits, is_percent) = limit.strip_suffix('%').map_or((limit, false), |digits| (digits, true));
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u32 = digits.parse().ok().filter(|&number| is_plain && number > 0).ok_or(wrong)?;
        let limit = if is_percent { HaltLimit::Percent(number) } else { HaltLimit::Number(number.into()) };
        Ok(Self(Some(HaltRule { ends_running, counts, limit })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_those_of_gnu_parallel() {
        let rule = |ends_running, counts, limit| Some(HaltRule { ends_running, counts, limit });
        for (text, expected) in [
            ("never", None),
            ("0", None),
            ("soon,fail=1", Some(HaltRule::FAIL_FAST)),
            ("1", Some(HaltRule::FAIL_FAST)),
            ("2", rule(true, HaltCount::Failures, HaltLimit::Number(1))),
            ("-1", rule(false, HaltCount::Successes, HaltLimit::Number(1))),
            ("-2", rule(true, HaltCount::Successes, HaltLimit::Number(1))),
            ("now,success=3", rule(true, HaltCount::Successes, HaltLimit::Number(3))),
            ("soon,done=30%", rule(false, HaltCount::Ends, HaltLimit::Percent(30))),
            ("5%", rule(false, HaltCount::Failures, HaltLimit::Percent(5))),
        ] {
            assert_eq!(text.parse(), Ok(HaltOption(expected)), "{text}");
        }
        let wrong =
            ["", "now", "now,", "now,fail", "now,fail=", "later,fail=1", "now,fails=1", "now,fail=0", "now,fail=0%"];
        let more =
            ["now,fail=1.5", "soon,fail=x", "soon,fail=-1", "soon,fail=+1", "3", "%", "0%", "now,fail=99999999999"];
        for text in wrong.into_iter().chain(more) {
            assert!(text.parse::<HaltOption>().is_err(), "{text}");
        }
    }
}
