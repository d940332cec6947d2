//! `crunch`: small programs that compute for some seconds, for the bundled example workload. The output depends only
//! on the arguments, never on the number of threads.

mod mandelbrot;
mod pi;
mod primes;
mod share;

use clap::{Parser, Subcommand};

/// Computes for some seconds on the given number of threads.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Number of threads.
    #[arg(long, global = true, env = "MAKESPAN_PROCESSORS", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: u32,
}

#[derive(Subcommand)]
enum What {
    /// Counts the primes up to a number.
    Primes {
        /// The number, at most 10^13.
        #[arg(long, value_parser = clap::value_parser!(u64).range(0..=10_000_000_000_000))]
        up_to: u64,
    },
    /// Counts the points of the Mandelbrot set in a square picture.
    Mandelbrot {
        /// Number of points along each side of the picture.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65536))]
        size: u32,
    },
    /// Sums the Leibniz series for pi.
    Pi {
        /// Number of terms, at most 10^15.
        #[arg(long, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000_000_000))]
        terms: u64,
    },
}

fn main() {
    let Arguments { what, threads } = Arguments::parse();
    let answer = match what {
        What::Primes { up_to } => format!("{} primes up to {up_to}", primes::count(up_to, threads)),
        What::Mandelbrot { size } => format!("{} of {size} x {size} points", mandelbrot::count(size, threads)),
        What::Pi { terms } => format!("pi is about {:.12} after {terms} terms", pi::sum(terms, threads)),
    };
    println!("{answer}");
}
