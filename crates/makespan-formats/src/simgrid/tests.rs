use makespan_core::{Link, Node, Platform, Time};
use proptest::prelude::*;

use super::*;

/// Exact in decimals, so exact in floats.
fn bits<const N: usize>(figures: [f64; N]) -> [u64; N] {
    figures.map(f64::to_bits)
}

const STAR: &str = r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Full">
  <prop id="note" value="a star"/>
  <host id="master" speed="98.095Mf"/>
  <host id="fast" speed="1.5Gf,1Gf" core="4"/>
  <host id="slow" speed="22151000"/>
  <router id="middle"/>
  <link id="l1" bandwidth="1.25GBps" latency="50us"/>
  <link id="l2" bandwidth="7Mbps" latency="1.5ms" sharing_policy="SHARED"/>
  <link id="l3" bandwidth="125000"/>
  <route src="master" dst="middle"><link_ctn id="l1"/></route>
  <route src="fast" dst="middle"><link_ctn id="l2"/></route>
  <route src="middle" dst="slow"><link_ctn id="l3"/></route>
  <route src="master" dst="slow"><link_ctn id="l1"/><link_ctn id="l3"/></route>
 </zone>
</platform>"#;

fn read(text: &str) -> Result<Platform, String> {
    read_simgrid("p.xml", text).map_err(|error| error.to_string())
}

#[test]
fn a_tree_of_hosts_and_routers_is_read_with_its_units() {
    let platform = read(STAR).unwrap();
    let node = |at: usize| &platform.nodes()[at];
    assert_eq!((node(0).parent, node(1).parent, node(2).parent, node(3).parent), (None, Some(3), Some(3), Some(0)));
    assert_eq!(bits([0, 1, 2].map(|at| node(at).speed)), bits([98.095, 1500.0, 22.151]));
    assert_eq!([0, 1, 2, 3].map(|at| node(at).processors), [1, 4, 1, 0]);
    assert_eq!(node(3).link, Some(Link { bandwidth: 1.25e9, latency: Time::parse("50us").unwrap() }));
    assert_eq!(node(1).link, Some(Link { bandwidth: 875_000.0, latency: Time::parse("1.5ms").unwrap() }));
}

#[test]
fn a_cluster_is_a_star_below_its_way_out() {
    let cluster = |backbone: &str| {
        let cluster = format!(
            r#"<cluster id="c" prefix="n" suffix=".x" radical="0-2,7" speed="1Gf" bw="125MBps" lat="50us" {backbone}/>"#
        );
        read(&format!(r#"<platform version="4.1"><zone id="z" routing="Full">{cluster}</zone></platform>"#)).unwrap()
    };
    let plain = cluster("");
    let names: Vec<&str> = plain.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["nc_router.x", "n0.x", "n1.x", "n2.x", "n7.x"]);
    assert!(plain.nodes()[1..].iter().all(|node| node.parent == Some(0) && bits([node.speed]) == bits([1000.0])));
    let backbone = cluster(r#"bb_bw="1GBps" bb_lat="1us""#);
    assert_eq!(bits([backbone.nodes()[1].link.unwrap().bandwidth]), bits([1e9]));
    assert!(backbone.nodes()[2..].iter().all(|node| node.parent == Some(1)));
}

#[test]
fn what_is_no_tree_or_not_read_is_refused_with_its_line() {
    let refused = |from: &str, to: &str, expect: &[&str]| {
        assert!(STAR.contains(from));
        let error = read(&STAR.replacen(from, to, 1)).expect_err("this file must be refused");
        expect.iter().for_each(|part| assert!(error.contains(part), "{error}\nlacks {part}"));
    };
    refused("<router id=\"middle\"/>", "<disk id=\"d\"/>", &["p.xml:9", "`disk` is not read"]);
    refused("98.095Mf", "fast", &["p.xml:6", "`fast` is not a speed"]);
    refused("98.095Mf", "0f", &["`0f` is not a speed"]);
    refused("1.25GBps", "0Bps", &["p.xml:10", "`0Bps` is not a bandwidth"]);
    refused("50us", "-1", &["negative"]);
    refused("core=\"4\"", "core=\"x\"", &["`x` is not a number of cores"]);
    refused("dst=\"slow\"><link_ctn id=\"l3\"/>", "dst=\"slwo\"><link_ctn id=\"l3\"/>", &["no host or router `slwo`"]);
    refused("<link_ctn id=\"l3\"/>", "<link_ctn id=\"l4\"/>", &["no link `l4` above; did you mean"]);
    refused("<link_ctn id=\"l3\"/>", "<link_ctn id=\"l2\"/>", &["`l2` is shared"]);
    refused(
        "<link_ctn id=\"l1\"/><link_ctn id=\"l3\"/>",
        "<link_ctn id=\"l1\"/><link_ctn id=\"l2\"/>",
        &["p.xml:16", "leaves the tree"],
    );
    refused("  <route src=\"fast\" dst=\"middle\"><link_ctn id=\"l2\"/></route>\n", "", &["join 2 pairs", "has 3"]);
    refused("src=\"fast\" dst=\"middle\"", "src=\"master\" dst=\"slow\"", &["`fast` is not joined"]);
    refused("id=\"slow\" speed", "id=\"fast\" speed", &["two hosts or routers are named `fast`"]);
    refused("SHARED", "FATPIPE", &["FATPIPE"]);
    refused("sharing_policy", "bandwidth_file", &["p.xml:11", "attribute `bandwidth_file` of a link is not read"]);
    refused("core=\"4\"", "core=\"0\"", &["`0` is not a number of cores"]);
    let cluster = "<platform><cluster id='c' prefix='n' suffix='' radical='0-3' speed='1Gf' bw='1Bps' lat='0' core='0'/></platform>";
    assert!(read(cluster).unwrap_err().contains("`0` is not a number of cores"));
    refused("</zone>", "", &["the XML is broken"]);
    assert!(read("<html/>").unwrap_err().contains("no `platform`"));
    assert!(read("<platform><zone id='a'/><zone id='b'/></platform>").unwrap_err().contains("one zone"));
    assert!(read("<platform><zone id='a'/></platform>").unwrap_err().contains("no host"));
}

#[test]
fn only_trees_with_hosts_at_the_root_are_written() {
    let refused = |platform: &Platform| write_simgrid(platform, &mut Vec::new()).unwrap_err().to_string();
    assert!(refused(&Platform::cluster(2, 2).unwrap()).contains("for a tree"));
    let node = |name: &str, processors, parent| Node { parent, ..Node::new(name, processors) };
    let switch = Platform::new(vec![node("s", 0, None), node("a", 1, Some(0))]).unwrap();
    assert!(refused(&switch).contains("no processors"));
    let unlinked = Platform::new(vec![node("s", 1, None), node("a", 1, Some(0))]).unwrap();
    assert!(refused(&unlinked).contains("`bandwidth`"));
}

proptest! {
    #[test]
    fn a_written_tree_reads_back(
        nodes in prop::collection::vec((0_u32..4, 1e-3..1e4_f64, 0_usize..64, 1e-3..1e10_f64, 0_i64..2_000_000_000), 1..12)
    ) {
        let node = |(at, &(processors, speed, parent, bandwidth, latency)): (usize, &(u32, f64, usize, f64, i64))| {
            let parent = (at > 0).then(|| parent % at.max(1));
            let link = parent.map(|_| Link { bandwidth, latency: Time::from_ticks(latency) });
            let processors = if at == 0 { processors.max(1) } else { processors };
            // A router has no speed.
            let speed = if processors == 0 { 1.0 } else { speed };
            Node { speed, parent, link, ..Node::new(format!("a<{at}>&"), processors) }
        };
        let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap();
        let mut bytes = Vec::new();
        write_simgrid(&platform, &mut bytes).unwrap();
        prop_assert_eq!(read(&String::from_utf8(bytes).unwrap()), Ok(platform));
    }

    #[test]
    fn no_text_makes_the_reader_panic(from in 0_usize..1400, to in 0_usize..1400, with in ".{0,8}") {
        let range = from.min(STAR.len())..to.clamp(from.min(STAR.len()), STAR.len());
        let _ = read(&STAR.chars().enumerate().filter(|(at, _)| !range.contains(at)).map(|(_, c)| c).collect::<String>());
        let _ = read(&format!("{}{with}{}", &STAR[..range.start], &STAR[range.start..]));
    }
}

#[test]
fn versions_and_attributes_that_are_not_known_are_refused() {
    let check = |from: &str, to: &str, part: &str| {
        let text = STAR.replacen(from, to, 1);
        assert_ne!(text, STAR);
        let error = read(&text).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    check("version=\"4.1\"", "version=\"1e19\"", "p.xml:3: version `1e19` of SimGrid's platforms is not known");
    check("routing=\"Full\"", "routing=\"Full\" state=\"x\"", "the attribute `state` of a zone is not read");
    check("speed=\"98.095Mf\"", "speed=\"98Mf\" power=\"3Mf\"", "both `power` and `speed`");
    check("simgrid.dtd\"", "simgrid.dtd\" [<!ENTITY a 'b'>]", "p.xml:2: the document declares entities");
    check("<?xml version='1.0'?>", "<?xml version='1.0'?><", "the XML is broken");
}

#[test]
fn a_few_bytes_do_not_become_a_million_hosts() {
    let cluster = |radical: &str| {
        read(&format!(
            "<platform><cluster id='c' prefix='n' suffix='' radical='{radical}' speed='1Gf' bw='1Bps' lat='0'/></platform>"
        ))
    };
    assert_eq!(cluster("0-9,20-29").unwrap().processors(), 20);
    assert!(cluster("0-999999").unwrap_err().contains("more than 100000 hosts"));
    assert!(cluster("0-4294967295").unwrap_err().contains("more than 100000 hosts"));
    assert!(cluster("0-60000,60001-120000").unwrap_err().contains("more than 100000 hosts"));
}
