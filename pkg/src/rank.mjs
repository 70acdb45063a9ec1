// @ts-check
// The pure ranking, for what-if. A selection's own list that nobody changed is ranked by what the core
// kept of it; of any other, what the places depend on crosses to the core.

import { loaded } from "./boot.mjs";
import { misfit } from "./errors.mjs";
import { optionsOf } from "./options.mjs";

/** @typedef {import("../index.d.ts").Candidate} Candidate */
/** @typedef {import("./boot.mjs").Core} Core */
/** @typedef {import("../wasm/core.js").Answered} Answered */

/**
 * @param {readonly Candidate[]} candidates
 * @param {import("../index.d.ts").RankOptions | null} [options]
 * @returns {Candidate[]}
 */
export function rank(candidates, options) {
  if (!Array.isArray(candidates)) throw misfit("candidates", "a list of candidates");
  const preferNetworks = networksOf(optionsOf(options, ["preferNetworks"]).preferNetworks);
  const core = loaded("rank");
  names ??= core.keyNames().split("\n");
  const order = attemptPath(() => ofSelection(candidates, preferNetworks) ?? ofObjects(core, candidates, preferNetworks));
  const list = [];
  for (let at = 0; at < order.length; at += 2) {
    list.push(ranked(candidates[order[at] ?? 0], list.length + 1, names[order[at + 1] ?? 0]));
  }
  return list;
}

/**
 * @param {Candidate | undefined} candidate
 * @param {number} rank
 * @param {string} [decidedBy]
 */
function ranked(candidate, rank, decidedBy) {
  const copy = /** @type {{ decidedBy?: string | undefined }} */ ({ ...candidate, rank });
  if (decidedBy === undefined) delete copy.decidedBy;
  else copy.decidedBy = decidedBy;
  return /** @type {Candidate} */ (copy);
}

/** @type {string[] | undefined} The keys of the cascade, as the core numbers them. */
let names;

/**
 * Keeps of a selection's candidates what lets them be ranked again where they came from.
 * @param {readonly Candidate[]} candidates
 * @param {Answered} answered
 */
export function remember(candidates, answered) {
  new Kept(candidates, answered);
}

/**
 * The order by what the core kept of a selection, if this is its list and nobody changed it.
 * @param {readonly Candidate[]} candidates
 * @param {string} preferNetworks
 */
function ofSelection(candidates, preferNetworks) {
  const kept = Kept.of(candidates);
  if (kept?.states.length !== candidates.length) return undefined;
  return kept.states.every((state, place) => state.isOf(candidates[place])) ? kept.answered.rank(preferNetworks) : undefined;
}

/** Is the object that it is made of, so that a field can be put on that which nobody else sees. */
class Given {
  /** @param {object} object */
  constructor(object) {
    return object;
  }
}

/**
 * A selection's list, that knows where it came from. Not its candidates: with such a field an object is
 * slower to copy. And not a WeakMap: its table stays as large as it ever was.
 */
class Kept extends Given {
  /** @type {{ answered: Answered, states: State[] }} */
  #kept;

  /**
   * @param {readonly Candidate[]} candidates
   * @param {Answered} answered
   */
  constructor(candidates, answered) {
    super(candidates);
    this.#kept = { answered, states: candidates.map((candidate) => new State(candidate)) };
  }

  /** @param {object} list */
  static of(list) {
    return #kept in list ? list.#kept : undefined;
  }
}

/** All that a candidate's place in an order depends on. */
class State {
  /** @param {Candidate} candidate */
  constructor(candidate) {
    this.requirementIndex = candidate.requirementIndex;
    this.viable = candidate.viable;
    this.reasons = candidate.rejectionReasons.length;
    this.circuit = candidate.circuit;
    this.network = candidate.network;
    this.decimals = candidate.decimals;
    this.fee = candidate.fee;
    this.healthScore = candidate.healthScore;
    this.latencyMs = candidate.latencyMs;
  }

  /** @param {Candidate | undefined} candidate */
  isOf(candidate) {
    return (
      candidate?.requirementIndex === this.requirementIndex &&
      candidate.viable === this.viable &&
      candidate.rejectionReasons?.length === this.reasons &&
      candidate.circuit === this.circuit &&
      candidate.network === this.network &&
      candidate.decimals === this.decimals &&
      candidate.fee === this.fee &&
      candidate.healthScore === this.healthScore &&
      candidate.latencyMs === this.latencyMs
    );
  }
}

/**
 * The order of any candidates.
 * @param {Core} core
 * @param {readonly Candidate[]} candidates
 * @param {string} preferNetworks
 */
function ofObjects(core, candidates, preferNetworks) {
  const seen = new Set();
  const numbers = new Float64Array(6 * candidates.length);
  let texts = "";
  for (const [position, candidate] of candidates.entries()) {
    if (typeof candidate !== "object" || candidate === null) throw misfit(`candidates[${position}]`, "a candidate");
    const { requirementIndex: index } = candidate;
    if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff || seen.has(index)) {
      throw misfit(`candidates[${position}].requirementIndex`, "a whole number that no other candidate has");
    }
    seen.add(index);
    const keys = keysOf(candidate, position);
    numbers.set(keys.numbers, 6 * position);
    texts += keys.texts;
  }
  return core.rank(numbers, texts, preferNetworks);
}

const NETWORK = "a CAIP-2 id or a known name";
const A_NETWORK = "a CAIP-2 id";
const A_FEE = "atomic units in digits";
const CIRCUITS = ["closed", "half-open", "open"];

/**
 * A line for each, as the core takes them.
 * @param {unknown} networks
 */
function networksOf(networks) {
  if (networks === undefined || networks === null) return "";
  if (!Array.isArray(networks)) throw misfit("preferNetworks", "a list of networks");
  const other = networks.findIndex((network) => !isLine(network));
  if (other !== -1) throw misfit(`preferNetworks[${other}]`, NETWORK);
  return networks.map((network) => `${network}\n`).join("");
}

/** @param {unknown} value */
function isLine(value) {
  return typeof value === "string" && !value.includes("\n");
}

/**
 * What the order of a candidate depends on, as the core takes it.
 * @param {Candidate} candidate
 * @param {number} position
 */
function keysOf(candidate, position) {
  const { requirementIndex, viable, circuit, network, fee = "0", decimals = 0, healthScore = 0.8, latencyMs } = candidate;
  const refuse = (/** @type {string} */ field, /** @type {string} */ accepted) => misfit(`candidates[${position}].${field}`, accepted);
  if (typeof viable !== "boolean") throw refuse("viable", "a boolean");
  if (!CIRCUITS.includes(circuit)) throw refuse("circuit", "closed, half-open or open");
  if (typeof (network ?? "") !== "string") throw refuse("network", "a string");
  if (typeof fee !== "string") throw refuse("fee", "a string");
  if (network != null && !(network && isLine(network))) throw refuse("network", A_NETWORK);
  if (!isLine(fee)) throw refuse("fee", A_FEE);
  // A number the module has no room for would wrap, and one that is none would become 0.
  if (!(Number.isInteger(decimals) && decimals >= 0 && decimals <= 77)) throw refuse("decimals", "a whole number from 0 to 77");
  if (!(typeof healthScore === "number" && healthScore >= 0 && healthScore <= 1)) throw refuse("healthScore", "a number from 0 to 1");
  if (latencyMs != null && !(Number.isFinite(latencyMs) && latencyMs >= 0)) throw refuse("latencyMs", "milliseconds, 0 or more");
  const isViable = viable && !(candidate.rejectionReasons?.length > 0);
  const latencyUs = latencyMs == null ? -1 : Math.round(latencyMs * 1_000);
  return {
    numbers: [requirementIndex, Number(isViable), Number(circuit === "open"), decimals, Math.round(healthScore * 10_000), latencyUs],
    texts: `${network ?? ""}\n${fee}\n`,
  };
}

/**
 * Calls into the core, which throws the path of what it does not accept.
 * @template T
 * @param {() => T} call
 */
function attemptPath(call) {
  try {
    return call();
  } catch (path) {
    if (typeof path !== "string") throw path;
    throw misfit(path, path.endsWith(".fee") ? A_FEE : path.endsWith(".network") ? A_NETWORK : NETWORK);
  }
}
