// @ts-check
// The last argument of the package's functions: nothing, or a plain object of known names. A misspelt
// name, or a signal without the object around it, is an error: it would otherwise have no effect.

import { invalidArgument } from "./errors.mjs";
import { isPlain } from "./json.mjs";

/**
 * @template {object} Options
 * @param {Options | null | undefined} options
 * @param {readonly (keyof Options & string)[]} names every known name
 * @returns {Partial<Options>}
 */
export function readOptions(options, names) {
  if (options === undefined || options === null) return {};
  const accepted = `{ ${names.join(", ")} }`;
  if (typeof options !== "object" || !isPlain(options)) throw invalidArgument("options", accepted);
  const unknown = Object.keys(options).find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) throw invalidArgument(unknown, accepted);
  return options;
}

/**
 * @param {unknown} signal
 * @returns {AbortSignal | undefined}
 */
export function readSignal(signal) {
  if (signal === undefined || signal === null) return undefined;
  const { addEventListener, aborted } = /** @type {Partial<AbortSignal>} */ (signal);
  if (typeof addEventListener !== "function" || typeof aborted !== "boolean") throw invalidArgument("signal", "an AbortSignal");
  return /** @type {AbortSignal} */ (signal);
}
