# Recipes for those who have `just`; `./check` and cargo do without it.

# What continuous integration runs
check:
    ./check

# Criterion benchmarks of readers, bounds and schedulers
bench *ARGS:
    cargo bench --workspace -- {{ARGS}}

# The paper's experiments, on all cores
reproduce:
    cargo run --release --bin makespan -- reproduce demt
