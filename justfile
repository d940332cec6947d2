# Recipes for those who have `just`; `./check` and cargo do without it.

# All that a change must pass, or one of the forms `quick` and `long` (`./check --help`)
check *FORM:
    ./check {{FORM}}

# The documentation site, with every example run and every figure drawn: target/site/html/index.html
site *ARGS:
    scripts/site/build {{ARGS}}

# Criterion benchmarks of readers, bounds and schedulers
bench *ARGS:
    cargo bench --workspace --exclude makespan-fuzz -- {{ARGS}}

# Random kills of runs with an independent check, such as: just kill --kills 1000 --seed 1
kill *ARGS:
    cargo bench -p makespan-cli --bench kill -- {{ARGS}}

# The paper's experiments, on all cores
reproduce:
    cargo run --release -p makespan-lab -- demt

# How near to its bounds the optimiser comes, and how fast: 40 minutes, on a machine that does nothing else
optimiser *ARGS:
    cargo run --release -p makespan-lab -- optimiser {{ARGS}}

# OR-Tools CP-SAT beside makespan on the same instances (benches/peers/README.md); the first run needs the network
peers-cpsat *ARGS:
    benches/peers/cpsat/run {{ARGS}}

# AccaSim beside makespan on the same log (benches/peers/README.md); the first run needs the network
peers-accasim *ARGS:
    benches/peers/accasim/run {{ARGS}}

# The Python package beside SAGA, PyJobShop and AccaSim (benches/peers/README.md); the first run needs the network
peers-python *ARGS:
    benches/peers/python/run {{ARGS}}

# SimGrid beside makespan on the same trees (benches/peers/README.md); the first run needs the network
peers-simgrid *ARGS:
    benches/peers/simgrid/run {{ARGS}}

# xargs, GNU parallel and HyperQueue beside makespan on many short tasks (benches/peers/README.md); the first run needs the network
peers-parallel *ARGS:
    benches/peers/parallel/run {{ARGS}}

# makespan on a real Slurm beside Slurm's backfill and HyperQueue (benches/peers/README.md); needs slurm-wlm and munge
peers-slurm *ARGS:
    benches/peers/slurm/run {{ARGS}}

# Fuzz the readers, so many seconds each (fuzz/run says what it needs); an hour each on a machine that does nothing else
fuzz SECONDS="3600" *TARGETS:
    fuzz/run {{SECONDS}} {{TARGETS}}
