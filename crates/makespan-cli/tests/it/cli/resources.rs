//! Needs and resources in generated and converted files.

use crate::cli::sandbox::Sandbox;

#[test]
fn needs_are_drawn_with_the_machines_that_have_them() {
    let sandbox = Sandbox::new();
    let drawn = |line: &str| sandbox.makespan(&format!("generate {line} --memory 4GiB --gpus 4")).succeeds();
    for line in [
        "moldable --family weak --jobs 20 --processors 16",
        "poisson --family weak --jobs 20 --processors 16 --load 0.7",
        "lublin --jobs 20 --processors 16",
        "graphs --tasks 20 --processors 4 --cores 4 --parallel 8",
    ] {
        let text = drawn(line);
        for part in ["\"resources\":{\"gpus\":", "\"memory\":\"", "\"needs\":{", "\"per_processor\":{\"memory\":\""] {
            assert!(text.contains(part), "{line} lacks {part}\n{text}");
        }
        assert_eq!(text, drawn(line));
        let plain = sandbox.makespan(&format!("generate {line}")).succeeds();
        assert!(!plain.contains("needs") && !plain.contains("resources"), "{plain}");
    }
    let moldable = "generate moldable --family weak --jobs 3 --processors 4";
    sandbox.makespan(&format!("{moldable} --memory 4gib")).misused(&["`4gib` is not an amount"]);
    sandbox.makespan(&format!("{moldable} --memory -4")).misused(&["`-4` is negative"]);
    sandbox.makespan(&format!("{moldable} --memory 4")).refused(&["memory is 4; it must be at least 1 MiB"]);
    sandbox.makespan("generate graphs --parallel 0").refused(&["parallel is 0; it must be from 1"]);
}

#[test]
fn projects_are_drawn_and_converted() {
    let sandbox = Sandbox::new();
    let project = "generate project --activities 12 --modes 3 --nonrenewable 2 --complexity 1.8 --strength 0.7";
    let text = sandbox.makespan(&format!("{project} --seed 4")).succeeds();
    for part in ["\"licences\":{\"R1\":", "\"consumables\":{\"N1\":", "\"processors\":36", "\"edges\":["] {
        assert!(text.contains(part), "lacks {part}\n{text}");
    }
    assert_eq!(text, sandbox.makespan(&format!("{project} --seed 4")).succeeds());
    assert_ne!(text, sandbox.makespan(&format!("{project} --seed 5")).succeeds());
    sandbox.makespan("generate project --strength 2").refused(&["strength is 2; it must be from 0 to 1"]);
    // Two activities run one after the other, because the resource suffices for one of them at a time.
    sandbox.write("own.rcp", "4 1\n3\n0 0 2 2 3\n5 2 1 4\n4 2 1 4\n0 0 0\n");
    let said = sandbox.makespan("convert own.rcp own.json").succeeds();
    assert!(!said.contains("without duration"), "{said}");
    let (first, again) = (sandbox.read("own.json"), sandbox.makespan("convert own.json own.toml"));
    again.succeeds();
    assert!(first.contains("\"licences\":{\"R1\":3}") && first.contains("\"needs\":{\"R1\":2}"), "{first}");
    sandbox.makespan("convert own.rcp own.xml").refused(&["the XML form cannot store needs besides processors"]);
}

#[test]
fn memory_of_a_log_is_kept_on_machines_that_state_it() {
    let sandbox = Sandbox::new();
    let log =
        "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 20 2048 1 1 1 1 1 -1 -1 -1\n2 1 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n";
    sandbox.write("log.swf", log);
    let machines = "version = 2\nplatform = { nodes = 2, processors_per_node = 2, resources.memory = '1GiB' }\n";
    sandbox.write("machines.toml", machines);
    let said = sandbox.makespan("convert log.swf a.json").succeeds();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "`memory` is needed by 1 job (largest need: 4.19 MB, of job `1`); the machines state no such resource"
        ),
        "{said}"
    );
    assert!(!sandbox.read("a.json").contains("needs"));
    sandbox.makespan("convert log.swf b.json --platform machines.toml").succeeds();
    let kept = sandbox.read("b.json");
    assert!(kept.contains("\"needs\":{\"per_processor\":{\"memory\":\"2MiB\"}}"), "{kept}");
    sandbox.makespan("convert b.json c.swf").succeeds();
    assert!(sandbox.read("c.swf").contains("\n1 0 -1 10 -1 -1 -1 2 20 2048 -1 "), "{}", sandbox.read("c.swf"));
}
