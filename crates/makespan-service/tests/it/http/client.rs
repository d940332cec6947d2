//! Tests of the client with a real server.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use makespan_service::client::{Client, ClientOptions, write_url};
use makespan_service::tokens::{Tokens, ensure_own, list, write_private};
use makespan_service::words::{JobNumber, Role, State, Stream, Submission};

use crate::http::site::{Site, submission};

fn client(site: &Site, token: &str) -> Client {
    let file = site.store.path().join("mine");
    write_private(&file, token.as_bytes()).unwrap();
    let url = Some(site.server.url().to_owned());
    Client::open(&ClientOptions { url, token_file: Some(file), ..ClientOptions::default() }).unwrap()
}

fn one(name: &str) -> Submission {
    serde_json::from_str(&submission(name)).unwrap()
}

#[test]
fn a_client_submits_watches_and_reads() {
    let site = Site::new();
    let alice = client(&site, &site.alice);
    assert_eq!(alice.submit(&one("a")).unwrap().jobs, [JobNumber(1)]);
    assert_eq!(alice.submit_many(vec![one("b"); 2500]).unwrap().len(), 2500);
    let jobs = alice.jobs("state=waiting", usize::MAX).unwrap();
    assert_eq!((jobs.items.len(), jobs.total, jobs.next), (2501, 2501, None));
    assert_eq!(alice.jobs("", 7).unwrap().items.len(), 7);
    let mut events = alice.events(None).unwrap();
    assert_eq!(events.begin().unwrap(), 2501);
    assert_eq!(alice.change(JobNumber(1), "cancel").unwrap(), State::Cancelled);
    let happening = events.following().unwrap();
    assert_eq!((happening.job, happening.state, events.latest()), (JobNumber(1), State::Cancelled, 2502));
    site.fake.print(b"\xffabc", true);
    let part = alice.log(JobNumber(1), 0, Stream::Out, 2).unwrap();
    assert_eq!((part.bytes.as_slice(), part.size, part.ended), (&b"bc"[..], 4, true));
    assert_eq!(alice.what_if(&one("x")).unwrap().waiting[0].start, Some(1.0));
    let error = alice.change(JobNumber(1), "hold").unwrap_err();
    assert_eq!((error.to_string().as_str(), error.is_passing()), ("it has ended", false));
}

#[test]
fn a_client_says_what_is_wrong() {
    let site = Site::new();
    let url = || Some(site.server.url().to_owned());
    let file = site.store.path().join("mine");
    write_private(&file, site.alice.as_bytes()).unwrap();
    let open = |url: Option<String>| {
        let options = ClientOptions { url, token_file: Some(file.clone()), ..ClientOptions::default() };
        Client::open(&options).map(drop).unwrap_err().to_string()
    };
    assert!(open(Some("http://cluster.example:8321".into())).contains("unencrypted"));
    assert!(open(Some("127.0.0.1:8321".into())).contains("not an address"));
    assert!(open(Some("http://127.0.0.1:8321/api".into())).contains("only the address"));
    set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    assert!(open(url()).contains("chmod 600"));
    let lost = client(&site, "mks_wrong").jobs("", 1).unwrap_err().to_string();
    assert!(lost.contains("a token is required"), "{lost}");
    let alice = client(&site, &site.alice);
    site.server.stop();
    let error = alice.jobs("", 1).unwrap_err();
    assert!(error.is_passing() && error.to_string().contains("makespan serve"), "{error}");
}

#[test]
fn a_store_tells_where_its_service_is_and_by_which_token() {
    let site = Site::new();
    let store = site.store.path();
    let path = ensure_own(store, "root").unwrap();
    write_url(store, site.server.url()).unwrap();
    let mode = |name: &str| store.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("token"), mode("tokens.json"), mode("url")), (0o600, 0o600, 0o600));
    let before = list(store).unwrap().len();
    assert_eq!(ensure_own(store, "root").unwrap(), path);
    assert_eq!(list(store).unwrap().len(), before, "a second start makes no second token");
    let text = std::fs::read_to_string(store.join("tokens.json")).unwrap();
    let token = std::fs::read_to_string(path).unwrap();
    assert!(!text.contains(token.trim()), "tokens are not kept themselves");
    let (who, _) = Tokens::open(store).unwrap().who(token.trim()).unwrap();
    assert_eq!((who.user.as_str(), who.role), ("root", Role::Admin));
    crate::http::site::eventually("the token is known", || {
        let options = ClientOptions { store: Some(store.to_owned()), ..ClientOptions::default() };
        Client::open(&options).unwrap().jobs("", 1).is_ok()
    });
    set_permissions(store.join("tokens.json"), Permissions::from_mode(0o644)).unwrap();
    assert!(Tokens::open(store).err().unwrap().to_string().contains("chmod 600"));
}
