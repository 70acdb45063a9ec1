// Runs the fault matrix on the npm package in a page, at the repository's root; shows its problems.

import * as payroute from "/pkg/entrypoints/index.mjs";
import { runMatrix } from "./run.mjs";

async function run() {
  const { table, ready, host } = await (await fetch("/setup.json")).json();
  return runMatrix(payroute, table, ready, host);
}

function show(problems) {
  const list = document.createElement("ul");
  list.id = "problems";
  for (const problem of problems) list.append(Object.assign(document.createElement("li"), { textContent: problem }));
  document.body.append(list);
}

run()
  .catch((error) => [String(error)])
  .then(show)
  .finally(() => document.body.setAttribute("data-done", ""));
