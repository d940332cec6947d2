use proptest::prelude::*;

use super::*;

#[test]
fn expressions_of_every_form_are_read() {
    for (text, features, holds) in [
        ("amd", &["amd", "ib"][..], true),
        ("intel&ib", &["amd", "ib"], false),
        ("intel|ib", &["amd", "ib"], true),
        ("[intel*1&amd*1]", &["amd"], true),
        ("[intel*1&amd*1]", &["ib"], false),
        ("[rack1|rack2]", &["rack2"], true),
        ("(a|b)&c", &["b"], false),
        ("a|b&c", &["a"], false),
        ("intel*4&ib", &["intel", "ib"], true),
        ("(a&b)*2", &["a", "b"], true),
        ("a,b", &["a"], false),
    ] {
        let read = Features::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(read.hold(features), holds, "{text}");
        assert_eq!(Features::parse(&read.to_string()).as_ref(), Some(&read), "{text}: {read}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    for wrong in ["", "&", "a&", "(a", "a)", "[a|]", "a b", "a*", "a||b", &"(".repeat(100_000)] {
        assert_eq!(Features::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn alternatives_for_all_nodes_are_one_choice_each() {
    let choices = |text: &str| Features::parse(text).unwrap().choices();
    assert_eq!(choices("[rack1|rack2|rack3]&ib").len(), 3);
    let counted = &choices("ib&[intel*2&amd*1]")[0];
    assert_eq!((counted.each.len(), counted.counted.len(), counted.nodes()), (1, 2, 3));
    assert!(counted.serves(&["ib"], 4) && !counted.serves(&["ib"], 3) && !counted.serves(&["amd"], 4));
}

/// Returns true if some choice of nodes gives every part the number of nodes in `left`.
fn fits(nodes: &[u64], left: &mut [u32]) -> bool {
    if left.iter().all(|&count| count == 0) {
        return true;
    }
    let Some((&first, rest)) = nodes.split_first() else { return false };
    if fits(rest, left) {
        return true;
    }
    (0..left.len()).any(|part| {
        if first >> part & 1 == 0 || left[part] == 0 {
            return false;
        }
        left[part] -= 1;
        let found = fits(rest, left);
        left[part] += 1;
        found
    })
}

proptest! {
    /// Compares the chosen nodes with a search over every possible choice.
    #[test]
    fn counted_parts_get_different_nodes_whenever_there_are_such(
        nodes in prop::collection::vec(0_u64..8, 0..7), counts in prop::collection::vec(0_u32..3, 1..4),
    ) {
        let nodes: Vec<u64> = nodes.iter().map(|bits| bits & ((1 << counts.len()) - 1)).collect();
        let found = counted_nodes(&nodes, &counts);
        prop_assert_eq!(found.is_some(), fits(&nodes, &mut counts.clone()));
        if let Some(chosen) = found {
            prop_assert_eq!(chosen.len() as u32, counts.iter().sum::<u32>());
            prop_assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
            let own: Vec<u64> = chosen.iter().map(|&at| nodes[at]).collect();
            prop_assert!(fits(&own, &mut counts.clone()));
        }
    }
}
