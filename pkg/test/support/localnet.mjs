// Real chains on loopback, as a child that ends with this process.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const START = fileURLToPath(new URL("../../../tests/localnet/start.mjs", import.meta.url));

/** Starts it; `stop()` ends it and waits for its end. */
export async function startLocalnet() {
  const child = spawn(process.execPath, [START], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const line = await Promise.race([
    once(createInterface(child.stdout), "line").then(([text]) => text),
    ended.then(() => Promise.reject(new Error("the localnet ended before it was ready; run `npm ci` in tests/localnet"))),
  ]);
  const net = JSON.parse(line);
  return {
    ...net,
    controlUrl: net.control,
    async control(operation) {
      const response = await fetch(net.control, { method: "POST", body: JSON.stringify(operation) });
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.error);
      return answer;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
