// `make bench`: runs every benchmark, one after the other, and prints one table of all their rows.
// What a benchmark prints beside its rows is shown as it comes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CRITERION = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, "target"), "criterion");

const rows = [];
const failures = [];

async function run(command, args) {
  console.log(`\n$ ${[command, ...args].join(" ")}`);
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("| ")) rows.push(line);
    console.log(line);
  }
  const [code] = await ended;
  if (code !== 0) failures.push([command, ...args].join(" "));
}

/** Criterion's own medians: `rank/32` and so on. */
function criterionRows() {
  if (!existsSync(CRITERION)) return;
  for (const group of readdirSync(CRITERION).sort()) {
    for (const path of estimatesBelow(join(CRITERION, group)).sort()) {
      const { point_estimate: nanos } = JSON.parse(readFileSync(path, "utf8")).median;
      const name = path.slice(CRITERION.length + 1).replace(/\/new\/estimates\.json$/, "");
      rows.push(`| native CPU: ${name} | ${nanos < 1_000 ? `${nanos.toFixed(0)} ns` : `${(nanos / 1_000).toFixed(2)} µs`} |  |  |  |`);
    }
  }
}

function estimatesBelow(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) => name.endsWith("new/estimates.json")).map((name) => join(folder, name));
}

await run("cargo", ["bench", "--locked", "--bench", "core"]);
criterionRows();
for (const bench of ["wall", "faults", "load"]) await run("cargo", ["bench", "--locked", "--bench", bench]);
for (const bench of ["wall", "faults", "cpu", "startup", "size"]) await run(process.execPath, [`benches/js/${bench}.mjs`]);

console.log("\n| what | payroute | beside it | ratio | remark |\n| --- | --- | --- | --- | --- |");
for (const line of rows) console.log(line);
for (const failure of failures) console.error(`failed: ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
