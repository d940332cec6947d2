//! Tests of reservations of licences, and of reservations that move with time.

use makespan_slurm::forecast::ExpectedJob;
use makespan_slurm::queue::{ClusterOutput, Queue, Texts};
use proptest::prelude::*;

use super::rules::{by_limits, node, pending};

/// Returns a time of 1970 as Slurm writes it.
fn clock(seconds: i64) -> String {
    format!("1970-01-01T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn queue(minutes: i64, job: &str, reservation: &str) -> Queue {
    let limit = format!("TimeLimit={:02}:{:02}:00 NumNodes=1-1 NumCPUs=1", minutes / 60, minutes % 60);
    Texts::default()
        .with(ClusterOutput::Nodes, node(0, "", false) + &node(1, "", false))
        .with(ClusterOutput::Jobs, pending(1, &format!("{limit} {job}")))
        .with(ClusterOutput::Licences, "LicenseName=x Total=4 Used=0 Free=4 Reserved=0\n")
        .with(ClusterOutput::Reservations, reservation)
        .queue(Some(1000))
        .unwrap()
}

fn reserved(start: i64, end: i64, more: &str) -> String {
    format!("ReservationName=kept StartTime={} EndTime={} Users=bob {more}\n", clock(start), clock(end))
}

fn first(queue: &Queue) -> ExpectedJob {
    by_limits(queue).remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A job starts at once if enough licences are left, or if it ends before the reservation begins. Otherwise, it starts
    /// at the end of the reservation, and its reason names the reservation.
    #[test]
    fn reserved_licences_delay_jobs_that_overlap_the_reservation(
        ahead in -500_i64..1500, lasts in 60_i64..3000, minutes in 1_i64..40, asked in 1_u64..5, kept in 1_u64..5,
    ) {
        let (start, end) = (1000 + ahead, 1000 + ahead + lasts);
        let queue = queue(minutes, &format!("Licenses=x:{asked}"), &reserved(start, end, &format!("Nodes=(null) Licenses=x:{kept}")));
        let found = first(&queue);
        let overlaps = start < 1000 + 60 * minutes && end > 1000;
        if overlaps && asked + kept > 4 {
            prop_assert_eq!(found.outlook.start, Some(end));
            prop_assert!(found.why().text.contains("are reserved (kept)"), "{:?}", found.why());
        } else {
            prop_assert_eq!(found.outlook.start, Some(1000));
        }
        // The simulation does not know licences that are reserved later, and says so.
        let present = queue.present().unwrap();
        let notes = present.remarks.iter().filter(|remark| remark.contains("reservation kept")).count();
        prop_assert_eq!(notes, usize::from(end > 1000));
        let held: u64 = present.instance.held().iter().map(|held| held.amount).sum();
        prop_assert_eq!(held, if start <= 1000 && end > 1000 { kept } else { 0 });
    }

    /// The start of a floating reservation is always as far ahead as now. So only jobs that end before it can start.
    #[test]
    fn jobs_never_wait_for_the_end_of_a_floating_reservation(ahead in 0_i64..1800, minutes in 1_i64..40) {
        let flags = "Nodes=n[0-1] Flags=SPEC_NODES,TIME_FLOAT";
        let found = first(&queue(minutes, "", &reserved(1000 + ahead, 1200 + ahead, flags)));
        prop_assert_eq!(found.outlook.start, (60 * minutes <= ahead).then_some(1000));
    }
}

#[test]
fn jobs_of_a_reservation_use_its_licences() {
    let licences = reserved(900, 4000, "Nodes=n1 Licenses=x:3").replace("Users=bob", "Users=u");
    assert_eq!(first(&queue(10, "Licenses=x:3 Reservation=kept", &licences)).outlook.start, Some(1000));
    assert_eq!(first(&queue(10, "Licenses=x:3", &licences)).outlook.start, Some(4000));
}

#[test]
fn jobs_before_a_job_compete_with_it() {
    let jobs: String = (1..=4).map(|id| pending(id, "TimeLimit=00:10:00 NumNodes=2-2 NumCPUs=8")).collect();
    let own = pending(5, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=4 Reservation=kept");
    let other = pending(6, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=4 Reservation=kept");
    let queue = Texts::default()
        .with(ClusterOutput::Nodes, (0..3).map(|at| node(at, "", false)).collect::<String>())
        .with(ClusterOutput::Jobs, jobs + &own + &other)
        .with(ClusterOutput::Reservations, reserved(900, 9000, "Nodes=n2").replace("Users=bob", "Users=u"))
        .queue(Some(1000))
        .unwrap();
    let expected = by_limits(&queue);
    assert_eq!(expected[4].outlook.start, Some(1000));
    let why = expected[5].why();
    assert!(!why.brief.contains("5 jobs before it"), "{why:?}");
}

/// Slurm shows the state `MAINTENANCE` for some seconds after the end of a reservation.
#[test]
fn nodes_accept_jobs_when_their_maintenance_has_ended() {
    let started = |end: i64| {
        let limit = "TimeLimit=00:05:00 NumNodes=1-1 NumCPUs=1";
        let kept = format!(
            "ReservationName=kept StartTime={} EndTime={} Nodes=n0 Flags=MAINT Users=bob\n",
            clock(0),
            clock(end)
        );
        let away = node(0, "", false).replace("State=IDLE", "State=IDLE+MAINTENANCE");
        let queue = Texts::default()
            .with(ClusterOutput::Nodes, away)
            .with(ClusterOutput::Jobs, pending(1, limit))
            .with(ClusterOutput::Reservations, kept)
            .queue(Some(1000))
            .unwrap();
        first(&queue).outlook.start
    };
    assert_eq!([started(999), started(1500)], [Some(1000), Some(1500)]);
}

#[test]
fn a_job_uses_the_first_of_several_reservations() {
    let kept = |name: &str, start: i64, users: &str| {
        format!(
            "ReservationName={name} StartTime={} EndTime={} Nodes=n0 Users={users}\n",
            clock(start),
            clock(start + 2000)
        )
    };
    let all = kept("late", 4000, "u") + &kept("soon", 1600, "u") + &kept("other", 1200, "bob").replace("n0", "n1");
    let all = all + &kept("magnet", 9000, "bob Flags=MAGNETIC,DAILY");
    let queue = queue(5, "Reservation=late,other,soon", &all);
    assert_eq!(first(&queue).outlook.start, Some(1600));
    assert!(queue.remarks.iter().any(|remark| remark.contains("(job 1 uses soon)")), "{:?}", queue.remarks);
}
