//! Simulated metaschedulers over domains.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

const DOMAINS: &str = r#"
[[domains]]
name = "north"
nodes = "n0"
log = "north.swf"
[[domains]]
name = "south"
nodes = "n[1-2]"
policy = "conservative"
price = 1.5
log = "logs/south.swf"
[budgets]
j0 = 9
"#;

/// Two logs, jobs of users on three nodes, and two domains.
fn scene() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("logs")).unwrap();
    for (name, processors, seed) in [("north", 8, 1), ("logs/south", 16, 2)] {
        let log = format!("--jobs 30 --processors {processors} --load 0.7 --seed {seed} --output {name}.swf");
        sandbox.makespan(&format!("generate lublin {log}")).succeeds();
    }
    let graphs = "--jobs 3 --tasks 5 --processors 3 --cores 8 --fastest 1 --gap 9000 --deadline 6 --volume 600,3600";
    sandbox.makespan(&format!("generate graphs {graphs} --output users.json")).succeeds();
    sandbox.write("domains.toml", DOMAINS);
    sandbox
}

#[test]
fn users_and_owners_are_simulated_over_domains() {
    let sandbox = scene();
    let command = "simulate users.json --domains domains.toml";
    let text = sandbox.makespan(&format!("{command} --report page.html")).succeeds();
    for label in
        ["domain `south`: 16 processors, policy conservative, 30 jobs of owners", "wait of owners of north, mean"]
    {
        assert!(text.contains(label), "no `{label}` in {text}");
    }
    assert!(sandbox.read("page.html").contains("Owners and users"));
    let said = sandbox.makespan(&format!("{command} --policy job-flow,job-flow[late=reject] --format json")).succeeds();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["jobs"].as_u64().map(|jobs| jobs > 60), Some(true));
    for one in said["policies"].as_array().unwrap() {
        let domains = &one["domains"];
        assert_eq!((&domains["domains"][1]["price"], &domains["domains"][0]["owners_jobs"]), (&1.5.into(), &30.into()));
        let users = domains["users"].as_array().unwrap();
        assert_eq!((users.len(), users[0]["budget"].as_f64(), users[1]["budget"].is_null()), (3, Some(9.0), true));
        assert!(users.iter().all(|user| user["end"].is_number() && user["charge"].as_f64() > Some(0.0)), "{domains}");
        assert!(users[0]["charge"].as_f64() <= Some(9.0), "{domains}");
    }
    // `--deviation` changes only the run times of users' jobs. The logs state the actual run times of the owners' jobs.
    sandbox.makespan(&format!("{command} --deviation 0.3 --failures model:mtbf=10h,mttr=60s")).succeeds();
    sandbox.makespan(&format!("{command} --estimates unknown")).succeeds();
}

/// Checks that a failure restarts the wait of an owner's job, that a budget in thousandths suffices exactly, that charges
/// do not depend on actual run times, and that remarks on a log name the domain.
#[test]
fn waits_and_charges_follow_their_definitions() {
    let sandbox = Sandbox::new();
    let job = |number: u32, width: u32| format!("{number} 0 -1 10 {width} -1 -1 {width} 10 -1 1 1 1 -1 -1 -1 -1 -1\n");
    sandbox.write("north.swf", job(1, 1) + &job(2, 9));
    let domains = "[[domains]]\nname = \"north\"\nnodes = \"n0\"\nlog = \"north.swf\"\nprice = 9\n\
                   [[domains]]\nname = \"south\"\nnodes = \"n1\"\nprice = 1.001\n[budgets]\na = 1.001\n";
    sandbox.write("domains.toml", domains);
    let users =
        r#"{"version": 2, "platform": {"nodes": 2, "processors_per_node": 1}, "jobs": [{"name": "a", "time": 10}]}"#;
    sandbox.write("users.json", users);
    sandbox.write("failures.csv", "node,down,up,expected_up\nn0,5,20,20\n");
    for deviation in ["", " --deviation 0.6"] {
        let command = format!("simulate users.json --domains domains.toml --failures failures.csv{deviation}");
        let said = sandbox.makespan(&format!("{command} --format json")).succeeds();
        let said: Value = serde_json::from_str(&said).unwrap();
        let found = &said["policies"][0]["domains"];
        assert_eq!(found["domains"][0]["owners_mean_wait"].as_f64(), Some(20.0), "{said}");
        assert_eq!(found["users"][0]["charge"].as_f64(), Some(1.001), "{said}");
        assert!(found["users"][0]["end"].is_number(), "{said}");
        assert!(said["remarks"].to_string().contains("domain `north`: north.swf: 1 record skipped"), "{said}");
    }
}

#[test]
fn wrong_domains_are_refused() {
    let sandbox = scene();
    for (from, to, parts) in [
        ("j0 = 9", "jX = 9", ["domains.toml: budgets.jX", "users.json has no job"]),
        ("n[1-2]", "n[1-3]", ["domains.toml: domains[1].nodes", "has no node `n3`"]),
        ("n[1-2]", "n[0-2]", ["domains.toml: domains[1].nodes", "`n0` belongs to domain `north`, too"]),
        ("n[1-2]", "n1", ["domains.toml", "node `n2` belongs to no domain"]),
        ("n[1-2]", "n[1", ["domains.toml: domains[1].nodes", "n[1"]),
        ("conservative", "consrvative", ["domain `south`", "did you mean `conservative`"]),
        ("logs/south", "south", ["domains.toml: domains[1].log", "south.swf"]),
        ("price", "prize", ["domains.toml:10", "did you mean `price`"]),
    ] {
        sandbox.write("wrong.toml", DOMAINS.replace(from, to));
        let parts = parts.map(|part| part.replace("domains.toml", "wrong.toml"));
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        sandbox.makespan("simulate users.json --domains wrong.toml").refused(&parts);
    }
    let domains = "simulate users.json --domains domains.toml";
    sandbox.makespan(&format!("{domains} --policy easy")).refused(&["--policy", "job-flow"]);
    let wide = r#"{"version": 2, "platform": {"nodes": 3, "processors_per_node": 8}, "jobs": [
        {"name": "j0", "time": 10, "processors": 2}]}"#;
    sandbox.write("wide.json", wide);
    let parts = ["the metascheduler cannot plan", "`j0` needs more", "use jobs and graphs of sequential tasks"];
    sandbox.makespan("simulate wide.json --domains domains.toml").refused(&parts);
    sandbox.makespan(&format!("{domains} --sizes")).misused(&["--domains", "--sizes"]);
}

/// Checks that a run divides jobs by prices and budgets, and that it cancels a job that exceeds its budget.
#[test]
fn a_run_keeps_the_budgets_of_its_jobs() {
    let sandbox = Sandbox::new();
    let task = |at: usize| format!(r#"{{"name": "t{at}", "time": 0.1, "command": ["true"]}}"#);
    let tasks: Vec<String> = (0..3).map(task).collect();
    let job =
        format!(r#"{{"name": "poor", "tasks": [{}], "edges": [{{"from": "t0", "to": "t2"}}]}}"#, tasks.join(", "));
    let platform = r#"{"nodes": [{"name": "n0", "processors": 1}, {"name": "n1", "processors": 1}]}"#;
    sandbox.write("jobs.json", format!(r#"{{"version": 2, "platform": {platform}, "jobs": [{job}]}}"#));
    let domains = |budget: u32, more: &str| {
        format!(
            "[[domains]]\nname = \"cheap\"\nnodes = \"n1\"\n[[domains]]\nname = \"dear\"\nnodes = \"n0\"\n\
             price = 2.5\n{more}[budgets]\npoor = {budget}\n"
        )
    };
    for (budget, succeeded) in [(3, true), (2, false)] {
        sandbox.write("d.toml", domains(budget, ""));
        let folder = format!("f{budget}");
        let said =
            sandbox.makespan(&format!("run jobs.json --domains d.toml --oversubscribe --no-history --folder {folder}"));
        assert_eq!(said.status == Some(0), succeeded, "{said:?}");
        let charged = if succeeded { "charged 3 of its budget of 3" } else { "charged 0 of its budget of 2" };
        assert!(said.err.contains(charged), "{said:?}");
        let table = sandbox.read(&format!("{folder}/jobs.csv"));
        let rows: Vec<&str> = table.lines().filter(|line| line.contains("COMPLETED_SUCCESSFULLY")).collect();
        assert_eq!(rows.len(), if succeeded { 3 } else { 0 }, "{table}");
        assert!(rows.iter().all(|row| row.contains(",1,-1")), "all tasks run on the cheap node: {table}");
    }
    let run = "run jobs.json --domains d.toml --oversubscribe --no-history";
    sandbox.write("d.toml", domains(3, "log = \"a.swf\"\n"));
    sandbox.makespan(run).refused(&["d.toml: domains[1].log", "no simulated jobs of owners"]);
    sandbox.write("d.toml", domains(3, "").replace("poor", "rich"));
    sandbox.makespan(run).refused(&["d.toml: budgets.rich", "has no job with this name"]);
}
