use makespan_core::{Profile, Time};

use super::*;

fn platform(nodes: u32, memory: u64) -> Platform {
    let resources = Resources::new([("memory", memory)]).unwrap();
    Platform::cluster(nodes, 4).unwrap().with_node_resources(&resources).unwrap()
}

#[test]
fn a_list_gets_the_memory_of_its_machine_and_a_stated_platform_none() {
    let room = MemoryRoom { machines: platform(1, 8 << 30), guesses: true, excess: ExcessRule::Kill };
    let bare = Platform::flat(3).unwrap();
    let amounts_of = |platform: &Platform, is_list| amounts(&with_memory(platform, &room, is_list).unwrap());
    assert_eq!(amounts_of(&bare, true), Some((8 << 30, (8 << 30) / 3)));
    assert_eq!(amounts_of(&bare, false), None);
    assert_eq!(amounts_of(&platform(2, 1 << 30), true), Some((1 << 30, 1 << 28)));
    assert_eq!(amounts(&bare.with_licences(Resources::new([("memory", 5)]).unwrap()).unwrap()), None);
}

#[test]
fn only_commands_without_a_figure_are_guessed() {
    let job = |words: &[&str], stated: Option<u64>| {
        let mut job = Job::new("a", Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let task = job.work.task_mut().unwrap();
        task.command = words.iter().map(|&word| word.to_owned()).collect();
        task.needs = Needs::new(stated.map(|bytes| ("memory", Need::whole(bytes)))).unwrap();
        job
    };
    let mut jobs = vec![job(&["x"], None), job(&["y"], Some(7)), job(&[], None)];
    let sources = guess(&mut jobs, Some(100), MemorySources::default()).unwrap();
    assert_eq!((sources.guessed, sources.stated), (1, 1));
    let memory = |job: &Job| job.work.task().unwrap().needs.of("memory").map(|need| need.total(2));
    assert_eq!(jobs.iter().map(memory).collect::<Vec<_>>(), [Some(200), Some(7), None]);
    let guesses: Vec<bool> = jobs.iter().map(|job| job.work.task().unwrap().memory_estimate.is_guess()).collect();
    assert_eq!(guesses, [true, false, false]);
    assert!(sources.remark(Some(100)).contains("1 job stated, 1 job guessed (100 bytes for each core)"));
}
