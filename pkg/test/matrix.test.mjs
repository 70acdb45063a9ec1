// The fault matrix of tests/faults on the package, in Node and in a page. The Rust core runs the same
// table natively.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import * as payroute from "payroute";
import { runMatrix } from "../../tests/faults/run.mjs";
import { TABLE } from "../../tests/faults/server.mjs";
import { absent, executable, launch } from "./support/chromium.mjs";
import { startProgram } from "./support/program.mjs";
import { serve } from "./support/site.mjs";

/** Runs `work` on the endpoints of the matrix and expects no problem. */
async function withEndpoints(work) {
  const { ready, stop } = await startProgram("faults/start.mjs");
  try {
    const problems = await work(ready);
    assert.equal(problems.length, 0, `${problems.length} of ${ready.cases.length} cases:\n${problems.join("\n")}`);
  } finally {
    await stop();
  }
}

test("every fault does in Node what the table says", () => withEndpoints((ready) => runMatrix(payroute, TABLE, ready, "node")));

test("every fault does in Chromium what the table says", { skip: executable ? false : absent }, () =>
  withEndpoints(async (ready) => {
    const site = await serve(fileURLToPath(new URL("../..", import.meta.url)), {});
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(`${site.origin}/tests/faults/page.html`);
      return await page.evaluate(inPage, { table: TABLE, ready });
    } finally {
      await browser.close();
      site.stop();
    }
  }),
);

/* Runs in the page, which is at the repository's root. */
async function inPage({ table, ready }) {
  const [payroute, { runMatrix }] = await Promise.all([import("/pkg/index.mjs"), import("/tests/faults/run.mjs")]);
  return runMatrix(payroute, table, ready, "chromium");
}
