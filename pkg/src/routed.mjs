// @ts-check
// An x402 client that pays what a selector chose. Signs nothing, knows no transport, and leaves to
// the client whatever else it does: its hooks, its spend controls, its policies.

import { ConfigurationError } from "./errors.mjs";

/** On every client that is routed, from whichever copy of the package. */
const ROUTED = Symbol.for("payroute.x402.routed");

/**
 * @typedef {import("../index.d.ts").Candidate} Candidate
 * @typedef {import("../index.d.ts").Selection<any>} Selection
 * @typedef {{ selection: Selection, offers: readonly Offer[], paid?: readonly Offer[] }} Plan
 * @typedef {{ candidate: Candidate, requirement: any }} Offer an offer that can be paid
 * @typedef {{ x402Version: unknown, accepts: any, [field: string]: unknown }} Challenge
 * @typedef {{
 *   createPaymentPayload(challenge: Challenge): Promise<any>,
 *   handlePaymentRequired?: (challenge: Challenge, ...rest: unknown[]) => Promise<unknown>,
 * }} Client
 */

/**
 * @param {any} client
 * @param {import("../index.d.ts").Selector} selector
 * @param {{ exclusive?: boolean, onRoute?: (route: any) => unknown }} [options]
 */
export function routed(client, selector, options = {}) {
  const { exclusive = false, onRoute = warnOfOverride } = options;
  check(client, selector, exclusive, onRoute);
  const planOf = planner(selector);
  const sign = client.createPaymentPayload;
  const visit = client.handlePaymentRequired;

  /** @param {Challenge} challenge */
  async function createPaymentPayload(challenge) {
    const plan = await planOf(challenge);
    const offers = handedOver(plan, exclusive);
    const accepts = offers.map(({ requirement }) => requirement);
    const payload = await sign.call(client, { ...challenge, x402Version: versionOf(challenge), accepts });
    const signed = offers.find((offer) => isFor(payload, offer));
    plan.paid ??= signed === undefined ? [] : [signed];
    await onRoute(routeOf(plan, payload, signed));
    return payload;
  }

  /**
   * An HTTP client is asked this first. What is thrown here reaches the application as it is; what
   * `createPaymentPayload` throws, @x402/fetch and @x402/axios turn into a text.
   * @param {Challenge} challenge
   * @param {unknown[]} rest
   */
  async function handlePaymentRequired(challenge, ...rest) {
    const headers = await visit.call(client, challenge, ...rest);
    // With headers of its own the client tries again before it pays.
    if (!headers) await planOf(challenge);
    return headers;
  }

  define(client, { [ROUTED]: true, createPaymentPayload, ...(visit ? { handlePaymentRequired } : {}) });
  return client;
}

/**
 * The plan of a challenge: selected once, however often it is asked for. After a signature has left,
 * nothing is chosen again; before, a failure may be tried again.
 * @param {import("../index.d.ts").Selector} selector
 */
function planner(selector) {
  /** @type {WeakMap<object, Promise<Plan>>} */
  const plans = new WeakMap();
  /** @param {Challenge} challenge */
  return (challenge) => {
    const known = plans.get(challenge);
    if (known !== undefined) return known;
    const plan = planFor(selector, challenge);
    if (typeof challenge === "object" && challenge !== null) {
      plans.set(challenge, plan);
      plan.catch(() => plans.delete(challenge));
    }
    return plan;
  };
}

/**
 * @param {import("../index.d.ts").Selector} selector
 * @param {Challenge} challenge
 * @returns {Promise<Plan>}
 */
async function planFor(selector, challenge) {
  const accepts = Array.isArray(challenge?.accepts) ? [...challenge.accepts] : [];
  const selection = await selector.select(challenge);
  const payable = selection.candidates.filter(({ viable }) => viable);
  const offers = payable.map((candidate) => ({ candidate, requirement: accepts[candidate.requirementIndex] }));
  return { selection, offers };
}

/**
 * Best first. Once a payment was made, what it was for alone: nothing, where a hook of the client made
 * it for something else.
 * @param {Plan} plan
 * @param {boolean} exclusive
 */
function handedOver({ offers, paid }, exclusive) {
  return paid ?? (exclusive ? offers.slice(0, 1) : offers);
}

/**
 * Whether a payment is for an offer. Version 2 carries the offer; version 1 names scheme and network.
 * @param {any} payload
 * @param {Offer} offer
 */
function isFor(payload, { requirement }) {
  const { accepted } = payload ?? {};
  if (accepted !== undefined) return accepted === requirement || JSON.stringify(accepted) === JSON.stringify(requirement);
  return payload?.scheme === requirement.scheme && payload?.network === requirement.network;
}

/**
 * @param {Plan} plan
 * @param {any} payload
 * @param {Offer | undefined} signed
 */
function routeOf({ selection, offers }, payload, signed) {
  const better = signed === undefined ? offers : offers.slice(0, offers.indexOf(signed));
  return Object.freeze({
    requirement: signed?.requirement ?? payload?.accepted,
    candidate: signed?.candidate,
    passedOver: better.map(({ candidate }) => candidate),
    selection,
  });
}

/** @param {{ candidate?: Candidate, passedOver: readonly Candidate[] }} route */
function warnOfOverride({ candidate, passedOver }) {
  if (passedOver.length === 0) return;
  const name = (/** @type {Candidate | undefined} */ of) => (of ? `${of.symbol} on ${of.networkName ?? of.network}` : "something else");
  const better = passedOver.map(name).join(", ");
  console.warn(`payroute: the x402 client's spend controls, policies or hooks passed over ${better} for ${name(candidate)}; set onRoute to hear of it`);
}

/**
 * Version 1 and 2 as clients look them up; as text they are no guess either.
 * @param {Challenge} challenge
 */
function versionOf({ x402Version }) {
  return x402Version === "1" || x402Version === "2" ? Number(x402Version) : x402Version;
}

/**
 * @param {any} client
 * @param {any} selector
 * @param {unknown} exclusive
 * @param {unknown} onRoute
 */
function check(client, selector, exclusive, onRoute) {
  if (typeof client?.createPaymentPayload !== "function") throw misfit("client", "an x402Client or an x402HTTPClient");
  if (Object.hasOwn(client, ROUTED)) throw misfit("client", "a client that is not routed yet");
  if (typeof selector?.select !== "function") throw misfit("selector", "a Selector");
  if (typeof exclusive !== "boolean") throw misfit("exclusive", "a boolean");
  if (typeof onRoute !== "function") throw misfit("onRoute", "a function of a route");
}

/**
 * @param {string} path
 * @param {string} accepted
 */
function misfit(path, accepted) {
  return new ConfigurationError(`${path}: is not accepted; accepted is ${accepted}`, path, accepted);
}

/**
 * @param {object} client
 * @param {Record<PropertyKey, unknown>} members
 */
function define(client, members) {
  for (const key of Reflect.ownKeys(members)) {
    Object.defineProperty(client, key, { value: members[key], configurable: true, writable: true });
  }
}
