// All tests of the package: types first, then everything under test/. Installs Chromium and the
// localnet's packages where they are missing and can be had.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { provide } from "../test/support/chromium.mjs";

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const LOCALNET = join(dirname(PACKAGE), "tests/localnet");

function run(command, args, cwd = PACKAGE) {
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

function provideChromium() {
  try {
    provide();
  } catch ({ message }) {
    console.warn(`${message}; the test in a browser is skipped`);
  }
}

if (!existsSync(join(PACKAGE, "wasm/index.cjs"))) {
  console.error("wasm/ is missing: npm run build");
  process.exit(1);
}
if (!existsSync(join(LOCALNET, "node_modules"))) run("npm", ["ci"], LOCALNET);
provideChromium();
const tsc = join(PACKAGE, "node_modules/typescript/bin/tsc");
for (const project of [".", "test/types", "test/types/tsconfig.cjs.json", "test/types/tsconfig.using.json"]) run(process.execPath, [tsc, "-p", project]);
const files = readdirSync(join(PACKAGE, "test")).filter((name) => name.endsWith(".test.mjs"));
run(process.execPath, ["--test", "--test-reporter=spec", ...files.map((name) => join("test", name))]);
