// @ts-check
// The package's functions. Decides nothing: turns the caller's values into text and the core's text
// into values.

import { Task } from "../wasm/core.js";
import { ready, reserveStack } from "./boot.mjs";
import { writeConfig } from "./endpoints.mjs";
import { ConfigurationError, attempt, errorOf, misfit } from "./errors.mjs";
import { hostOf } from "./host.mjs";
import { decode } from "./input.mjs";
import { optionsOf, signalOf } from "./options.mjs";
import { remember } from "./rank.mjs";

export { amountToBigInt, formatAmount } from "./amounts.mjs";
export {
  BalancesUnavailableError,
  ConfigurationError,
  HeldElsewhereError,
  InsufficientLiquidityError,
  InvalidPaymentRequiredError,
  ModuleUnavailableError,
  NoSupportedRouteError,
  PayrouteError,
  RefusedByPolicyError,
  TooManyHoldsError,
  UnsponsoredError,
  UnsupportedVersionError,
} from "./errors.mjs";

export { rank } from "./rank.mjs";

/** @typedef {import("../index.d.ts").Candidate} Candidate */
/** @typedef {import("./boot.mjs").Core} Core */
/** @typedef {import("../wasm/core.js").Selector} CoreSelector */
/** @typedef {import("../wasm/core.js").Answered} Answered */
/** @typedef {import("../wasm/core.js").Hold} CoreHold */

/** @param {import("../index.d.ts").InitSource} [source] */
export async function init(source) {
  await ready(source);
}

/** @type {(core: Core, index: unknown) => CoreSelector} */
let coreOfHealth;

export class HealthIndex {
  /** @type {CoreSelector | undefined} There for its index. */
  #core;
  #config;

  /** @param {import("../index.d.ts").HealthSettings} [settings] */
  constructor(settings = {}) {
    this.#config = writeConfig({ health: settings }).text;
  }

  reset() {
    reserveStack();
    this.#core?.run(Task.Reset, "");
  }

  static {
    // The core's index is made when the first selector needs it: until then no module need be loaded.
    coreOfHealth = (core, index) => {
      if (!(typeof index === "object" && index !== null && #core in index)) {
        const accepted = "a HealthIndex from the same import of payroute";
        throw new ConfigurationError(`health: is not a HealthIndex of this copy; accepted is ${accepted}`, "health", accepted);
      }
      index.#core ??= attempt(() => asksNobody(core, index.#config));
      return index.#core;
    };
  }
}

/**
 * @param {import("../index.d.ts").Config} config
 * @param {import("../index.d.ts").SelectorOptions | null} [options]
 */
export async function createSelector(config, options) {
  const { health, onEvent } = optionsOf(options, ["health", "onEvent"]);
  const { text, providers } = writeConfig(config);
  const core = await ready();
  if (onEvent !== undefined && typeof onEvent !== "function") {
    throw new ConfigurationError("onEvent: is not a function; accepted is a function of an event", "onEvent", "a function of an event");
  }
  const host = hostOf(providers, onEvent);
  const events = onEvent !== undefined;
  const selector =
    health === undefined
      ? attempt(() => new core.Selector(text, host, events))
      : attempt(() => coreOfHealth(core, health).sharing(text, host, events));
  return new Selector(selector);
}

/**
 * A selector of the core without providers, for what is in it beside selecting.
 * @param {Core} core
 * @param {string} config
 */
function asksNobody(core, config) {
  return new core.Selector(config, hostOf(new Map(), undefined), false);
}

/** Numbers selections under way, across selectors. */
let calls = 0;

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
    const signal = signalOf(optionsOf(options, ["signal"]).signal);
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
    if (this.#alive().run(task, String(id)) !== "") throw misfit("id", "the id of an endpoint of this selector");
  }

  snapshotHealth() {
    return this.#alive().run(Task.Snapshot, "");
  }

  /** @param {string} snapshot */
  restoreHealth(snapshot) {
    const problem = this.#alive().run(Task.Restore, String(snapshot));
    if (problem !== "") throw new ConfigurationError(problem, "snapshot", "what snapshotHealth returned");
  }

  free() {
    reserveStack();
    // Selections under way still need it; the last of them frees it.
    if (this.#pending === 0) this.#core?.free();
    this.#core = undefined;
  }
}

/**
 * Lets `using` and `await using` end objects of a class. Where the host does not know the symbols, as Safari does not,
 * what bundlers make of `using` looks for the registered ones.
 * @param {object} prototype
 * @param {() => void} end
 */
function disposable(prototype, end) {
  const define = (/** @type {symbol} */ key, /** @type {() => unknown} */ value) => {
    Object.defineProperty(prototype, key, { value, configurable: true, writable: true });
  };
  define(Symbol.dispose ?? Symbol.for("Symbol.dispose"), end);
  define(Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose"), async function () {
    // @ts-expect-error called on objects of the class
    end.call(this);
  });
}

disposable(Selector.prototype, Selector.prototype.free);

/**
 * @param {CoreSelector} core
 * @param {unknown} input
 * @param {AbortSignal | undefined} signal
 */
async function select(core, input, signal) {
  calls = (calls + 1) >>> 0;
  const call = calls;
  if (signal === undefined) return selectionOf(core, await decode(input, core), call);
  if (signal.aborted) throw signal.reason;
  /** @type {(reason: unknown) => void} */
  let giveUp = () => {};
  const aborted = new Promise((_, reject) => {
    giveUp = reject;
  });
  const listener = () => {
    // Not on the stack of whoever aborts.
    queueMicrotask(() => core.cancel(call));
    giveUp(signal.reason);
  };
  signal.addEventListener("abort", listener);
  try {
    const work = decode(input, core, signal).then((decoded) => {
      if (!signal.aborted) return selectionOf(core, decoded, call);
      decoded.payment.free();
      return undefined;
    });
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}

/**
 * @param {CoreSelector} core
 * @param {import("./input.mjs").Decoded} decoded
 * @param {number} call
 */
async function selectionOf(core, { payment, entry }, call) {
  const { text, answered } = await answerOf((answer) => {
    core.select(call, payment, { answer });
    payment.free();
  });
  const answer = JSON.parse(text);
  if (answered === undefined) throw errorOf(answer);
  return Object.freeze(new Selection(entry(answer.chosen, answer.json), answer, answered));
}

/**
 * What a selection comes to; never, once it is cancelled: whoever cancelled has said why.
 * @param {(answer: (text: string, answered?: Answered) => void) => void} start
 * @returns {Promise<{ text: string, answered?: Answered }>}
 */
function answerOf(start) {
  return new Promise((resolve) => start((text, answered) => resolve({ text, answered })));
}

class Selection {
  #answered;
  #explanation;

  /**
   * @param {unknown} requirement
   * @param {{ chosen: number, json: string, candidates: Candidate[], explanation: string }} answer
   * @param {Answered} answered goes with the selection and its candidates: the glue frees it once nobody can reach
   * either of them
   */
  constructor(requirement, { chosen, json, candidates, explanation }, answered) {
    this.#answered = answered;
    remember(candidates, answered);
    this.requirement = requirement;
    this.requirementIndex = chosen;
    this.requirementJson = json;
    this.candidates = candidates;
    this.#explanation = explanation;
  }

  explain() {
    return this.#explanation;
  }

  /** @param {[requirementIndex?: number]} given */
  hold(...given) {
    // What a search has not found is `undefined`, and not the chosen offer.
    const requirementIndex = given.length === 0 ? this.requirementIndex : given[0];
    reserveStack();
    // A number the module has no room for would wrap.
    const isIndex = isWhole(requirementIndex) && requirementIndex >= 0 && requirementIndex <= 0xffff_ffff;
    const hold = isIndex ? attempt(() => this.#answered.hold(requirementIndex)) : undefined;
    if (hold === undefined) throw misfit("requirementIndex", "the requirementIndex of a candidate that is viable");
    return new Hold(hold);
  }
}

/**
 * @param {unknown} value
 * @returns {value is number}
 */
function isWhole(value) {
  return Number.isInteger(value);
}

class Hold {
  /** @type {CoreHold | undefined} */
  #core;

  /** @param {CoreHold} core */
  constructor(core) {
    this.#core = core;
  }

  /** The core's hold, once: whatever ends it, ends it for good. */
  #end() {
    reserveStack();
    const core = this.#core;
    this.#core = undefined;
    return core;
  }

  settled() {
    this.#end()?.settled();
  }

  failed() {
    this.#end()?.free();
  }

  release() {
    this.#end()?.free();
  }
}

disposable(Hold.prototype, Hold.prototype.release);

/** @type {CoreSelector | undefined} There for the default limits. */
let decoder;

/** @param {unknown} input */
export async function parsePaymentRequired(input) {
  const core = await ready();
  decoder ??= asksNobody(core, "{}");
  const { payment, entry } = await decode(input, decoder);
  try {
    const description = JSON.parse(payment.describe());
    for (const requirement of description.requirements) {
      requirement.requirement = entry(requirement.index, requirement.json);
    }
    return description;
  } finally {
    payment.free();
  }
}
