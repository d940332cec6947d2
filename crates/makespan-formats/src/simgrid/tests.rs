use makespan_core::{Link, Node, Platform, Time};
use proptest::prelude::*;

use super::*;

/// Returns the bits of floats, to check that values are exact.
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
    read_simgrid("p.xml", text).map(|found| found.platform).map_err(|error| error.to_string())
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
fn hosts_that_cannot_be_are_refused_with_their_lines() {
    let refused = |from: &str, to: &str, expect: &[&str]| {
        assert!(STAR.contains(from));
        let error = read(&STAR.replacen(from, to, 1)).expect_err("this file must be refused");
        expect.iter().for_each(|part| assert!(error.contains(part), "{error}\nlacks {part}"));
    };
    refused("98.095Mf", "fast", &["p.xml:6", "`fast` is not a speed"]);
    refused("core=\"4\"", "core=\"x\"", &["`x` is not a number of cores"]);
    refused("id=\"slow\" speed", "id=\"fast\" speed", &["two hosts or routers are named `fast`"]);
    refused("core=\"4\"", "core=\"0\"", &["`0` is not a number of cores"]);
    let cluster = "<platform><cluster id='c' prefix='n' suffix='' radical='0-3' speed='1Gf' bw='1Bps' lat='0' core='0'/></platform>";
    assert!(read(cluster).unwrap_err().contains("`0` is not a number of cores"));
    refused("</zone>", "", &["the XML is broken"]);
    refused("<router id=\"middle\"/>", "<include file=\"x\"/>", &["p.xml:9", "<include> refers to elements"]);
    assert!(read("<html/>").unwrap_err().contains("not a `platform`"));
    assert!(read("<platform><zone id='a'/></platform>").unwrap_err().contains("no host"));
}

/// Checks that the reader ignores a network that is not a tree, with a warning, and returns all hosts.
#[test]
fn a_network_that_is_no_tree_is_ignored() {
    for (from, to, expect) in [
        ("1.25GBps", "0Bps", "line 10: `0Bps` is not a bandwidth"),
        ("50us", "-1", "negative"),
        ("dst=\"slow\"><link_ctn id=\"l3\"/>", "dst=\"slwo\"><link_ctn id=\"l3\"/>", "no host or router `slwo`"),
        ("<link_ctn id=\"l3\"/>", "<link_ctn id=\"l4\"/>", "no link `l4`; did you mean"),
        ("<link_ctn id=\"l3\"/>", "<link_ctn id=\"l2\"/>", "`l2` joins several pairs"),
        (
            "<link_ctn id=\"l1\"/><link_ctn id=\"l3\"/>",
            "<link_ctn id=\"l1\"/><link_ctn id=\"l2\"/>",
            "line 16: the route from `master` to `slow` differs from the path",
        ),
        ("  <route src=\"fast\" dst=\"middle\"><link_ctn id=\"l2\"/></route>\n", "", "join 2 pairs"),
        ("src=\"fast\" dst=\"middle\"", "src=\"master\" dst=\"slow\"", "`fast` is not connected"),
        ("SHARED", "FATPIPE", "FATPIPE"),
        ("<link id=\"l1\" ", "<bypassRoute/><link id=\"l1\" ", "<bypassRoute> is not supported"),
    ] {
        assert!(STAR.contains(from), "{from}");
        let found = read_simgrid("p.xml", &STAR.replacen(from, to, 1)).unwrap();
        assert!(found.lost.as_ref().is_some_and(|lost| lost.contains(expect)), "{:?}\nlacks {expect}", found.lost);
        assert!(found.remarks.iter().any(|remark| remark.contains("the network of the platform is ignored")));
        let hosts: Vec<(&str, u32)> =
            found.platform.nodes().iter().map(|node| (&*node.name, node.processors)).collect();
        assert_eq!(hosts, [("master", 1), ("fast", 4), ("slow", 1)], "{to}");
    }
}

#[test]
fn platforms_of_other_programs_are_read() {
    let found = |inner: &str| {
        let text = format!("\n\n<?xml version='1.0'?>\n<platform version='4.1'>{inner}</platform>");
        let found = read_simgrid("p.xml", &text).unwrap_or_else(|error| panic!("{inner}: {error}"));
        let nodes =
            found.platform.nodes().iter().map(|node| format!("{}:{}:{}", node.name, node.processors, node.speed));
        (nodes.collect::<Vec<_>>().join(" "), found.lost.is_some(), found.remarks.join("; "))
    };
    let batsim = "<config id='General'><prop id='x' value='16'/></config><zone id='z' routing='Full'>\
        <host id='m' speed='100Mf'><prop id='role' value='master'/></host><host id='a' core='2' speed='100Mf, 50Mf' pstate='1'/>\
        <host id='b' speed='1Gf'><prop id='wattage_per_state' value='1'/></host></zone>";
    assert_eq!(found(batsim), ("a:2:50 b:1:1000".into(), false, String::new()));
    let own = "<zone id='z' routing='Full'><host id='a' speed='1Mf'/><host id='b' speed='1Mf'/><link id='l' bandwidth='1'/>\
        <link id='o' bandwidth='1'/><route src='a' dst='b'><link_ctn id='l'/></route><route src='a' dst='a'><link_ctn id='o'/></route></zone>";
    assert_eq!(found(own), ("a:1:1 b:1:1".into(), false, String::new()));
    let nested = "<zone id='w' routing='Full'><zone id='i' routing='Full'><host id='a' speed='1Mf'/></zone><AS id='j'>\
        <cluster id='c' prefix='n' suffix='' radical='0-1' speed='2Mf' core='3' bw='1' lat='0'/></AS><link id='l' bandwidth='1' latency='0'/>\
        <zoneRoute src='i' dst='j' gw_src='a' gw_dst='nc_router'><link_ctn id='l'/></zoneRoute></zone>";
    assert_eq!(found(nested), ("a:1:1 nc_router:0:1 n0:3:2 n1:3:2".into(), false, String::new()));
    let torus = "<cluster id='c' prefix='n' suffix='' radical='0-1' speed='2Mf' bw='1' lat='0' topology='TORUS' topo_parameters='2,1'/>\
        <cabinet id='k' prefix='k' suffix='' radical='3' speed='1Mf' bw='1' lat='0'/><peer id='p' speed='4Mf' bw_in='1' bw_out='1'/>";
    let (nodes, lost, _) = found(torus);
    assert_eq!((nodes.as_str(), lost), ("n0:1:2 n1:1:2 k3:1:1 p:1:4", true));
    let odd = "<zone id='z'><host id='a' speed='1Mf' speed_file='x'><disk id='d'/><disk id='e'/></host><storage id='s'/></zone>";
    let (nodes, lost, remarks) = found(odd);
    assert_eq!((nodes.as_str(), lost), ("a:1:1", false));
    assert!(remarks.contains("are ignored: <disk> (2), <storage> (1), `speed_file` of <host> (1)"), "{remarks}");
}

#[test]
fn only_trees_with_hosts_at_the_root_are_written() {
    let refused = |platform: &Platform| write_simgrid(platform, &mut Vec::new()).unwrap_err().to_string();
    assert!(refused(&Platform::cluster(2, 2).unwrap()).contains("only a tree of nodes can be written"));
    let node = |name: &str, processors, parent| Node { parent, ..Node::new(name, processors) };
    let switch = Platform::new(vec![node("s", 0, None), node("a", 1, Some(0))]).unwrap();
    assert!(refused(&switch).contains("no processors"));
    let unlinked = Platform::new(vec![node("s", 1, None), node("a", 1, Some(0))]).unwrap();
    assert!(refused(&unlinked).contains("`bandwidth`"));
}

#[test]
fn a_host_that_computes_nothing_refuses_no_platform() {
    let zero = "a speed of <host> is 0, so its processors run no jobs (1)";
    for (inner, processors, remark) in [
        ("<host id='battery' speed='0f'/><host id='a' core='2' speed='100Mf,50Mf'/>", Ok(2), Some(zero)),
        ("<host id='off' speed='1Gf,0' pstate='1'/><host id='a' speed='1Gf,0'/>", Ok(1), Some(zero)),
        ("<host id='panel' speed='0f'/>", Err("no host that runs jobs"), None),
        ("<cabinet id='c' prefix='g-' suffix='' radical='1-29;58-60' speed='1Gf' bw='1' lat='0'/>", Ok(32), None),
        (
            "<cabinet id='c' prefix='g-' suffix='' radical='1-29:58' speed='1Gf' bw='1' lat='0'/>",
            Err("is not a radical"),
            None,
        ),
    ] {
        let found = read_simgrid("p.xml", &format!("<platform version='4.1'><zone id='z'>{inner}</zone></platform>"));
        match (found, processors) {
            (Ok(found), Ok(processors)) => {
                assert_eq!(found.platform.processors(), processors, "{inner}");
                let said = found.remarks.iter().find(|remark| remark.contains("are ignored")).map(String::as_str);
                assert_eq!(said.is_some(), remark.is_some(), "{inner}: {said:?}");
                assert!(said.unwrap_or_default().contains(remark.unwrap_or_default()), "{inner}: {said:?}");
            }
            (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{inner}: {error}"),
            (found, _) => panic!("{inner}: {found:?}"),
        }
    }
}

#[test]
fn the_usual_master_of_batsim_runs_no_jobs_unless_its_role_says_so() {
    let hosts = |prop: &str| {
        let text = format!(
            "<platform version='4.1'><zone id='z'><host id='master_host' speed='1Mf'>{prop}</host><host id='a' speed='1Mf'/></zone></platform>"
        );
        read(&text).unwrap().processors()
    };
    for (prop, processors) in [
        ("", 1),
        ("<prop id='role' value='compute_node'/>", 2),
        ("<prop id='role' value='master'/>", 1),
        ("<prop id='watt_off' value='9'/>", 1),
    ] {
        assert_eq!(hosts(prop), processors, "{prop}");
    }
    for (radical, suffix, prop, processors) in [
        ("0-0", "", "", 1),
        ("0", "", "", 1),
        ("0-0", "", "<prop id='role' value='compute_node'/>", 2),
        ("0-1", "", "", 3),
        ("0-0", ".x", "", 2),
    ] {
        let text = format!(
            "<platform version='4.1'><zone id='z'><host id='a' speed='1Mf'/><cabinet id='c' prefix='master_host' suffix='{suffix}' \
             radical='{radical}' speed='1Mf' bw='1' lat='0'>{prop}</cabinet></zone></platform>"
        );
        assert_eq!(read(&text).unwrap().processors(), processors, "{radical} {suffix} {prop}");
    }
    let tree = Platform::new(vec![Node::new("master_host", 2)]).unwrap();
    let mut bytes = Vec::new();
    write_simgrid(&tree, &mut bytes).unwrap();
    assert_eq!(read(&String::from_utf8(bytes).unwrap()), Ok(tree));
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
            // A router has no speed, so it keeps the default speed.
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
fn versions_that_are_not_known_are_refused() {
    let check = |from: &str, to: &str, part: &str| {
        let text = STAR.replacen(from, to, 1);
        assert_ne!(text, STAR);
        let error = read(&text).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    check("version=\"4.1\"", "version=\"1e19\"", "p.xml:3: version `1e19` of SimGrid's platforms is not supported");
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
