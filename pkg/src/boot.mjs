// @ts-check
// Loads the module once, when it is first needed; after a failure the next call tries again. Each entry file
// provides its own way of loading.

import seal from "../wasm/seal.mjs";
import { ModuleUnavailableError } from "./errors.mjs";

/** @typedef {typeof import("../wasm/core.js")} Core */
/** @typedef {(source?: import("../index.d.ts").InitSource) => Promise<Core>} Load */

/** @type {Load | undefined} */
let load;
/** @type {Promise<Core> | undefined} */
let loading;
/** @type {Core | undefined} */
let core;

/**
 * Sets how the module is loaded. Called by the entry files. The first one decides: `payroute/x402` may load another.
 * @param {Load} how
 */
export function provide(how) {
  load ??= how;
}

/**
 * The module, loaded if it is not yet. Calls share one load; after a failed one the next call tries
 * again.
 * @param {import("../index.d.ts").InitSource} [source]
 * @returns {Promise<Core>}
 */
export function ready(source) {
  loading ??= start(source);
  return loading;
}

/**
 * The module for functions that do not wait.
 * @param {string} name
 * @returns {Core}
 */
export function loaded(name) {
  if (core === undefined) {
    throw new ModuleUnavailableError(`${name} needs the module: await init() or createSelector() first`);
  }
  reserveStack();
  return core;
}

/** Spread as arguments, each takes a word of the stack: together more than any measured call into the module. Without
 * holes, which engines spread slowly. */
const ROOM = Array.from({ length: 1_000 }, () => 0);
/** @type {(...room: number[]) => void} */
const take = () => {};

/**
 * Call this before entering the module on a caller's stack. A stack that is nearly full overflows here, as an ordinary
 * error, and not inside the module, which would stay broken for good.
 */
export function reserveStack() {
  take(...ROOM);
}

/** @param {import("../index.d.ts").InitSource} [source] */
async function start(source) {
  try {
    if (load === undefined) throw new Error("import payroute by its package name");
    core = await load(await checked(source));
    return core;
  } catch (cause) {
    loading = undefined;
    throw new ModuleUnavailableError(`the WebAssembly module could not be loaded: ${reason(cause)}`, { cause });
  }
}

/**
 * The glue keeps the first module that it is given, even one that it cannot start. So a module that the application
 * gives is checked first.
 * @param {import("../index.d.ts").InitSource} [source]
 * @returns {Promise<import("../index.d.ts").InitSource | undefined>}
 */
async function checked(source) {
  if (source === undefined) return undefined;
  const given = typeof source === "string" || source instanceof URL ? await fetch(source) : source;
  if (given instanceof Response && !given.ok) throw new Error(`the answer's status is ${given.status}`);
  const bytes = given instanceof Response ? await given.arrayBuffer() : given;
  const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(/** @type {BufferSource} */ (bytes));
  if (WebAssembly.Module.customSections(module, seal).length === 0) {
    throw new Error("the module is not this payroute's");
  }
  return module;
}

/**
 * Every engine names the content security policy in its own words; Firefox only as CSP.
 * @param {unknown} cause
 */
function reason(cause) {
  const text = cause instanceof Error ? cause.message : String(cause);
  return /content security policy|unsafe-eval|\bCSP\b/i.test(text) ? `${text} (script-src needs 'wasm-unsafe-eval')` : text;
}
