// The fault matrix of tests/faults on the package, and no problem with it.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { TABLE } from "../../../tests/faults/server.mjs";
import { startProgram } from "./program.mjs";
import { shown } from "./shown.mjs";
import { serve } from "./site.mjs";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const PATIENCE_MS = 240_000;

/** Runs the matrix in a page of the browser that `open` opens, by the table's word for `host`; the browser's version. */
export async function matrixInPage(open, host) {
  const { version } = await withEndpoints(async (ready) => {
    const site = await serve(REPOSITORY, { setup: () => ({ table: TABLE, ready, host }) });
    try {
      const { lists, version } = await shown(`${site.origin}/tests/faults/page.html`, open, PATIENCE_MS);
      return { version, problems: lists.problems };
    } finally {
      site.stop();
    }
  });
  return version;
}

/** Runs `work` on the endpoints of the matrix, and returns what it gives: no `problems`. */
export async function withEndpoints(work) {
  const { ready, stop } = await startProgram("faults/start.mjs");
  try {
    const done = await work(ready);
    assert.equal(done.problems.length, 0, `${done.problems.length} of ${ready.cases.length} cases:\n${done.problems.join("\n")}`);
    return done;
  } finally {
    await stop();
  }
}
