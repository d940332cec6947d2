//! Tests that the responses of the server match the `OpenAPI` document.

use std::collections::BTreeSet;

use makespan_service::Service;
use makespan_service::http::openapi;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Running, admin, keeper, script, until};
use crate::http::site::{Answer, Site, submission};

/// A request and the expected status: method, path in the `OpenAPI` document, path of the request, body, status.
type Case = (&'static str, &'static str, &'static str, String, u16);

fn cases() -> Vec<Case> {
    let (none, empty) = (String::new(), "{}".to_owned());
    let argv = |word: &str| json!({ "content": { "command": { "argv": [word] } } }).to_string();
    let one: Value = serde_json::from_str(&submission("a")).unwrap();
    let several = json!({ "submissions": [one, one] }).to_string();
    let reservation = json!({ "name": "r", "start": 1.0, "end": 2.0, "processors": [[0, 3]] }).to_string();
    let settings = json!({ "weight": 2.0, "most_waiting": null, "most_processors": 4 }).to_string();
    vec![
        ("post", "/api/v1/jobs", "/api/v1/jobs", submission("a"), 201),
        ("post", "/api/v1/jobs", "/api/v1/jobs", several, 201),
        ("post", "/api/v1/jobs", "/api/v1/jobs", empty.clone(), 400),
        ("post", "/api/v1/jobs", "/api/v1/jobs", argv("huge"), 422),
        ("post", "/api/v1/jobs", "/api/v1/jobs", argv("full"), 507),
        ("post", "/api/v1/jobs", "/api/v1/jobs", argv("quota"), 429),
        ("post", "/api/v1/jobs", "/api/v1/jobs", argv("closing"), 503),
        ("post", "/api/v1/jobs", "/api/v1/jobs", argv("panic"), 500),
        ("get", "/api/v1/jobs", "/api/v1/jobs?state=waiting&limit=2", none.clone(), 200),
        ("get", "/api/v1/jobs", "/api/v1/jobs?limit=0", none.clone(), 400),
        ("get", "/api/v1/jobs/{job}", "/api/v1/jobs/1", none.clone(), 200),
        ("get", "/api/v1/jobs/{job}", "/api/v1/jobs/99", none.clone(), 404),
        ("get", "/api/v1/jobs/{job}", "/api/v1/jobs/x", none.clone(), 400),
        ("post", "/api/v1/jobs/{job}/hold", "/api/v1/jobs/1/hold", none.clone(), 200),
        ("post", "/api/v1/jobs/{job}/release", "/api/v1/jobs/1/release", none.clone(), 200),
        ("post", "/api/v1/jobs/{job}/cancel", "/api/v1/jobs/1/cancel", none.clone(), 200),
        ("post", "/api/v1/jobs/{job}/cancel", "/api/v1/jobs/1/cancel", none.clone(), 409),
        ("delete", "/api/v1/jobs/{job}", "/api/v1/jobs/2", none.clone(), 200),
        ("get", "/api/v1/jobs/{job}/logs/{task}/{stream}", "/api/v1/jobs/1/logs/0/out", none.clone(), 200),
        ("get", "/api/v1/jobs/{job}/logs/{task}/{stream}", "/api/v1/jobs/1/logs/1/err", none.clone(), 404),
        ("get", "/api/v1/jobs/{job}/explain", "/api/v1/jobs/1/explain", none.clone(), 200),
        ("post", "/api/v1/what-if", "/api/v1/what-if", submission("a"), 200),
        ("post", "/api/v1/what-if", "/api/v1/what-if", argv("cycle"), 422),
        ("get", "/api/v1/plan", "/api/v1/plan", none.clone(), 200),
        ("get", "/api/v1/bounds", "/api/v1/bounds", none.clone(), 200),
        ("get", "/api/v1/history", "/api/v1/history?start=0&end=9&spans=3", none.clone(), 200),
        ("get", "/api/v1/history", "/api/v1/history", none.clone(), 200),
        ("get", "/api/v1/history", "/api/v1/history?start=inf", none.clone(), 400),
        ("get", "/api/v1/users", "/api/v1/users", none.clone(), 200),
        ("put", "/api/v1/users/{user}", "/api/v1/users/alice", settings, 200),
        ("patch", "/api/v1/users/{user}", "/api/v1/users/alice", json!({ "weight": 3.0 }).to_string(), 200),
        ("get", "/api/v1/reservations", "/api/v1/reservations", none.clone(), 200),
        ("post", "/api/v1/reservations", "/api/v1/reservations", reservation, 201),
        ("get", "/api/v1/reservations", "/api/v1/reservations", none.clone(), 200),
        ("delete", "/api/v1/reservations/{number}", "/api/v1/reservations/1", none.clone(), 204),
        ("delete", "/api/v1/reservations/{number}", "/api/v1/reservations/1", none.clone(), 404),
        ("get", "/api/v1/whoami", "/api/v1/whoami", none.clone(), 200),
        ("get", "/api/v1/metrics", "/api/v1/metrics", none.clone(), 200),
        ("get", "/api/v1/health", "/api/v1/health", none.clone(), 200),
        ("get", "/api/v1/openapi.json", "/api/v1/openapi.json", none.clone(), 200),
        ("get", "/api/v1/events", "/api/v1/events?after=x", none, 400),
    ]
}

pub struct Document(Value);

impl Document {
    pub fn new() -> Self {
        Self(serde_json::to_value(openapi()).unwrap())
    }

    fn operations(&self) -> BTreeSet<(String, String)> {
        let paths = self.0["paths"].as_object().unwrap();
        let all = paths.iter().flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |key| (key, path)));
        let verbs = ["get", "put", "patch", "post", "delete"];
        all.filter(|(key, _)| verbs.contains(&key.as_str())).map(|(key, path)| (key.clone(), path.clone())).collect()
    }

    /// Checks that the document describes the response.
    pub fn check(&self, method: &str, path: &str, answer: &Answer) {
        let what = format!("{method} {path}: {} {}", answer.status, answer.text());
        let described = &self.0["paths"][path][method]["responses"][answer.status.to_string()];
        assert!(described.is_object(), "the status is not described: {what}");
        let Some(stated) = answer.header("content-type") else {
            assert!(answer.body.is_empty() && described.get("content").is_none(), "{what}");
            return;
        };
        let content = described["content"].as_object().unwrap_or_else(|| panic!("no content is described: {what}"));
        let essence = |text: &str| text.split(';').next().unwrap().to_owned();
        let (_, media) = content.iter().find(|(name, _)| essence(name) == essence(stated)).unwrap_or_else(|| {
            panic!("the media type {stated} is not described: {what}");
        });
        if stated.ends_with("json") {
            self.validate(&media["schema"], &answer.json(), &what);
        }
    }

    fn validate(&self, schema: &Value, instance: &Value, what: &str) {
        let mut schema = schema.clone();
        schema["components"] = self.0["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(instance).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?} of {what}");
    }
}

fn ask(site: &Site, (method, _, path, body, _): &Case) -> Answer {
    site.send(&site.admin, &format!("{} {path}", method.to_uppercase()), body)
}

#[test]
fn each_operation_answers_as_it_is_described() {
    let (site, document) = (Site::new(), Document::new());
    assert!(document.0["openapi"].as_str().unwrap().starts_with("3.1"));
    let cases = cases();
    for case in &cases {
        let answer = ask(&site, case);
        assert_eq!(answer.status, case.4, "{case:?}: {}", answer.text());
        document.check(case.0, case.1, &answer);
        // Requests without a token and requests from another origin.
        let line = format!("{} {}", case.0.to_uppercase(), case.2);
        for head in [&[][..], &["Origin: http://evil.example"][..]] {
            document.check(case.0, case.1, &site.request(&line, head, b""));
        }
    }
    let tried: BTreeSet<(String, String)> = cases.iter().map(|case| (case.0.into(), case.1.into())).collect();
    assert_eq!(tried, document.operations(), "an operation is not tried, or not described");
    let sent = site.get(&site.admin, "/api/v1/openapi.json").json();
    assert_eq!(sent, document.0);
}

#[test]
fn requests_are_described() {
    let document = Document::new();
    for case in cases().iter().filter(|case| case.4 < 300 && !case.3.is_empty()) {
        let schema = &document.0["paths"][case.1][case.0]["requestBody"]["content"]["application/json"]["schema"];
        document.validate(schema, &serde_json::from_str(&case.3).unwrap(), case.1);
    }
    let schema = json!({ "$ref": "#/components/schemas/Happening" });
    let happening =
        json!({ "sequence": 1, "at": 1.0, "job": 1, "user": "a", "task": null, "kind": "ended", "state": "failed" });
    document.validate(&schema, &happening, "an event");
}

/// Generates arbitrary JSON values. Some of them resemble valid requests.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z<\"\\r\\n]{0,6}".prop_map(Value::from),
        Just(json!({ "command": { "argv": ["a"] } })),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            Just("content"),
            Just("submissions"),
            Just("name"),
            Just("after"),
            Just("weight"),
            Just("hold"),
            Just("processors"),
            Just("start"),
            Just("end"),
            Just("x")
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The document describes the response to any request, and the service never returns an internal error.
    #[test]
    fn any_request_is_answered_as_described(which in 0..cases().len(), body in any_json(), word in "[a-z0-9%.-]{1,8}", query in "[a-z]{1,6}=[a-z0-9]{0,3}") {
        static SITE: std::sync::OnceLock<(Site, Document)> = std::sync::OnceLock::new();
        let (site, document) = SITE.get_or_init(|| (Site::new(), Document::new()));
        asked((site, document), which, &body, (&word, &query))?;
    }

    /// The document also describes the responses of a service that stores and runs jobs.
    #[test]
    fn any_request_to_a_real_service_is_answered_as_described(which in 0..cases().len(), body in any_json(), word in "[0-9]|[a-z0-9%.-]{1,8}", query in "[a-z]{1,6}=[a-z0-9]{0,3}") {
        static SITE: std::sync::OnceLock<(Site, Document, (Running, tempfile::TempDir))> = std::sync::OnceLock::new();
        let (site, document, _) = SITE.get_or_init(|| {
            let temporary = tempfile::tempdir().unwrap();
            let keeper = keeper(temporary.path());
            until("there is a plan", || keeper.what_if(&admin(), script("true")).is_ok());
            (Site::of(keeper.shared()), Document::new(), (keeper, temporary))
        });
        asked((site, document), which, &body, (&word, &query))?;
    }
}

/// Sends a request with and without a query, and checks the answers.
fn asked(
    (site, document): (&Site, &Document),
    which: usize,
    body: &Value,
    (word, query): (&str, &str),
) -> Result<(), TestCaseError> {
    let (method, template, ..) = cases()[which].clone();
    let path = template.replace("{stream}", "out").replace("{user}", "carol");
    let path = path.replace("{job}", word).replace("{task}", word).replace("{number}", word);
    // A stream of events would not end without this invalid query.
    let query = if template.ends_with("events") { "after=none" } else { query };
    let line = format!("{} {path}?{query}", method.to_uppercase());
    let answer = site.send(&site.admin, &line, &body.to_string());
    prop_assert!(answer.status < 500, "{line} {body}: {}", answer.text());
    document.check(method, template, &answer);
    if !template.ends_with("events") {
        let answer = site.send(&site.admin, line.split('?').next().unwrap(), &body.to_string());
        prop_assert!(answer.status < 500, "{line} {body}: {}", answer.text());
        document.check(method, template, &answer);
    }
    Ok(())
}
