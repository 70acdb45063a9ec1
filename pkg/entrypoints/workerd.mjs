// @ts-check
// The entry for Cloudflare's workers: bytes may not be compiled there, modules are imported.

import module from "../wasm/core_bg.wasm";
import * as core from "../wasm/core.js";
import { provide } from "../src/boot.mjs";

provide(async (source) => {
  if (source === undefined) core.initSync({ module });
  else await core.default({ module_or_path: source });
  return core;
});

export * from "../src/index.mjs";
