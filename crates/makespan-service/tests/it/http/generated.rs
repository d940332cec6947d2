//! Generates requests from the API description, like the tool schemathesis. If the description allows a request, the
//! service must accept this request, or refuse it for a reason that a description cannot express. The service must
//! refuse all requests that the description does not allow. Every answer must match the description.

use makespan_service::http::openapi;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use crate::common::{admin, keeper, script, submit, until};
use crate::http::description::Document;
use crate::http::site::{Answer, Site, bearer};
use makespan_service::Service;

/// Number of requests that are generated for each operation. Half of these requests match the description.
const ROUNDS: usize = 40;

/// Generates values that match a schema.
struct Generator<'a> {
    document: &'a Value,
    random: ChaCha8Rng,
    strings: TestRunner,
}

impl Generator<'_> {
    fn chance(&mut self, part: f64) -> bool {
        self.random.random::<f64>() < part
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.random_range(0..count)
    }

    fn resolved(&self, schema: &Value) -> Value {
        match schema["$ref"].as_str() {
            Some(path) => self.resolved(self.document.pointer(path.trim_start_matches('#')).unwrap()),
            None => schema.clone(),
        }
    }

    /// Returns a value that the schema allows.
    fn value(&mut self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema[key].as_array() {
                let at = self.below(choices.len());
                return self.value(&choices[at]);
            }
        }
        if let Some(all) = schema["enum"].as_array() {
            return all[self.below(all.len())].clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[self.below(kinds.len())].clone(),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("object") => self.object(&schema),
            Some("array") => self.array(&schema),
            Some("string") => self.string(&schema).into(),
            Some("integer") => self.integer(&schema).into(),
            Some("number") => self.number(&schema).into(),
            Some("boolean") => self.chance(0.5).into(),
            Some("null") => Value::Null,
            kind => panic!("a schema of the kind {kind:?}: {schema}"),
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut object = Map::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if required.contains(&name.as_str()) || self.chance(0.4) {
                object.insert(name.clone(), self.value(property));
            }
        }
        if schema["additionalProperties"].is_object() {
            for _ in 0..self.below(3) {
                let name = self.string(&schema["propertyNames"]);
                object.insert(name, self.value(&schema["additionalProperties"]));
            }
        }
        object.into()
    }

    fn array(&mut self, schema: &Value) -> Value {
        if let Some(items) = schema["prefixItems"].as_array() {
            return items.iter().map(|item| self.value(item)).collect();
        }
        let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
        let count = least + self.below(3);
        (0..count).map(|_| self.value(&schema["items"])).collect()
    }

    fn string(&mut self, schema: &Value) -> String {
        let (least, most) = (schema["minLength"].as_u64().unwrap_or(0), schema["maxLength"].as_u64().unwrap_or(40));
        let pattern = schema["pattern"].as_str().map_or("^[ -~äß\n]{0,12}$", |pattern| pattern);
        let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
        let strategy = proptest::string::string_regex(pattern).unwrap();
        loop {
            let text = strategy.new_tree(&mut self.strings).unwrap().current();
            let text: String = text.chars().take(most as usize).collect();
            if text.chars().count() as u64 >= least {
                return text;
            }
        }
    }

    fn integer(&mut self, schema: &Value) -> i64 {
        let (least, most) = match schema["format"].as_str() {
            Some("int32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        let least = schema["minimum"].as_i64().unwrap_or(least);
        let most = schema["maximum"].as_i64().unwrap_or(most);
        match self.below(4) {
            0 => least,
            1 => most,
            _ => (least.max(0) + self.random.random_range(0..20)).min(most),
        }
    }

    fn number(&mut self, schema: &Value) -> f64 {
        let least = schema["minimum"].as_f64();
        let above = schema["exclusiveMinimum"].as_f64();
        let most = schema["maximum"].as_f64();
        match self.below(4) {
            0 => least.or(above.map(|above| above + 1e-3)).unwrap_or(-1e300),
            1 => most.unwrap_or(1e300),
            _ => {
                (least.or(above).unwrap_or(0.0) + 1e-3 + 50.0 * self.random.random::<f64>()).min(most.unwrap_or(1e300))
            }
        }
    }

    /// Changes one part of a value.
    fn spoil(&mut self, value: &mut Value) {
        let deeper = !self.chance(0.35);
        match value {
            Value::Object(object) if !object.is_empty() && deeper => {
                let at = self.below(object.len());
                let (name, inner) = object.iter_mut().nth(at).unwrap();
                if deeper && (inner.is_object() || inner.is_array()) {
                    return self.spoil(inner);
                }
                let name = name.clone();
                let other = self.odd();
                object.insert(name, other);
            }
            Value::Object(object) if self.chance(0.5) => {
                object.insert("unknown".into(), json!(1));
            }
            Value::Object(object) => {
                if let Some(name) = object.keys().next().cloned() {
                    object.remove(&name);
                }
            }
            Value::Array(items) if !items.is_empty() && deeper => {
                let at = self.below(items.len());
                self.spoil(&mut items[at]);
            }
            Value::Array(items) if self.chance(0.5) => items.clear(),
            other => *other = self.odd(),
        }
    }

    /// Returns a value that few schemas allow.
    fn odd(&mut self) -> Value {
        let long = "x".repeat(2000);
        let odd = [
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(0.5),
            json!(-1e300),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("a\u{7}b"),
            json!("=x"),
            json!(long),
            json!([]),
            json!([1]),
            json!([[1]]),
            json!([[1, 2, 3]]),
            json!({}),
        ];
        odd[self.below(odd.len())].clone()
    }
}

/// Returns a generated value of a parameter, as text for a path, a query or a header. The value matches the schema if
/// and only if `allowed` is true.
fn written(generator: &mut Generator<'_>, schema: &Value, (allowed, is_header): (bool, bool)) -> Vec<String> {
    let schema = generator.resolved(schema);
    if !allowed {
        let kind = schema["type"].to_string();
        let wrong: &[&str] = match () {
            () if kind.contains("integer") => &["-1", "1.5", "x", "+1", "99999999999999999999999", "0x1"],
            () if kind.contains("number") => &["x", "inf", "nan", "1e999"],
            () if kind.contains("boolean") => &["yes", "1", "True"],
            () if kind.contains("array") || schema["enum"].is_array() => &["no_such_word"],
            () if schema["pattern"].is_string() && is_header => &["a b", "ä"],
            () if schema["pattern"].is_string() => &["-a%20b", "%00", "%2F", "%C3%A4"],
            () => return Vec::new(),
        };
        return vec![wrong[generator.below(wrong.len())].to_owned()];
    }
    let plain = |value: &Value| match value {
        Value::String(text) if is_header => text.replace(char::is_control, " "),
        Value::String(text) => form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20"),
        value => value.to_string(),
    };
    match generator.value(&schema) {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(plain).collect(),
        value => vec![plain(&value)],
    }
}

/// A request for an operation. `is_allowed` is false if one part of the request is invalid.
struct Request {
    line: String,
    head: Vec<String>,
    body: Option<Value>,
    is_allowed: bool,
}

fn request(generator: &mut Generator<'_>, (method, path, operation): (&str, &str, &Value), spoil: bool) -> Request {
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let places = parameters.len() + usize::from(!schema.is_null());
    let spoilt = (spoil && places > 0).then(|| generator.below(places));
    let (mut path, mut query, mut head, mut is_allowed) = (path.to_owned(), Vec::new(), Vec::new(), true);
    for (at, parameter) in parameters.iter().enumerate() {
        let (name, place) = (parameter["name"].as_str().unwrap(), parameter["in"].as_str().unwrap());
        let is_spoilt = spoilt == Some(at);
        let is_header = place == "header";
        let mut values = if is_spoilt || place == "path" || generator.chance(0.5) {
            written(generator, &parameter["schema"], (!is_spoilt, is_header))
        } else {
            Vec::new()
        };
        if is_spoilt && values.is_empty() && place == "path" {
            values = written(generator, &parameter["schema"], (true, is_header));
        } else if is_spoilt && !values.is_empty() {
            is_allowed = false;
        }
        match place {
            "path" => path = path.replace(&format!("{{{name}}}"), &values.remove(0)),
            "query" => query.extend(values.into_iter().map(|value| format!("{name}={value}"))),
            _ => head.extend(values.into_iter().take(1).map(|value| format!("{name}: {value}"))),
        }
    }
    let body = (!schema.is_null()).then(|| {
        let mut body = generator.value(schema);
        // These jobs must not run.
        if path == "/api/v1/jobs" {
            let several = body.get_mut("submissions").and_then(Value::as_array_mut);
            match several {
                Some(all) => all.iter_mut().for_each(|one| one["hold"] = true.into()),
                None => body["hold"] = true.into(),
            }
        }
        if spoilt == Some(parameters.len()) {
            let mut stated = schema.clone();
            stated["components"] = generator.document["components"].clone();
            let validator = jsonschema::validator_for(&stated).unwrap();
            for _ in 0..100 {
                generator.spoil(&mut body);
                if !validator.is_valid(&body) {
                    is_allowed = false;
                    break;
                }
            }
        }
        body
    });
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    Request { line: format!("{} {path}{query}", method.to_uppercase()), head, body, is_allowed }
}

fn send(site: &Site, request: &Request) -> Answer {
    let token = bearer(&site.admin);
    let mut head: Vec<&str> = request.head.iter().map(String::as_str).chain([token.as_str()]).collect();
    if request.body.is_some() {
        head.push("Content-Type: application/json");
    }
    let body = request.body.as_ref().map(Value::to_string).unwrap_or_default();
    site.request(&request.line, &head, body.as_bytes())
}

/// Returns true if a request was refused for a reason that a schema cannot express: the content of a file, a
/// combination of values, or the state of the service.
fn is_of_meaning(answer: &Answer) -> bool {
    let problem = answer.json();
    let place = problem["place"].as_str().unwrap_or_default();
    let begins = [
        "content: ",
        "content.list",
        "content.instance",
        "hold",
        "after",
        "end",
        "start",
        "environment",
        "processors",
        "argv",
        "content.command.needs",
    ];
    answer.status != 400 || place.ends_with("content") || begins.iter().any(|start| place.contains(start))
}

#[test]
fn requests_that_are_generated_from_the_description_are_answered_by_it() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    submit(&keeper, script("true"));
    until("there is a plan", || keeper.what_if(&admin(), script("true")).is_ok());
    let site = Site::of(keeper.shared());
    let document = Document::new();
    let value = serde_json::to_value(openapi()).unwrap();
    let random = ChaCha8Rng::seed_from_u64(43);
    let mut generator = Generator { document: &value, random, strings: TestRunner::deterministic() };
    let mut wrong = Vec::new();
    for (path, item) in value["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(key, _)| key.as_str() != "parameters") {
            // A stream of events never ends.
            if path.ends_with("/events") {
                continue;
            }
            for round in 0..ROUNDS {
                let one = request(&mut generator, (method, path, operation), round % 2 == 1);
                let answer = send(&site, &one);
                document.check(method, path, &answer);
                let is_refused = (400..500).contains(&answer.status);
                let shown = || {
                    format!("{} {:?} {}: {}", one.line, one.head, one.body.clone().unwrap_or_default(), answer.text())
                };
                if one.is_allowed && is_refused && !is_of_meaning(&answer) {
                    wrong.push(format!("allowed and refused: {}", shown()));
                }
                if !one.is_allowed && !is_refused {
                    wrong.push(format!("forbidden and accepted ({}): {}", answer.status, shown()));
                }
            }
            // The service must refuse methods that the description does not contain, and its answer must list the
            // described methods.
            let others = ["PATCH", "PUT", "DELETE", "POST", "TRACE"].into_iter();
            let others = others.filter(|other| item.get(other.to_lowercase()).is_none());
            for other in others {
                let line = request(&mut generator, (other, path, operation), false).line;
                let answer = send(&site, &Request { line, head: Vec::new(), body: None, is_allowed: false });
                if answer.status != 405
                    || answer.header("allow").is_none_or(|allow| !allow.contains(&method.to_uppercase()))
                {
                    wrong.push(format!("{other} {path}: {} {:?}", answer.status, answer.header("allow")));
                }
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} of\n{}", wrong.len(), wrong.join("\n"));
}
