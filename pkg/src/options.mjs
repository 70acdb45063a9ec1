// @ts-check
// The last argument of the package's functions: nothing, or a plain object of known names. A name that
// is misspelt, or a signal in the place of the object around it, would be ignored without a word.

import { misfit } from "./errors.mjs";
import { isPlain } from "./json.mjs";

/**
 * @template {object} Options
 * @param {Options | null | undefined} options
 * @param {readonly (keyof Options & string)[]} names all that there are
 * @returns {Partial<Options>}
 */
export function optionsOf(options, names) {
  if (options === undefined || options === null) return {};
  const accepted = `{ ${names.join(", ")} }`;
  if (typeof options !== "object" || !isPlain(options)) throw misfit("options", accepted);
  const stranger = Object.keys(options).find((name) => !names.some((known) => known === name));
  if (stranger !== undefined) throw misfit(stranger, accepted);
  return options;
}

/**
 * @param {unknown} signal
 * @returns {AbortSignal | undefined}
 */
export function signalOf(signal) {
  if (signal === undefined || signal === null) return undefined;
  const { addEventListener, aborted } = /** @type {Partial<AbortSignal>} */ (signal);
  if (typeof addEventListener !== "function" || typeof aborted !== "boolean") throw misfit("signal", "an AbortSignal");
  return /** @type {AbortSignal} */ (signal);
}
