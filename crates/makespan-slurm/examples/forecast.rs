//! Measures the time to read saved outputs and to predict the start of each job: `forecast FOLDER [DRAWS]`.

use std::path::Path;
use std::time::Instant;

use makespan_slurm::forecast::{ForecastOptions, forecast};
use makespan_slurm::queue::Queue;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments.get(1).ok_or("name a folder")?;
    let draws = arguments.get(2).map_or(Ok(20), |draws| draws.parse())?;
    let begun = Instant::now();
    let queue = Queue::from_folder(Path::new(folder), None)?;
    let read = begun.elapsed();
    let expected = forecast(&queue, &ForecastOptions { draws, ..ForecastOptions::default() }).expected;
    let known = expected.iter().filter(|one| one.outlook.start.is_some()).count();
    println!(
        "{} jobs wait, {known} with a start; read in {read:.2?}, done after {:.2?}",
        expected.len(),
        begun.elapsed()
    );
    Ok(())
}
