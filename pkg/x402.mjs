// @ts-check
// The entry for applications that pay through @x402/core. Needs neither it nor the module: it works
// on the client and the selector that it is given.

export { withReadable402 } from "./src/readable402.mjs";
export { routed } from "./src/routed.mjs";
