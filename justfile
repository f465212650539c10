# The recipes a person types. Anything with logic is in `cargo xtask`; `cargo xtask --help` says what each one does.

# List the recipes.
default:
    @just --list --unsorted

# Make sure that Rust can build for wasm32-unknown-unknown.
setup:
    cargo xtask setup

# Build, pre-initialise and check the component.
component *ARGUMENTS:
    cargo xtask component {{ARGUMENTS}}

# The component, then the optimised binary at target/release/counterfoil.
build:
    cargo xtask build

# The scripted tour.
demo *ARGUMENTS:
    cargo xtask demo {{ARGUMENTS}}

# Install the programs of other projects that the tests call, once.
tools:
    cargo xtask tools

# Every test.
test:
    cargo xtask test

# Formatting, lints, licences and advisories, documentation, dependency rules.
check:
    cargo xtask check

# Measure; prints one table.
bench:
    cargo xtask bench

# Write schemas/*.json anew, or with --check only compare.
schemas *ARGUMENTS:
    cargo xtask schemas {{ARGUMENTS}}

# Build the component in two folders and compare the files.
reproduce:
    cargo xtask reproduce
