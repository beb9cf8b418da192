# Everything a developer runs. `make demo` and `make test` need nothing but a Rust toolchain and, for the tests, apt.
SHELL := bash
.DEFAULT_GOAL := build
.PHONY: build demo check test fuzz

build:
	cargo build -p pando

# Pando on embedded SQLite storage units: no server, no network. On a terminal it keeps serving until Ctrl-C.
demo:
	cargo build --quiet -p pando
	@target/debug/pando demo

# Format, lints as errors, and the rules of xtask.
check:
	cargo fmt --all -- --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	cargo run --quiet -p xtask -- tidy

# Installs what is missing, starts throw-away servers, runs everything, stops them; ends with the line `N passed, N failed`.
test:
	@testing/all

# Fuzzes both codecs and the SQL lexer and parser for FUZZ_SECONDS (60) each.
fuzz:
	@testing/fuzz/run
