// The environments that `npm test` does not run, each with the packed tarball in an application of
// its own: `npm run smoke`, or `npm run smoke -- bun deno` for some. Prints the table of
// docs/package.md; fails when a row does.

import { cases } from "./cases.mjs";
import { openEndpoint } from "../../tests/faults/server.mjs";
import { evmOffer, onBase, v2 } from "../test/support/offers.mjs";

const wanted = process.argv.slice(2).map((word) => word.toLowerCase());
const server = await openEndpoint();
const setup = () => ({ config: onBase(server.url), paymentRequired: v2(evmOffer()) });

const rows = [];
for (const [name, run] of Object.entries(cases)) {
  if (wanted.length > 0 && !wanted.some((word) => name.toLowerCase().includes(word))) continue;
  console.error(`… ${name}`);
  try {
    rows.push([name, `works${await suffix(run)}`]);
  } catch (error) {
    process.exitCode = 1;
    console.error(error);
    rows.push([name, `fails: ${String(error.message ?? error).split("\n")[0].slice(0, 100)}`]);
  }
}
await server.stop();
console.log("| where | result |\n|---|---|");
for (const [name, result] of rows) console.log(`| ${name} | ${result} |`);
if (rows.length === 0) {
  console.error(`none of the rows has ${wanted.join(" or ")} in its name: ${Object.keys(cases).join("; ")}`);
  process.exitCode = 1;
}
process.exit();

/** Runs one case; what it says of itself, usually its version. */
async function suffix(run) {
  const said = await run(setup);
  return said === undefined ? "" : ` (${said})`;
}
