// @ts-check
// One selection: the call into the core, its answer, and the holds that are taken of it.

import { reserveStack } from "./boot.mjs";
import { decode } from "./decode.mjs";
import { makeDisposable } from "./disposable.mjs";
import { callCore, invalidArgument, toError } from "./errors.mjs";
import { stampList } from "./rank.mjs";

/** @typedef {import("../index.d.ts").Candidate} Candidate */
/** @typedef {import("../wasm/core.js").Selector} CoreSelector */
/** @typedef {import("../wasm/core.js").Answered} Answered */
/** @typedef {import("../wasm/core.js").Hold} CoreHold */

/** Numbers selections under way, across selectors. */
let calls = 0;

/**
 * @param {CoreSelector} core
 * @param {unknown} input
 * @param {AbortSignal | undefined} signal
 */
export async function select(core, input, signal) {
  calls = (calls + 1) >>> 0;
  const call = calls;
  if (signal === undefined) return ask(core, await decode(input, core), call);
  if (signal.aborted) throw signal.reason;
  /** @type {(reason: unknown) => void} */
  let giveUp = () => {};
  const aborted = new Promise((_, reject) => {
    giveUp = reject;
  });
  const listener = () => {
    // The core must not be entered on the stack of the code that aborts.
    queueMicrotask(() => core.cancel(call));
    giveUp(signal.reason);
  };
  signal.addEventListener("abort", listener);
  try {
    const work = decode(input, core, signal).then((decoded) => {
      if (!signal.aborted) return ask(core, decoded, call);
      decoded.payment.free();
      return undefined;
    });
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}

/**
 * Never resolves once the selection is cancelled: the caller has the signal's reason by then.
 * @param {CoreSelector} core
 * @param {import("./decode.mjs").Decoded} decoded
 * @param {number} call
 */
async function ask(core, { payment, entry }, call) {
  /** @type {{ text: string, answered?: Answered }} */
  const { text, answered } = await new Promise((resolve) => {
    const answer = (/** @type {string} */ text, /** @type {Answered} */ answered) => resolve({ text, answered });
    core.select(call, payment, { answer });
    payment.free();
  });
  const answer = JSON.parse(text);
  if (answered === undefined) throw toError(answer);
  return Object.freeze(new Selection(entry(answer.chosen, answer.json), answer, answered));
}

class Selection {
  #answered;
  #explanation;

  /**
   * @param {unknown} requirement
   * @param {{ chosen: number, json: string, candidates: Candidate[], explanation: string }} answer
   * @param {Answered} answered freed by the glue once the selection cannot be reached
   */
  constructor(requirement, { chosen, json, candidates, explanation }, answered) {
    this.#answered = answered;
    stampList(candidates, answered);
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
    // An explicit `undefined`, as from a search that found nothing, does not mean the chosen offer.
    const requirementIndex = given.length === 0 ? this.requirementIndex : given[0];
    reserveStack();
    // The module takes 32 bits; a larger number would wrap.
    const isIndex = isWhole(requirementIndex) && requirementIndex >= 0 && requirementIndex <= 0xffff_ffff;
    const hold = isIndex ? callCore(() => this.#answered.hold(requirementIndex)) : undefined;
    if (hold === undefined) throw invalidArgument("requirementIndex", "the requirementIndex of a candidate that is viable");
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
  /** @type {CoreHold | undefined} Absent once the hold has ended. */
  #core;

  /** @param {CoreHold} core */
  constructor(core) {
    this.#core = core;
  }

  #take() {
    reserveStack();
    const core = this.#core;
    this.#core = undefined;
    return core;
  }

  settle() {
    this.#take()?.settle();
  }

  release() {
    this.#take()?.free();
  }
}

makeDisposable(Hold.prototype, Hold.prototype.release);
