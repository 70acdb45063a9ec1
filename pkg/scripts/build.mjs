// Builds everything in wasm/: the module, its glue, the embedded text, the CommonJS bundle and its
// types. Prints sizes and fails when the module is over its budget.

import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { PACKAGE, REPOSITORY, compile, optimize } from "./module.mjs";

const OUT = join(PACKAGE, "wasm");

/** KB of 1,000 bytes, gzip -9, of the whole selector's module: what it has now and a little more. */
const BUDGET_KB = 230;

/** Marks module and glue as of one build, because those of another build would seem to fit. */
function seal() {
  const module = join(OUT, "core_bg.wasm");
  const digest = createHash("sha256").update(readFileSync(join(OUT, "core.js"))).digest("hex");
  const name = Buffer.from(`payroute ${digest.slice(0, 8)}`);
  const customSection = Buffer.from([0, name.length + 1, name.length, ...name]);
  writeFileSync(module, Buffer.concat([readFileSync(module), customSection]));
  writeFileSync(join(OUT, "seal.mjs"), `export default "${name}";\n`);
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
    // `payroute/x402` loads the package itself, which must be the same one that the application has.
    external: ["payroute"],
    supported: { "dynamic-import": false },
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
compile(OUT);
optimize(join(OUT, "core_bg.wasm"));
seal();
embed();
await commonJs("entrypoints/embedded.mjs", "index");
await commonJs("entrypoints/x402.mjs", "x402");
licenses();
report();
