// @ts-check
// A health index that selectors share, and the outcomes that an application reports.

import { reserveStack } from "./boot.mjs";
import { writeConfig } from "./endpoints.mjs";
import { callCore, invalidArgument } from "./errors.mjs";

/** @typedef {import("./boot.mjs").Core} Core */
/** @typedef {import("../index.d.ts").EndpointInfo} EndpointInfo */

/** @type {(core: Core, index: unknown) => import("../wasm/core.js").HealthIndex} */
export let coreIndex;

export class HealthIndex {
  /** @type {import("../wasm/core.js").HealthIndex | undefined} */
  #core;
  #config;

  /** @param {import("../index.d.ts").HealthSettings} [settings] */
  constructor(settings = {}) {
    this.#config = writeConfig({ health: settings }).text;
  }

  reset() {
    reserveStack();
    this.#core?.reset();
  }

  static {
    // The core's index is made when the first selector needs it: until then no module need be loaded.
    coreIndex = (core, index) => {
      if (!(typeof index === "object" && index !== null && #core in index)) {
        throw invalidArgument("health", "a HealthIndex from the same import of payroute");
      }
      index.#core ??= callCore(() => new core.HealthIndex(index.#config));
      return index.#core;
    };
  }
}

/**
 * Where in `endpoints` the one is that `given` names: by its id, or by any fields of an EndpointInfo.
 * @param {readonly EndpointInfo[]} endpoints
 * @param {unknown} given
 */
export function findEndpoint(endpoints, given) {
  const { network, endpoint, id } = /** @type {Partial<EndpointInfo>} */ (typeof given === "string" ? { id: given } : (given ?? {}));
  const isMeant = (/** @type {EndpointInfo} */ one) =>
    (network ?? one.network) === one.network && (endpoint ?? one.endpoint) === one.endpoint && (id ?? one.id) === one.id;
  const matches = id === undefined && endpoint === undefined ? [] : endpoints.filter(isMeant);
  const [match] = matches;
  if (match === undefined || matches.length > 1) {
    throw invalidArgument("endpoint", "the id, or network and endpoint, of one endpoint of this selector");
  }
  return endpoints.indexOf(match);
}

/** The outcomes, and the field with milliseconds of those that have one. */
const OUTCOMES = new Map([
  ["success", "latencyMs"],
  ["fault", undefined],
  ["throttled", "retryAfterMs"],
  ["wrong-chain", undefined],
  ["neutral", undefined],
]);

/**
 * The type of an outcome, and its milliseconds.
 * @param {any} outcome
 * @returns {{ type: string, millis: number | undefined }}
 */
export function readOutcome(outcome) {
  const type = outcome?.type;
  if (!OUTCOMES.has(type)) throw invalidArgument("outcome.type", [...OUTCOMES.keys()].join(", "));
  const field = OUTCOMES.get(type);
  const millis = field && outcome[field];
  const isAbsent = millis === undefined && type !== "success";
  if (!isAbsent && !(Number.isFinite(millis) && millis >= 0)) throw invalidArgument(`outcome.${field}`, "milliseconds, 0 or more");
  return { type, millis };
}
