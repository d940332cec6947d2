//! Unknown run times are planned as guesses. Every result that depends on them states so.

use crate::cli::sandbox::Sandbox;

const HALF_KNOWN: &str = "version = 2\n[platform]\nprocessors = 2\n
[[jobs]]\nname = \"known\"\ntime = 10\ncommand = \"true\"\n
[[jobs]]\nname = \"unknown\"\ncommand = \"exit 0\"\n
[[jobs]]\nname = \"wide\"\nprocessors = {min = 1, max = 2}\ncommand = [\"true\"]\n";

const SAYS: &str = "2 of 3 run times are guesses";

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is missing in\n{text}"));
}

#[test]
fn whatever_rests_on_a_guess_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", HALF_KNOWN);
    let plan = sandbox.makespan("plan a.toml -o plan.json --gantt a.svg --report a.html").succeeds();
    says(&plan, &[SAYS, "bound if the guesses hold", "optim", " if the guesses hold\n"]);
    assert!(!plan.contains("proven"), "{plan}");
    let file = sandbox.read("plan.json");
    assert_eq!(file.matches("\"guess\": true").count(), 2, "{file}");
    assert!(file.contains("\"rests_on_guesses\": true") && file.contains(SAYS), "{file}");
    let svg = sandbox.read("a.svg");
    assert!(svg.contains("bound if the guesses hold") && !svg.contains("proven"), "{svg}");
    assert_eq!(svg.matches("the run time is a guess").count(), 2);
    // The script of the page contains both phrases, so only the data of the page are checked.
    let page = sandbox.read("a.html");
    let mut parts = page.split("<script>");
    let head = parts.next().unwrap().to_owned();
    let shown = parts.fold(head, |shown, part| shown + part.split_once("</script>").unwrap().1);
    assert!(shown.contains(SAYS) && shown.contains("if the guesses hold") && !shown.contains("proven bound"));
    says(&sandbox.makespan("verify a.toml plan.json").succeeds(), &["bound if the guesses hold"]);
    says(&sandbox.makespan("bound a.toml").succeeds(), &[SAYS, " s if the guesses hold"]);
    says(&sandbox.makespan("bound a.toml --format json").succeeds(), &["\"rests_on_guesses\": true"]);
    says(&sandbox.makespan("compare a.toml -a demt,list").succeeds(), &[SAYS, "proven if the guesses hold: "]);
    says(&sandbox.makespan("simulate a.toml --policy easy").succeeds(), &[SAYS]);
    says(&sandbox.makespan("run a.toml --oversubscribe --verbose").succeeds(), &[SAYS, "3 of 3 jobs succeeded"]);
}

#[test]
fn a_guess_is_converted_into_a_guess() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", HALF_KNOWN);
    says(&sandbox.makespan("convert a.toml b.json").succeeds(), &[SAYS]);
    sandbox.makespan("convert b.json c.toml").succeeds();
    let text = sandbox.read("c.toml");
    assert_eq!(text.matches("time").count(), 1, "{text}");
    assert!(text.contains("command = \"exit 0\""), "{text}");
    says(&sandbox.makespan("bound c.toml").succeeds(), &[SAYS]);
}

/// A plan that contradicts its instance is refused.
#[test]
fn a_stated_time_is_no_guess() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", HALF_KNOWN);
    sandbox.makespan("plan a.toml -o plan.json").succeeds();
    let text = sandbox.read("plan.json");
    sandbox.write("false.json", text.replace("\"guess\": true", "\"guess\": false"));
    sandbox.makespan("verify a.toml false.json").refused(&["false.json", "].guess", "the instance states no time"]);
    sandbox.write("known.toml", HALF_KNOWN.replace("name = \"unknown\"", "name = \"unknown\"\ntime = 60"));
    sandbox.makespan("verify known.toml plan.json").refused(&["plan.json", "].guess", "the instance states this time"]);
}
