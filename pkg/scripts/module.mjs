// Makes the module: cargo, the glue, the optimizer.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
export const REPOSITORY = dirname(PACKAGE);

/** What the compiler emits for wasm32 by default, but for `LEFT_OUT`. Named one by one: wasm-opt must use nothing
 * else. */
const FEATURES = ["bulk-memory", "bulk-memory-opt", "mutable-globals", "nontrapping-float-to-int", "sign-ext"];
/** With references and several results the module would have a table of its own and a shim around every function;
 * without, the glue keeps the table, in a third of that. */
const LEFT_OUT = "-Ctarget-feature=-reference-types,-multivalue";

/** The standard library is compiled along, for size: a panic ends the module at once instead of
 * formatting a message that nobody could read, which is a tenth of the module. That is still unstable in
 * Rust; with the compiler pinned in rust-toolchain.toml it is one known thing. */
const STANDARD_LIBRARY = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
/** Structs are copied and cleared by an instruction, not field by field. */
const COPYING = ["-Cllvm-args=-max-store-memcpy=1", "-Cllvm-args=-max-store-memset=1"];
const COMPILER = { RUSTC_BOOTSTRAP: "1", CARGO_ENCODED_RUSTFLAGS: ["-Zunstable-options", "-Cpanic=immediate-abort", LEFT_OUT, ...COPYING].join("\x1f") };

/** Thrice -Oz: each works on what the one before has left. Nothing lies in the first 1,024 bytes of
 * memory: the stack ends there. How large a function may be to be written out where it is called, always and where
 * that is one place, is as found by trying. */
const INLINING = ["--always-inline-max-function-size", "4", "--one-caller-inline-max-function-size", "60"];
const PASSES = ["--low-memory-unused", "--flatten", "--rereloop", "-Oz", "-Oz", "-Oz", ...INLINING];

const STRIPPED = ["--strip-debug", "--strip-producers", "--strip-target-features"];
/** What the optimizer calls the one module that is imported from. */
const MODULE = "a";

function run(command, args, env = {}) {
  execFileSync(command, args, { cwd: REPOSITORY, stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } });
}

function targetDirectory() {
  const metadata = execFileSync("cargo", ["metadata", "--format-version", "1", "--no-deps"], { cwd: REPOSITORY, maxBuffer: 1 << 26 });
  return JSON.parse(metadata.toString()).target_directory;
}

/** Compiles the bindings and writes module and glue into `out`. */
export function compile(out, features) {
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

/** Makes a module smaller in place. */
export function optimize(file, options = STRIPPED) {
  const optimizer = join(PACKAGE, "node_modules/binaryen/bin/wasm-opt");
  const features = ["--mvp-features", ...FEATURES.map((feature) => `--enable-${feature}`)];
  const args = [optimizer, file, "-o", file, ...features, ...PASSES, ...options];
  return execFileSync(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }).toString();
}

/** The same, and gives what crosses between module and glue names of a letter or two: they are in both,
 * and nobody else's. */
export function optimizeWith(glue, file) {
  const renamed = JSON.parse(optimize(file, ["--minify-imports-and-exports-and-modules", ...STRIPPED]));
  let text = readFileSync(glue, "utf8");
  const rename = (pattern, name) => {
    const changed = text.replace(new RegExp(pattern, "gm"), (_, before, after) => `${before}${name}${after}`);
    if (changed === text) throw new Error(`${pattern} is not in ${glue}`);
    text = changed;
  };
  for (const [, from, to] of renamed.imports) rename(`^( +)${from}(: function)`, to);
  // Not all that are exported are called.
  for (const [from, to] of renamed.exports) text = text.replace(new RegExp(`\\bwasm\\.${from}\\b`, "g"), () => `wasm.${to}`);
  rename('^( +)"./core_bg.js"(: import0)', MODULE);
  writeFileSync(glue, text);
}
