# One command a job. `make test` needs Rust by rustup and Node 20 or newer; it installs the rest.

.PHONY: help test check unit localnet-packages wasm-target bench example

help:
	@echo "make test     install what is missing, then check and test everything"
	@echo "make check    format, lints, documentation, the WebAssembly build"
	@echo "make unit     the Rust tests alone, real chains included"
	@echo "make bench    run the benchmarks"
	@echo "make example  run the quickstart"

test: check unit

check: wasm-target
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	cargo clippy --lib --no-default-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked
	cargo check --lib --target wasm32-unknown-unknown --locked
	cargo check --lib --target wasm32-unknown-unknown --no-default-features --locked

unit: localnet-packages
	cargo test --workspace --all-features --locked
	npm --prefix tests/localnet test

wasm-target:
	rustup target add wasm32-unknown-unknown

localnet-packages: tests/localnet/node_modules/.package-lock.json

tests/localnet/node_modules/.package-lock.json: tests/localnet/package-lock.json
	npm --prefix tests/localnet ci --no-audit --no-fund

bench:
	cargo bench --locked

example:
	cargo run --locked --example quickstart
