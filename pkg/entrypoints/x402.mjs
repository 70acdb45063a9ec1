// @ts-check
// The entry for applications that pay through @x402/core, which it does not need itself. `routed` works with the
// client and the selector that it is given; `withReadable402` loads the package.

export { withReadable402 } from "../src/readable402.mjs";
export { routed } from "../src/routed.mjs";
