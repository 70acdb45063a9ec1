// @ts-check
// The pure ranking, for what-if. Only the fields that the order depends on are passed to the core.

import { loaded } from "./boot.mjs";
import { invalidArgument } from "./errors.mjs";
import { readOptions } from "./options.mjs";

/** @typedef {import("../index.d.ts").Candidate} Candidate */
/** @typedef {import("./boot.mjs").Core} Core */

/**
 * @param {readonly Candidate[]} candidates
 * @param {import("../index.d.ts").RankOptions | null} [options]
 * @returns {Candidate[]}
 */
export function rank(candidates, options) {
  if (!Array.isArray(candidates)) throw invalidArgument("candidates", "a list of candidates");
  const preferNetworks = networkLines(readOptions(options, ["preferNetworks"]).preferNetworks);
  const core = loaded("rank");
  const keys = (names ??= core.keyNames().split("\n"));
  const order = callRank(() => computeOrder(core, candidates, preferNetworks));
  const list = [];
  for (let at = 0; at < order.length; at += 2) {
    list.push(ranked(candidates[order[at] ?? 0], list.length + 1, keys[order[at + 1] ?? 0]));
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

/** @type {string[] | undefined} The names of the deciding keys, in the order of the core's numbers. */
let names;

/**
 * The core's answer: pairs of a position and the number of the deciding key.
 * @param {Core} core
 * @param {readonly Candidate[]} candidates
 * @param {string} preferNetworks
 */
function computeOrder(core, candidates, preferNetworks) {
  const seen = new Set();
  const numbers = new Float64Array(6 * candidates.length);
  let texts = "";
  for (const [position, candidate] of candidates.entries()) {
    if (typeof candidate !== "object" || candidate === null) throw invalidArgument(`candidates[${position}]`, "a candidate");
    const { requirementIndex: index } = candidate;
    if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff || seen.has(index)) {
      throw invalidArgument(`candidates[${position}].requirementIndex`, "a whole number that no other candidate has");
    }
    seen.add(index);
    const keys = rankKeys(candidate, position);
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
 * One network a line.
 * @param {unknown} networks
 */
function networkLines(networks) {
  if (networks === undefined || networks === null) return "";
  if (!Array.isArray(networks)) throw invalidArgument("preferNetworks", "a list of networks");
  const other = networks.findIndex((network) => !isLine(network));
  if (other !== -1) throw invalidArgument(`preferNetworks[${other}]`, NETWORK);
  return networks.map((network) => `${network}\n`).join("");
}

/** @param {unknown} value */
function isLine(value) {
  return typeof value === "string" && !value.includes("\n");
}

/**
 * The fields of a candidate that the order depends on, in the form that the core takes.
 * @param {Candidate} candidate
 * @param {number} position
 */
function rankKeys(candidate, position) {
  const { requirementIndex, viable, circuit, network, fee = "0", decimals = 0, healthScore = 0.8, latencyMs } = candidate;
  const refuse = (/** @type {string} */ field, /** @type {string} */ accepted) => invalidArgument(`candidates[${position}].${field}`, accepted);
  if (typeof viable !== "boolean") throw refuse("viable", "a boolean");
  if (!CIRCUITS.includes(circuit)) throw refuse("circuit", "closed, half-open or open");
  if (typeof (network ?? "") !== "string") throw refuse("network", "a string");
  if (typeof fee !== "string") throw refuse("fee", "a string");
  if (network != null && !(network && isLine(network))) throw refuse("network", A_NETWORK);
  if (!isLine(fee)) throw refuse("fee", A_FEE);
  // In the module, too large a number would wrap and NaN would become 0.
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
 * Calls `rank` of the core, which throws the path of a field that it does not accept.
 * @template T
 * @param {() => T} call
 */
function callRank(call) {
  try {
    return call();
  } catch (path) {
    if (typeof path !== "string") throw path;
    throw invalidArgument(path, path.endsWith(".fee") ? A_FEE : path.endsWith(".network") ? A_NETWORK : NETWORK);
  }
}
