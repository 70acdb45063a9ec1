// A Node program of `tests`, as a child that ends with this process.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const TESTS = new URL("../../../tests/", import.meta.url);

/** Starts the program at `script` below `tests`: the one line of JSON it prints when it is ready, and
 * `stop()`, which waits for its end. */
export async function startProgram(script) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, TESTS))], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const line = await Promise.race([
    once(createInterface(child.stdout), "line").then(([text]) => text),
    ended.then(() => Promise.reject(new Error(`${script} ended before it was ready; run \`make localnet-packages\``))),
  ]);
  return {
    ready: JSON.parse(line),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
