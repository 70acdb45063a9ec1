// Builds everything in wasm/: the module, its glue, the embedded text, the CommonJS bundle and its
// types. Prints sizes and fails when the module is over its budget.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const REPOSITORY = dirname(PACKAGE);
const OUT = join(PACKAGE, "wasm");

/** KB of 1,000 bytes, gzip -9, of the whole selector's module: what it has now and a little more. The
 * goal is 110; lower this with every step towards it. */
const BUDGET_KB = 193;

/** What the compiler emits for wasm32 by default. Named one by one: wasm-opt must use nothing else. */
const FEATURES = ["bulk-memory", "bulk-memory-opt", "multivalue", "mutable-globals", "nontrapping-float-to-int", "reference-types", "sign-ext"];

/** The standard library is compiled along, for size: a panic ends the module at once instead of
 * formatting a message that nobody could read, which is a tenth of the module. That is still unstable in
 * Rust; with the compiler pinned in rust-toolchain.toml it is one known thing. */
const STANDARD_LIBRARY = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
const COMPILER = { RUSTC_BOOTSTRAP: "1", CARGO_ENCODED_RUSTFLAGS: ["-Zunstable-options", "-Cpanic=immediate-abort"].join("\x1f") };

function run(command, args, env = {}) {
  execFileSync(command, args, { cwd: REPOSITORY, stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } });
}

function targetDirectory() {
  const metadata = execFileSync("cargo", ["metadata", "--format-version", "1", "--no-deps"], { cwd: REPOSITORY, maxBuffer: 1 << 26 });
  return JSON.parse(metadata.toString()).target_directory;
}

function compile(out, features) {
  const args = [
    ...["build", "--locked", "--profile", "wasm-release", "--target", "wasm32-unknown-unknown", "-p", "payroute-bindings"],
    ...STANDARD_LIBRARY,
    ...features.flatMap((feature) => ["--features", feature]),
  ];
  run("cargo", args, COMPILER);
  const compiled = join(targetDirectory(), "wasm32-unknown-unknown/wasm-release/payroute_bindings.wasm");
  mkdirSync(out, { recursive: true });
  run("cargo", ["run", "--quiet", "--locked", "-p", "payroute-pkg-build", "--", compiled, out]);
}

function optimize(file) {
  const optimizer = join(PACKAGE, "node_modules/binaryen/bin/wasm-opt");
  const features = ["--mvp-features", ...FEATURES.map((feature) => `--enable-${feature}`)];
  run(process.execPath, [optimizer, file, "-o", file, "-Oz", ...features, "--strip-debug", "--strip-producers", "--strip-target-features"]);
}

function embed() {
  const bytes = readFileSync(join(OUT, "core_bg.wasm"));
  writeFileSync(join(OUT, "bytes.mjs"), `export default "${bytes.toString("base64")}";\n`);
}

async function commonJs(entry, name) {
  await build({
    absWorkingDir: PACKAGE,
    entryPoints: [entry],
    outfile: join(OUT, `${name}.cjs`),
    bundle: true,
    format: "cjs",
    platform: "neutral",
    target: "es2022",
    logLevel: "warning",
  });
  copyFileSync(join(PACKAGE, `${name}.d.ts`), join(OUT, `${name}.d.cts`));
}

function licenses() {
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(REPOSITORY, name), join(PACKAGE, name));
}

function gzipKb(file) {
  return gzipSync(readFileSync(join(PACKAGE, file)), { level: 9, memLevel: 9 }).length / 1_000;
}

function report() {
  for (const file of ["wasm/core_bg.wasm", "wasm/core.js", "wasm/bytes.mjs", "wasm/index.cjs", "wasm/x402.cjs"]) {
    const bytes = readFileSync(join(PACKAGE, file)).length;
    console.log(`${file.padEnd(20)} ${String(bytes).padStart(8)} bytes ${gzipKb(file).toFixed(1).padStart(7)} KB gzip`);
  }
  const size = gzipKb("wasm/core_bg.wasm");
  if (size > BUDGET_KB) {
    console.error(`the module has ${size.toFixed(1)} KB gzip; at most ${BUDGET_KB} are allowed`);
    process.exit(1);
  }
}

/** The module that the tests replay health vectors with. Not part of the package. */
const VECTORS = join(OUT, "vectors");

rmSync(OUT, { recursive: true, force: true });
compile(VECTORS, ["vectors"]);
compile(OUT, []);
optimize(join(OUT, "core_bg.wasm"));
embed();
await commonJs("embedded.mjs", "index");
await commonJs("x402.mjs", "x402");
licenses();
report();
