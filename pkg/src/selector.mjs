// @ts-check
// The selector. Decides nothing: turns the caller's values into text and the core's text into values.

import { Task } from "../wasm/core.js";
import { ready, reserveStack } from "./boot.mjs";
import { makeDisposable } from "./disposable.mjs";
import { writeConfig } from "./endpoints.mjs";
import { SnapshotError, callCore, invalidArgument } from "./errors.mjs";
import { coreIndex, findEndpoint, readOutcome } from "./health.mjs";
import { createHost } from "./host.mjs";
import { readOptions, readSignal } from "./options.mjs";
import { select } from "./selection.mjs";

/** @typedef {import("../wasm/core.js").Selector} CoreSelector */

/**
 * @param {import("../index.d.ts").Config} config
 * @param {import("../index.d.ts").SelectorOptions | null} [options]
 */
export async function createSelector(config, options) {
  const { health, onEvent } = readOptions(options, ["health", "onEvent"]);
  if (onEvent !== undefined && typeof onEvent !== "function") throw invalidArgument("onEvent", "a function of an event");
  const { text, providers } = writeConfig(config);
  const core = await ready();
  const host = createHost(providers, onEvent);
  const events = onEvent !== undefined;
  const index = health === undefined ? undefined : coreIndex(core, health);
  return new Selector(callCore(() => (index ? index.selector(text, host, events) : new core.Selector(text, host, events))));
}

class Selector {
  /** @type {CoreSelector | undefined} */
  #core;
  #pending = 0;

  /** @param {CoreSelector} core */
  constructor(core) {
    this.#core = core;
  }

  #alive() {
    if (this.#core === undefined) throw new TypeError("this Selector was freed");
    reserveStack();
    return this.#core;
  }

  /**
   * @param {unknown} input
   * @param {import("../index.d.ts").SelectOptions | null} [options]
   */
  async select(input, options) {
    const core = this.#alive();
    const signal = readSignal(readOptions(options, ["signal"]).signal);
    this.#pending += 1;
    try {
      return await select(core, input, signal);
    } finally {
      this.#pending -= 1;
      if (this.#core === undefined && this.#pending === 0) core.free();
    }
  }

  /** @returns {import("../index.d.ts").EndpointHealth[]} */
  health() {
    return JSON.parse(this.#alive().run(Task.Health, ""));
  }

  resetHealth() {
    this.#alive().run(Task.Reset, "");
  }

  /** @returns {import("../index.d.ts").EndpointInfo[]} */
  endpoints() {
    return JSON.parse(this.#alive().run(Task.Endpoints, ""));
  }

  /** @returns {import("../index.d.ts").EndpointMetrics[]} */
  metrics() {
    return JSON.parse(this.#alive().run(Task.Metrics, ""));
  }

  /** @param {string} id */
  cordon(id) {
    this.#setCordon(Task.Cordon, id);
  }

  /** @param {string} id */
  uncordon(id) {
    this.#setCordon(Task.Uncordon, id);
  }

  /**
   * @param {Task} task
   * @param {string} id
   */
  #setCordon(task, id) {
    if (this.#alive().run(task, String(id)) !== "") throw invalidArgument("id", "the id of an endpoint of this selector");
  }

  /**
   * @param {import("../index.d.ts").EndpointName} endpoint
   * @param {import("../index.d.ts").Outcome} outcome
   */
  report(endpoint, outcome) {
    const { type, millis } = readOutcome(outcome);
    this.#alive().report(findEndpoint(this.endpoints(), endpoint), type, millis);
  }

  snapshotHealth() {
    return this.#alive().run(Task.Snapshot, "");
  }

  /** @param {string} snapshot */
  restoreHealth(snapshot) {
    if (typeof snapshot !== "string") throw invalidArgument("snapshot", "a text that snapshotHealth returned");
    const problem = this.#alive().run(Task.Restore, snapshot);
    if (problem !== "") throw new SnapshotError(problem);
  }

  free() {
    reserveStack();
    // Selections under way still need it; the last of them frees it.
    if (this.#pending === 0) this.#core?.free();
    this.#core = undefined;
  }
}

makeDisposable(Selector.prototype, Selector.prototype.free);
