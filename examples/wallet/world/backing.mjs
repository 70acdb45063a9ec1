// The local chains with a merchant and a facilitator on them, as a process of their own that ends with
// this one: `tests/x402/merchant.mjs`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const START = fileURLToPath(new URL("../../../tests/x402/merchant.mjs", import.meta.url));

/** Starts it; the one line that it prints, and how to end it. */
export async function startBacking() {
  const child = spawn(process.execPath, [START], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(() => Promise.reject(new Error("chains and merchant did not start; `make wallet` installs what they need"))),
  ]);
  return { net: JSON.parse(line), stop: () => child.stdin.end() };
}

/** One operation of the chains' control server. */
export async function control(net, operation) {
  const response = await fetch(net.control, { method: "POST", body: JSON.stringify(operation) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
