# Everything a developer runs. They need a Rust toolchain, a C compiler and, for the tests, apt.
SHELL := bash
.DEFAULT_GOAL := build
.PHONY: build demo check test fuzz bench pgo stages soak java

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
	@! command -v cargo-deny >/dev/null || cargo deny --offline check licenses bans sources

# Installs what is missing, starts throw-away servers, runs everything, stops them; ends with the line `N passed, N failed`.
test:
	@testing/all

# java/target/pando-jdbc-*.jar: the JDBC driver with the engine in it, a release build unless PROFILE names another. Needs Maven.
java:
	cargo build --profile $(or $(PROFILE),release) -p pando-embed-jni
	mkdir -p java/target/library/native/linux-$(shell uname -m)
	cp target/$(patsubst dev,debug,$(or $(PROFILE),release))/libpando_jni.so java/target/library/native/linux-$(shell uname -m)/
	mvn -q -B -f java/pom.xml package

# Fuzzes both codecs and the SQL lexer and parser for FUZZ_SECONDS (60) each.
fuzz:
	@testing/fuzz/run

# Pando, a release build, beside a direct connection and other proxies, in turns. BENCH: what to pass on, as "--families pg --scenarios point_select".
bench:
	@bench/run $(BENCH)

# A release built by the profile of its own benchmark: target/pgo/pando. Needs what bench needs, and llvm-profdata.
pgo:
	@bench/pgo/run

# Instructions per operation of each stage, beside the figures kept in bench/stages; STAGES may name some. Needs valgrind.
stages:
	@bench/stages/run $(STAGES)

# SOAK_MINUTES (30) of mixed work: no error, no lost row, no growth.
soak:
	@testing/soak
