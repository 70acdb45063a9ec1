// The first `createSelector` of a process and of a page, from import to selector, beside importing
// viem in a process of its own. The page is served by Node on loopback, the module as a file beside it.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { absent, executable, launch } from "../../pkg/test/support/chromium.mjs";
import { median, row } from "./figures.mjs";

const RUNS = 9;
const PACKAGE = fileURLToPath(new URL("../../pkg", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
const TYPES = { ".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Milliseconds from before the import until `work` is done, in a fresh process. */
function inNode(module, work) {
  const script = `const t = performance.now(); const m = await import("${module}"); ${work}; console.log(performance.now() - t);`;
  const run = () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: HERE }));
  return median(Array.from({ length: RUNS }, run));
}

/** The same on a page that nothing is cached for. */
async function inChromium() {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    if (path === "/") return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
    if (!(extname(path) in TYPES)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] }).end(readFileSync(join(PACKAGE, path)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const browser = await launch();
  const walls = [];
  for (let run = 0; run < RUNS; run++) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    walls.push(
      await page.evaluate(async () => {
        const started = performance.now();
        const { createSelector } = await import("/entrypoints/index.mjs");
        await createSelector({});
        return performance.now() - started;
      }),
    );
  }
  await browser.close();
  server.closeAllConnections();
  server.close();
  return median(walls);
}

const ours = inNode("payroute", "await m.createSelector({})");
const theirs = inNode("viem", "");
row("start in Node: import and createSelector", `${ours.toFixed(1)} ms`, `importing viem ${theirs.toFixed(1)} ms`, ours / theirs);
if (executable === undefined) console.log(absent);
else row("start in Chromium: import and createSelector", `${(await inChromium()).toFixed(1)} ms`, "");
