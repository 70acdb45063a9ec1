# One command a job. `make test` needs Rust by rustup and Node 20 or newer; it installs the rest.

.PHONY: help test check unit package x402 fault-table smoke localnet-packages wasm-target bench example

help:
	@echo "make test     install what is missing, then check and test everything"
	@echo "make check    format, lints, documentation, the WebAssembly build"
	@echo "make unit     the Rust tests alone, real chains included"
	@echo "make package  build the npm package and test it: Node, Chromium, Vite, webpack, workerd"
	@echo "make x402     pay with real x402 clients: merchant, facilitator and chains on loopback"
	@echo "make smoke    try the npm package in the rest of its bundlers and runtimes"
	@echo "make fault-table  write the fault matrix into tests/README.md"
	@echo "make bench    run every benchmark and print one table"
	@echo "make example  run the quickstart"

test: check unit package x402

check: wasm-target
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	cargo clippy --lib --no-default-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked
	cargo clippy --lib --target wasm32-unknown-unknown --locked -- -D warnings
	cargo clippy --package payroute-bindings --lib --target wasm32-unknown-unknown --locked -- -D warnings
	cargo check --lib --target wasm32-unknown-unknown --no-default-features --locked

unit: localnet-packages
	cargo test --workspace --all-features --locked
	npm --prefix tests/localnet test

package: wasm-target localnet-packages
	npm --prefix pkg ci
	npm --prefix pkg run build
	npm --prefix pkg test

fault-table:
	node tests/faults/readme.mjs
x402: localnet-packages pkg/wasm/x402.cjs
	npm --prefix tests/x402 ci --no-audit --no-fund
	npm --prefix tests/x402 test

pkg/wasm/x402.cjs: wasm-target
	npm --prefix pkg ci
	npm --prefix pkg run build

smoke:
	npm --prefix pkg run smoke

wasm-target:
	rustup target add wasm32-unknown-unknown
	rustup component add rust-src

localnet-packages: tests/localnet/node_modules/.package-lock.json

tests/localnet/node_modules/.package-lock.json: tests/localnet/package-lock.json
	npm --prefix tests/localnet ci --no-audit --no-fund
	node tests/localnet/contract.mjs

bench: wasm-target benches/js/node_modules/.package-lock.json
	npm --prefix pkg ci
	npm --prefix pkg run build
	node benches/table.mjs

benches/js/node_modules/.package-lock.json: benches/js/package-lock.json
	npm --prefix benches/js ci

example:
	cargo run --locked --example quickstart
