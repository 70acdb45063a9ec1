// @ts-check
// The entry for browsers: the module is a file of its own, compiled while it arrives.

import * as core from "../wasm/core.js";
import { provide } from "../src/boot.mjs";

provide(async (source = new URL("../wasm/core_bg.wasm", import.meta.url)) => {
  await core.default({ module_or_path: source });
  return core;
});

export * from "../src/index.mjs";
