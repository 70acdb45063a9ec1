// @ts-check
// The pure ranking, for what-if. Only the fields that the order depends on are passed to the core, and of a
// selection's own list, as long as nobody changes it, not even those: the core keeps them.

import { loaded } from "./boot.mjs";
import { invalidArgument } from "./errors.mjs";
import { readOptions } from "./options.mjs";

/** @typedef {import("../index.d.ts").Candidate} Candidate */
/** @typedef {import("./boot.mjs").Core} Core */
/** @typedef {import("../wasm/core.js").Answered} Answered */
/** @typedef {readonly Candidate[] & { [STAMP]?: { answered: Answered, fields: unknown[][] } }} StampedList */

/** On the list of a selection: what the core keeps of it, and the fields as they were. */
const STAMP = Symbol("payroute.rank");

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
  const order = callRank(() => keptOrder(candidates, preferNetworks) ?? computeOrder(core, candidates, preferNetworks));
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
 * Lets a selection's own list be ranked by what the core keeps of it.
 * @param {readonly Candidate[]} candidates
 * @param {Answered} answered
 */
export function stampList(candidates, answered) {
  Object.defineProperty(candidates, STAMP, { value: { answered, fields: candidates.map(rankFields) } });
}

/**
 * The order by what the core keeps, if this is a selection's own list and unchanged.
 * @param {StampedList} candidates
 * @param {string} preferNetworks
 */
function keptOrder(candidates, preferNetworks) {
  const stamp = candidates[STAMP];
  if (stamp?.fields.length !== candidates.length) return undefined;
  const isUnchanged = stamp.fields.every((fields, position) => {
    const candidate = candidates[position];
    return candidate != null && rankFields(candidate).every((value, at) => value === fields[at]);
  });
  return isUnchanged ? stamp.answered.rank(preferNetworks) : undefined;
}

/**
 * All that a candidate's place in an order depends on.
 * @param {Candidate} candidate
 */
function rankFields({ requirementIndex, viable, rejectionReasons, circuit, network, decimals, fee, healthScore, latencyMs }) {
  return [requirementIndex, viable, rejectionReasons?.length, circuit, network, decimals, fee, healthScore, latencyMs];
}

/**
 * The core's answer: pairs of a position and the number of the deciding key.
 * @param {Core} core
 * @param {readonly Candidate[]} candidates
 * @param {string} preferNetworks
 */
function computeOrder(core, candidates, preferNetworks) {
  const seen = new Set();
  const numbers = new Float64Array(NUMBERS * candidates.length);
  let texts = "";
  for (let position = 0; position < candidates.length; position++) {
    const candidate = candidates[position];
    const fault = findFault(candidate, seen);
    if (fault !== undefined) throw invalidArgument(`candidates[${position}]${fault.field}`, fault.accepted);
    const { requirementIndex, viable, circuit, network, fee = "0", decimals = 0, healthScore = 0.8, latencyMs } = /** @type {Candidate} */ (candidate);
    seen.add(requirementIndex);
    const at = NUMBERS * position;
    numbers[at] = requirementIndex;
    numbers[at + 1] = viable && !(candidate?.rejectionReasons?.length) ? 1 : 0;
    numbers[at + 2] = circuit === "open" ? 1 : 0;
    numbers[at + 3] = decimals;
    numbers[at + 4] = Math.round(healthScore * 10_000);
    numbers[at + 5] = latencyMs == null ? -1 : Math.round(latencyMs * 1_000);
    texts += `${network ?? ""}\n${fee}\n`;
  }
  return core.rank(numbers, texts, preferNetworks);
}

/** How many numbers the core takes of each candidate. */
const NUMBERS = 6;
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
 * The first field of a candidate that the order cannot depend on as it is, and what is accepted there.
 * @param {any} candidate
 * @param {Set<number>} seen the indexes of earlier candidates
 * @returns {{ field: string, accepted: string } | undefined}
 */
function findFault(candidate, seen) {
  if (typeof candidate !== "object" || candidate === null) return { field: "", accepted: "a candidate" };
  const { requirementIndex: index, viable, circuit, network, fee = "0", decimals = 0, healthScore = 0.8, latencyMs } = candidate;
  if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff || seen.has(index)) {
    return { field: ".requirementIndex", accepted: "a whole number that no other candidate has" };
  }
  if (typeof viable !== "boolean") return { field: ".viable", accepted: "a boolean" };
  if (!CIRCUITS.includes(circuit)) return { field: ".circuit", accepted: "closed, half-open or open" };
  if (typeof (network ?? "") !== "string") return { field: ".network", accepted: "a string" };
  if (typeof fee !== "string") return { field: ".fee", accepted: "a string" };
  if (network != null && !(network && isLine(network))) return { field: ".network", accepted: A_NETWORK };
  if (!isLine(fee)) return { field: ".fee", accepted: A_FEE };
  // In the module, too large a number would wrap and NaN would become 0.
  if (!(Number.isInteger(decimals) && decimals >= 0 && decimals <= 77)) return { field: ".decimals", accepted: "a whole number from 0 to 77" };
  if (!(typeof healthScore === "number" && healthScore >= 0 && healthScore <= 1)) return { field: ".healthScore", accepted: "a number from 0 to 1" };
  if (latencyMs != null && !(Number.isFinite(latencyMs) && latencyMs >= 0)) return { field: ".latencyMs", accepted: "milliseconds, 0 or more" };
  return undefined;
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
