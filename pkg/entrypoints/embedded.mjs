// @ts-check
// The entry for Node, development servers and whoever cannot load a second file: the module is text
// in this one. Compiled asynchronously; nothing is fetched.

import base64 from "../wasm/bytes.mjs";
import * as core from "../wasm/core.js";
import { provide } from "../src/boot.mjs";

provide(async (source = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))) => {
  await core.default({ module_or_path: source });
  return core;
});

export * from "../src/index.mjs";
