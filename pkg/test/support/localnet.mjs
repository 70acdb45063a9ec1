// Real chains on loopback, as a child that ends with this process.

import { startProgram } from "./program.mjs";

/** Starts it; `stop()` ends it and waits for its end. */
export async function startLocalnet() {
  const { ready: net, stop } = await startProgram("localnet/start.mjs");
  return {
    ...net,
    controlUrl: net.control,
    async control(operation) {
      const response = await fetch(net.control, { method: "POST", body: JSON.stringify(operation) });
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.error);
      return answer;
    },
    stop,
  };
}
