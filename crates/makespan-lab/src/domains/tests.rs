use super::*;
use crate::campaign::tests::{played, refused};

#[test]
fn a_small_campaign_keeps_budgets_and_serves_users() {
    let folder = tempfile::tempdir().unwrap();
    let options = DomainsOptions { owners: 60, users: 4, runs: 1, ..DomainsOptions::usual() };
    let (first, runs) = played(&options, folder.path());
    assert_eq!((first.runs, first.reused, first.claims.len()), (2, 0, 5));
    for run in &runs {
        let [alone, local, with] = [0, 1, 2].map(|at| &run.outcomes[at].1);
        assert_eq!((alone.users_wait, local.cancelled, with.over_budget), (None, 0, 0), "{run:?}");
        assert!(with.in_time + with.cancelled <= 4, "{run:?}");
    }
    let (again, _) = played(&options, folder.path());
    assert_eq!((again.reused, again.text == first.text), (2, true));
    refused(&DomainsOptions { policies: vec!["easy".into()], ..options }, folder.path(), "policies");
}
