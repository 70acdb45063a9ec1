# One command a job. `make test` needs Rust by rustup and Node 20 or newer; it installs the rest.

.PHONY: help test check msrv unit package x402 wallet-test agent-test smoke fault-table bench example wallet agent \
	sim soak fuzz fuzz-keep deny advisories wasm-target localnet-packages wallet-packages

help:
	@echo "make test     install what is missing, then check, unit, package, x402 and wallet-test"
	@echo "make check    format, lints, documentation, every set of features natively and for WebAssembly"
	@echo "make msrv     compile the crate with the oldest Rust that it states; part of check"
	@echo "make unit     the Rust tests, real chains included, and the tests of those chains"
	@echo "make package  build the npm package and test it: Node, Chromium, Vite, webpack, workerd"
	@echo "make x402     pay with real x402 clients: merchant, facilitator and chains on loopback"
	@echo "make wallet-test  drive the wallet page in Chromium"
	@echo "make smoke    try the npm package in Firefox, in WebKit, and in the rest of its bundlers and runtimes"
	@echo "make fault-table  write the fault matrix into tests/README.md"
	@echo "make bench    build the npm package, run every benchmark and print one table"
	@echo "make example  run the quickstart"
	@echo "make wallet   show a wallet page on local chains with a local merchant"
	@echo "make sim      run SEEDS=10000 worlds of the simulator FROM=0 on, and every story of one circuit"
	@echo "make soak     select a million times natively, and 200,000 times in Node, on one selector each"
	@echo "make fuzz     fuzz TARGET=amounts|configuration|decoding|replies|snapshots for RUNS=1000000 inputs"
	@echo "make fuzz-keep  put a minimal set of what TARGET found into its corpus"
	@echo "make deny     check dependencies: licences, duplicates, sources; make advisories: known faults"
	@echo "make agent    pay a local merchant from the native agent"
	@echo "make agent-test  lint and test the agent; not part of make test, for it builds 560 crates"

# A workspace of its own, for its many dependencies: its lock file follows those of payroute.
AGENT = --manifest-path examples/agent/Cargo.toml

test: check unit package x402 wallet-test

check: wasm-target msrv
	cargo fmt --all --check
	cargo fmt $(AGENT) --check
	cargo update --workspace --locked --quiet $(AGENT)
	cargo update --workspace --locked --quiet --manifest-path tests/fuzz/Cargo.toml
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --all-features
	for features in "" reqwest fetch tracing "reqwest tracing" "fetch tracing"; do \
		cargo clippy --lib --no-default-features --features "$$features" --locked -- -D warnings && \
		cargo clippy --lib --no-default-features --features "$$features" --target wasm32-unknown-unknown --locked -- -D warnings \
		|| exit 1; \
	done
	cargo clippy --package payroute-bindings --lib --target wasm32-unknown-unknown --locked -- -D warnings

# Stated once, as `rust-version` in Cargo.toml.
msrv: MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml)
msrv:
	rustup toolchain install $(MSRV) --profile minimal --no-self-update
	for features in "" reqwest "reqwest tracing"; do \
		cargo +$(MSRV) check --lib --no-default-features --features "$$features" --locked || exit 1; \
	done

unit: localnet-packages
	cargo test --workspace --all-features --locked
	npm --prefix tests/localnet test

package: wasm-target localnet-packages pkg/node_modules/.package-lock.json
	npm --prefix pkg run build
	npm --prefix pkg test

x402: localnet-packages pkg/wasm/x402.cjs tests/x402/node_modules/.package-lock.json
	npm --prefix tests/x402 test

wallet-test: wallet-packages
	npm --prefix examples/wallet test

fault-table:
	node tests/faults/readme.mjs

smoke:
	npm --prefix pkg run smoke

bench: wasm-target pkg/node_modules/.package-lock.json benches/js/node_modules/.package-lock.json
	npm --prefix pkg run build
	node benches/table.mjs

example:
	cargo run --locked --example quickstart

wallet: wallet-packages
	npm --prefix examples/wallet start

# Built with its tests, so that both share what they compile.
agent: localnet-packages tests/x402/node_modules/.package-lock.json
	cargo build $(AGENT) --all-targets --locked
	node tests/x402/agent.mjs examples/agent/target/debug/payroute-agent

agent-test: localnet-packages tests/x402/node_modules/.package-lock.json
	cargo test $(AGENT) --locked
	cargo clippy $(AGENT) --all-targets --locked -- -D warnings

# What the above need.

wasm-target:
	rustup target add wasm32-unknown-unknown

localnet-packages: tests/localnet/node_modules/.package-lock.json
	node tests/localnet/contract.mjs

wallet-packages: localnet-packages pkg/wasm/x402.cjs tests/x402/node_modules/.package-lock.json examples/wallet/node_modules/.package-lock.json

# Built by `make package` and `make bench` whenever they run; here only where nothing was built yet.
pkg/wasm/x402.cjs: | wasm-target pkg/node_modules/.package-lock.json
	npm --prefix pkg run build

# Here no dependency runs a script when it is installed; `.npmrc` cannot say so without silencing our own `prepack`.
pkg/node_modules/.package-lock.json: NPM_FLAGS = --ignore-scripts

%/node_modules/.package-lock.json: %/package-lock.json
	npm --prefix $* ci --no-audit --no-fund $(NPM_FLAGS)

# Needs a nightly toolchain and `cargo install cargo-fuzz`. What it finds grows in tests/fuzz/grown, which
# git ignores; SANITIZER=none is several times as fast as the default.
TARGET ?= decoding
RUNS ?= 1000000
SANITIZER ?= address
FUZZ = RUSTC_WRAPPER="$(CURDIR)/tests/fuzz/rustc" cargo +nightly fuzz

fuzz:
	mkdir -p tests/fuzz/grown/$(TARGET)
	$(FUZZ) run --fuzz-dir tests/fuzz --sanitizer $(SANITIZER) $(TARGET) tests/fuzz/grown/$(TARGET) \
		tests/fuzz/corpus/$(TARGET) -- -runs=$(RUNS) -max_len=4096 -len_control=50 \
		-dict=tests/fuzz/dictionaries/$(TARGET).dict -print_final_stats=1

# Puts the least of what has grown into the corpus that `make unit` replays.
fuzz-keep:
	$(FUZZ) run --fuzz-dir tests/fuzz --sanitizer $(SANITIZER) $(TARGET) tests/fuzz/corpus/$(TARGET) \
		tests/fuzz/grown/$(TARGET) -- -set_cover_merge=1 -max_len=4096

# Needs `cargo install cargo-deny`. Known faults are listed on GitHub: that check needs the network, these do not.
deny:
	cargo deny --locked --offline check licenses bans sources

advisories:
	cargo deny --locked check advisories

SEEDS ?= 10000
FROM ?= 0

sim:
	SIM_SEEDS=$(SEEDS) SIM_FROM=$(FROM) cargo test --release --locked --test it sim::seeds -- --nocapture
	STORY_LENGTH=8 cargo test --release --locked --test it enumeration -- --nocapture

soak:
	cargo test --release --locked --test it soak -- --ignored --nocapture
	npm --prefix pkg run soak
