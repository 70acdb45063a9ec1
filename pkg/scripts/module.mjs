// Makes the module: cargo, the glue, the optimizer.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
export const REPOSITORY = dirname(PACKAGE);

/** What the compiler emits for wasm32 by default, named one by one: wasm-opt must use nothing else. */
const FEATURES = [
  ...["bulk-memory", "bulk-memory-opt", "call-indirect-overlong", "multivalue", "mutable-globals"],
  ...["nontrapping-float-to-int", "reference-types", "sign-ext"],
];

function run(command, args, env = {}) {
  execFileSync(command, args, { cwd: REPOSITORY, stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } });
}

function targetDirectory() {
  const metadata = execFileSync("cargo", ["metadata", "--format-version", "1", "--no-deps"], { cwd: REPOSITORY, maxBuffer: 1 << 26 });
  return JSON.parse(metadata.toString()).target_directory;
}

/** Compiles the bindings and writes module and glue into `out`. */
export function compile(out, features = [], env = {}) {
  const target = ["--profile", "wasm-release", "--target", "wasm32-unknown-unknown"];
  run("cargo", ["build", "--locked", ...target, "-p", "payroute-bindings", ...features.flatMap((feature) => ["--features", feature])], env);
  const compiled = join(targetDirectory(), "wasm32-unknown-unknown/wasm-release/payroute_bindings.wasm");
  mkdirSync(out, { recursive: true });
  run("cargo", ["run", "--quiet", "--locked", "-p", "payroute-pkg-build", "--", compiled, out]);
}

/** Makes a module smaller in place. */
export function optimize(file, options = ["--strip-debug", "--strip-producers", "--strip-target-features"]) {
  const optimizer = join(PACKAGE, "node_modules/binaryen/bin/wasm-opt");
  const features = ["--mvp-features", ...FEATURES.map((feature) => `--enable-${feature}`)];
  run(process.execPath, [optimizer, file, "-o", file, ...features, "-Oz", ...options]);
}
