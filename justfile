# Optional recipes for `just`. `./check` and cargo work without it.

# Check a change with all tests of `./check`, or with `quick` or `long` as an argument (`./check --help`)
check *FORM:
    ./check {{FORM}}

# Count the lines of the code that users of `makespan-verify` trust
trusted-lines:
    scripts/trusted-lines

# Build the documentation site in target/site/html, which runs all examples and draws all figures
site *ARGS:
    scripts/site/build {{ARGS}}

# Run the Criterion benchmarks of readers, bounds and schedulers
bench *ARGS:
    cargo bench --workspace --exclude makespan-fuzz -- {{ARGS}}

# Kill runs at random instants and check the results, such as: just kill --kills 1000 --seed 1
kill *ARGS:
    cargo bench -p makespan-cli --bench kill -- {{ARGS}}

# Repeat the experiments of the DEMT paper on all cores
reproduce:
    cargo run --release -p makespan-lab -- demt

# Measure the gap between optimiser and bounds over time; takes 40 minutes on an otherwise idle machine
optimiser *ARGS:
    cargo run --release -p makespan-lab -- optimiser {{ARGS}}

# Compare OR-Tools CP-SAT with makespan on the same instances (benches/peers/README.md); the first run needs the network
peers-cpsat *ARGS:
    benches/peers/cpsat/run {{ARGS}}

# Compare AccaSim with makespan on the same log (benches/peers/README.md); the first run needs the network
peers-accasim *ARGS:
    benches/peers/accasim/run {{ARGS}}

# Compare the Python package with SAGA, PyJobShop and AccaSim (benches/peers/README.md); the first run needs the network
peers-python *ARGS:
    benches/peers/python/run {{ARGS}}

# Compare `pytest --dist makespan` with pytest-xdist and pytest-split (benches/peers/README.md); the first run needs the network
peers-pytest *ARGS:
    benches/peers/pytest/run {{ARGS}}

# Compare the scheduler plugin with Snakemake's schedulers (benches/peers/README.md); the first run needs the network
peers-snakemake *ARGS:
    benches/peers/snakemake/run {{ARGS}}

# Compare SimGrid with makespan on the same trees (benches/peers/README.md); the first run needs the network
peers-simgrid *ARGS:
    benches/peers/simgrid/run {{ARGS}}

# Compare xargs, GNU parallel and HyperQueue with makespan on many short tasks (benches/peers/README.md); the first run needs the network
peers-parallel *ARGS:
    benches/peers/parallel/run {{ARGS}}

# Compare makespan on a real Slurm with Slurm's backfill and HyperQueue (benches/peers/README.md); needs slurm-wlm and munge
peers-slurm *ARGS:
    benches/peers/slurm/run {{ARGS}}

# Fuzz each reader for SECONDS on an otherwise idle machine (fuzz/run lists the required tools)
fuzz SECONDS="3600" *TARGETS:
    fuzz/run {{SECONDS}} {{TARGETS}}
