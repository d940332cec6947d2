//! Measures of owners and users, as text, JSON and a section of the page.

use makespan::Simulated;
use makespan::policy::{DomainMeasures, DomainScene};
use makespan_core::Instance;
use makespan_formats::report::Section;
use serde_json::{Value, json};

use super::super::comparison::text_of_rows;
use super::super::row::MeasureRow;
use super::DomainSetup;
use crate::summary::{figure, grouped_rows};

const TITLE: &str = "owners and users";

impl DomainSetup {
    fn measures(&self, instance: &Instance, one: &Simulated) -> DomainMeasures {
        let scene = DomainScene { instance, rules: &self.rules, users: &self.users, budgets: &self.budgets };
        DomainMeasures::of(&scene, &one.simulation.trace, &one.log)
    }

    fn rows(&self, instance: &Instance, simulated: &[Simulated]) -> Vec<MeasureRow> {
        let all: Vec<DomainMeasures> = simulated.iter().map(|one| self.measures(instance, one)).collect();
        let row = |label: String, of: &dyn Fn(&DomainMeasures) -> String| (label, all.iter().map(of).collect());
        let time = |of: Option<f64>| of.map_or("-".into(), figure);
        let of_all = |count: usize| format!("{count} of {}", self.users.len());
        let mut rows: Vec<MeasureRow> = Vec::new();
        for (at, domain) in self.rules.iter().enumerate().filter(|(_, domain)| !domain.owners.is_empty()) {
            let label = format!("wait of owners of {}, mean", domain.name);
            rows.push(row(label, &|measures| time(measures.owners_wait[at])));
        }
        rows.push(row("wait of users, mean".into(), &|measures| time(measures.users_wait)));
        rows.push(row("time to the end of users' jobs, mean".into(), &|measures| time(measures.users_response)));
        if all.iter().flat_map(|measures| &measures.users).any(|user| user.is_in_time.is_some()) {
            rows.push(row("users' jobs in time".into(), &|measures| of_all(measures.in_time())));
        }
        rows.push(row("users' jobs not completed".into(), &|measures| of_all(measures.unfinished())));
        rows.push(row("users' jobs in several domains".into(), &|measures| of_all(measures.divided())));
        rows.push(row("charges by expected run times".into(), &|measures| figure(measures.charges())));
        if !self.budgets.is_empty() {
            rows.push(row("users' jobs over their budget".into(), &|measures| of_all(measures.over_budget())));
        }
        rows
    }

    /// Formats a table with one column for each policy.
    pub fn text(&self, instance: &Instance, simulated: &[Simulated], widest: usize) -> String {
        format!("\n{}", text_of_rows(TITLE, simulated, &self.rows(instance, simulated), widest))
    }

    /// Returns the measures under one policy as JSON.
    pub fn json(&self, instance: &Instance, one: &Simulated) -> Value {
        let measures = self.measures(instance, one);
        let money = |thousandths: i64| thousandths as f64 / 1e3;
        let domain = |(at, wait): (usize, &Option<f64>)| {
            let rules = &self.rules[at];
            json!({"domain": rules.name, "policy": rules.policy, "price": f64::from(rules.price) / 1e3,
                "owners_jobs": rules.owners.len(), "owners_mean_wait": wait})
        };
        let users = measures.users.iter().map(|user| {
            json!({
                "job": instance.job(user.job).name,
                "end": user.end.map(makespan_core::Time::seconds),
                "in_time": user.is_in_time,
                "charge": money(user.charge),
                "budget": user.budget.map(money),
                "domains": user.domains.iter().map(|&at| self.rules[at].name.as_str()).collect::<Vec<_>>(),
            })
        });
        json!({
            "domains": measures.owners_wait.iter().enumerate().map(domain).collect::<Vec<_>>(),
            "users": users.collect::<Vec<_>>(),
            "users_mean_wait": measures.users_wait,
            "users_mean_response": measures.users_response,
            "changes": measures.changes,
        })
    }

    /// Returns the measures as a section of the page.
    pub fn section(&self, instance: &Instance, simulated: &[Simulated]) -> Section {
        let columns = std::iter::once(String::new()).chain(simulated.iter().map(|one| one.policy.clone()));
        let rows = self.rows(instance, simulated).into_iter().map(|(label, cells)| [vec![label], cells].concat());
        Section {
            title: "Owners and users".into(),
            text:
                "Times are in seconds. A charge is the expected cost of a task times the price of its domain. The cost \
                   of the flow uses actual run times instead."
                    .into(),
            columns: columns.collect(),
            rows: grouped_rows(rows.collect()),
            ..Section::default()
        }
    }
}
