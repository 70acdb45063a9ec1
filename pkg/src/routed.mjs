// @ts-check
// An x402 client that pays what a selector chose. The client still signs, and keeps its hooks, spend controls
// and policies.

import { canClientSign } from "./clientSupport.mjs";
import { HeldElsewhereError, invalidArgument } from "./errors.mjs";
import { readOptions } from "./options.mjs";
import { nearestOffer, findOffer } from "./signed.mjs";
import { isSponsored, missingSponsorField } from "./sponsored.mjs";

/** Marks every routed client, whichever copy of the package routed it. */
const ROUTED = Symbol.for("payroute.x402.routed");

/** Marks the client inside a routed HTTP client. */
const INSIDE = Symbol.for("payroute.x402.inside");

/** How often one payment selects again because simultaneous payments took the money of its choice. */
const MOST_SELECTIONS = 4;

/**
 * @typedef {import("../index.d.ts").Candidate} Candidate
 * @typedef {import("../index.d.ts").Selection<any>} Selection
 * @typedef {import("../index.d.ts").Hold} Hold
 * @typedef {{
 *   selection: Selection,
 *   offers: readonly Offer[],
 *   handed: readonly Offer[],
 *   held?: Hold | undefined,
 *   paid?: readonly Offer[],
 * }} Plan
 *   best first; the client may choose from `handed`, and `held` is for the first of those until the first payment takes
 *   it over
 * @typedef {{ plan: Promise<Plan>, signing: number }} Entry `signing` counts the calls under way
 * @typedef {{ candidate: Candidate, requirement: any }} Offer an offer that can be paid
 * @typedef {{ payload: any, offer: Offer | undefined, held?: Hold | undefined, missing?: Error | undefined }} Signed
 *   with `missing`, the payment must not be sent and nothing is held
 * @typedef {{ x402Version: unknown, accepts: any, [field: string]: unknown }} Challenge
 * @typedef {{
 *   createPaymentPayload(challenge: Challenge): Promise<any>,
 *   handlePaymentRequired?: (challenge: Challenge, ...rest: unknown[]) => Promise<unknown>,
 * }} Client
 */

/**
 * @param {any} client
 * @param {import("../index.d.ts").Selector} selector
 * @param {{ exclusive?: boolean, onRoute?: (route: any) => unknown } | null} [options]
 */
export function routed(client, selector, options) {
  const { exclusive = false, onRoute = warnOfOverride } = readOptions(options, ["exclusive", "onRoute"]);
  check(client, selector, exclusive, onRoute);
  const plans = planner(selector, exclusive);
  const sign = client.createPaymentPayload;
  const visit = client.handlePaymentRequired;

  /**
   * @param {Challenge} challenge
   * @param {Plan} plan
   * @param {readonly Offer[]} offers
   * @returns {Promise<Signed>}
   */
  async function signedFor(challenge, plan, offers) {
    let held = takeHold(plan, offers);
    try {
      const accepts = offers.map(({ requirement }) => requirement);
      const payload = await sign.call(client, { ...challenge, x402Version: comparableVersion(challenge), accepts });
      const offer = findOffer(payload, [...offers, ...plan.offers]);
      // Once a payment was sent, its approval may be on the chain, and the client is right to leave it out.
      const missing = plan.paid === undefined ? missingSponsorField(payload, offer?.candidate) : undefined;
      if (missing !== undefined) {
        held?.release();
        held = undefined;
        if (await needsSponsorStill(selector, challenge, offer)) return { payload, offer, missing };
      }
      // Held anew in any case: the lifetime counts from the signature, and while a person confirmed, the first hold may
      // have expired.
      held = replaceHold(plan, held, offer ?? nearestOffer(payload, plan.offers));
      return { payload, offer, held };
    } catch (error) {
      held?.release();
      throw error;
    }
  }

  /**
   * Signs a second time in one case only: the first payment cannot be settled, and was not sent. Whatever the client
   * throws ends the payment, because a person's refusal looks like any other error.
   * @param {Challenge} challenge
   * @param {Plan} plan
   * @returns {Promise<Signed & { unsentCandidate?: Candidate | undefined }>}
   */
  async function paymentOf(challenge, plan) {
    const first = await signedFor(challenge, plan, offersForClient(plan));
    if (first.missing === undefined) return first;
    const others = plan.paid === undefined ? plan.handed.filter((offer) => !isSponsored(offer)) : [];
    if (others.length === 0) throw first.missing;
    const second = await signedFor(challenge, plan, others);
    if (second.missing !== undefined) throw second.missing;
    return { ...second, unsentCandidate: first.offer?.candidate };
  }

  /** @param {Challenge} challenge */
  async function createPaymentPayload(challenge) {
    return plans.under(challenge, async (plan) => {
      const { payload, offer, held, unsentCandidate } = await paymentOf(challenge, plan);
      try {
        await onRoute(createRoute(plan, payload, offer, unsentCandidate));
      } catch (error) {
        held?.release();
        throw error;
      }
      // The signature cannot be taken back: until it expires, the merchant may cash it, whatever it answers.
      held?.settle();
      plan.paid ??= offer === undefined ? [] : [offer];
      return payload;
    });
  }

  /**
   * HTTP clients are called here first. An error thrown here reaches the application unchanged; @x402/fetch and
   * @x402/axios turn an error of `createPaymentPayload` into text.
   * @param {Challenge} challenge
   * @param {unknown[]} rest
   */
  async function handlePaymentRequired(challenge, ...rest) {
    const headers = await visit.call(client, challenge, ...rest);
    // If the client has headers of its own, it repeats the request before it pays.
    if (!headers) await plans.of(challenge);
    return headers;
  }

  define(client, { [ROUTED]: true, createPaymentPayload, ...(visit ? { handlePaymentRequired } : {}) });
  if (isClient(client.client)) define(client.client, { [INSIDE]: true });
  return client;
}

/**
 * One plan a challenge, selected once. After a payment was sent, nothing is chosen again; if every attempt failed
 * before that, the plan is dropped and the next call selects anew.
 * @param {import("../index.d.ts").Selector} selector
 * @param {boolean} exclusive
 */
function planner(selector, exclusive) {
  /** @type {WeakMap<object, Entry>} */
  const entries = new WeakMap();

  /** @param {Challenge} challenge */
  function entryOf(challenge) {
    const known = entries.get(challenge);
    if (known !== undefined) return known;
    const entry = { plan: planFor(selector, exclusive, challenge), signing: 0 };
    if (typeof challenge === "object" && challenge !== null) {
      entries.set(challenge, entry);
      entry.plan.catch(() => entries.delete(challenge));
    }
    return entry;
  }

  return {
    /** @param {Challenge} challenge */
    of: (challenge) => entryOf(challenge).plan,

    /**
     * @param {Challenge} challenge
     * @param {(plan: Plan) => Promise<unknown>} pay
     */
    async under(challenge, pay) {
      const entry = entryOf(challenge);
      // Counted before the first await, so that a plan with a signature under way is not dropped.
      entry.signing += 1;
      const plan = await entry.plan;
      try {
        return await pay(plan);
      } finally {
        entry.signing -= 1;
        if (entry.signing === 0 && plan.paid === undefined) entries.delete(challenge);
      }
    },
  };
}

/**
 * Selects, and holds the price of the best offer, so that simultaneous payments do not count on the same money. If
 * another payment took it first, selects again: there may be another route.
 * @param {import("../index.d.ts").Selector} selector
 * @param {boolean} exclusive
 * @param {Challenge} challenge
 * @returns {Promise<Plan>}
 */
async function planFor(selector, exclusive, challenge) {
  const accepts = Array.isArray(challenge?.accepts) ? [...challenge.accepts] : [];
  for (let attempt = 1; ; attempt++) {
    const selection = await selector.select(challenge);
    const payable = selection.candidates.filter(({ viable }) => viable);
    const offers = payable.map((candidate) => ({ candidate, requirement: accepts[candidate.requirementIndex] }));
    const handed = exclusive ? offers.slice(0, 1) : signableOffers(offers, comparableVersion(challenge));
    try {
      return { selection, offers, handed, held: replaceHold({ selection }, undefined, handed[0]) };
    } catch (error) {
      if (!HeldElsewhereError.is(error) || attempt === MOST_SELECTIONS) throw error;
    }
  }
}

/**
 * Whether the offer still needs a sponsor. An earlier payment may have raised the allowance since the selection, and
 * the client, which reads it later, is then right to send neither permit nor approval.
 * @param {import("../index.d.ts").Selector} selector
 * @param {Challenge} challenge
 * @param {Offer | undefined} offer
 */
async function needsSponsorStill(selector, challenge, offer) {
  try {
    const { candidates } = await selector.select(challenge);
    const candidate = candidates.find(({ requirementIndex }) => requirementIndex === offer?.candidate.requirementIndex);
    return !candidate?.viable || isSponsored({ candidate, requirement: offer?.requirement });
  } catch {
    return true;
  }
}

/**
 * Without the offers that would make the client throw. If there are only such offers, the client gets them and refuses.
 * @param {readonly Offer[]} offers
 * @param {unknown} version
 */
function signableOffers(offers, version) {
  const signable = offers.filter(({ requirement }) => canClientSign(requirement, version));
  return signable.length > 0 ? signable : offers;
}

/**
 * The hold for the time of signing. The merchant can cash every signature of one challenge, so each has its own hold.
 * @param {Plan} plan
 * @param {readonly Offer[]} offers
 */
function takeHold(plan, offers) {
  const { held } = plan;
  plan.held = undefined;
  if (held !== undefined) return held;
  try {
    return replaceHold(plan, undefined, offers[0]);
  } catch (error) {
    // The client may sign for another offer, which is held once it has.
    if (offers.length > 1 && HeldElsewhereError.is(error)) return undefined;
    throw error;
  }
}

/**
 * Holds another offer. Releases the present hold first, because both may be paid from one balance.
 * @param {Pick<Plan, "selection">} plan
 * @param {Hold | undefined} held
 * @param {Offer | undefined} offer
 */
function replaceHold({ selection }, held, offer) {
  held?.release();
  return offer && selection.hold(offer.candidate.requirementIndex);
}

/**
 * The offers that the client may choose from, best first. After a payment was made, only the offer that it was for;
 * none if a hook of the client paid for something else.
 * @param {Plan} plan
 */
function offersForClient({ handed, paid }) {
  return paid ?? handed;
}

/**
 * @param {Plan} plan
 * @param {any} payload
 * @param {Offer | undefined} signed
 * @param {Candidate | undefined} unsentCandidate
 */
function createRoute({ selection, offers }, payload, signed, unsentCandidate) {
  const better = signed === undefined ? offers : offers.slice(0, offers.indexOf(signed));
  return Object.freeze({
    requirement: signed?.requirement ?? payload?.accepted ?? undefined,
    candidate: signed?.candidate,
    passedOver: better.map(({ candidate }) => candidate),
    unsentCandidate,
    selection,
  });
}

/** @param {{ candidate?: Candidate, passedOver: readonly Candidate[], unsentCandidate?: Candidate }} route */
function warnOfOverride({ candidate, passedOver, unsentCandidate }) {
  if (passedOver.length === 0) return;
  const name = (/** @type {Candidate | undefined} */ of) => (of ? `${of.symbol} on ${of.networkName ?? of.network}` : "something else");
  const better = passedOver.map(name).join(", ");
  const rules = "by its spend controls, policies or hooks, or it cannot read the offer";
  const why = unsentCandidate ? `for ${name(unsentCandidate)} it left out what the server needs to sponsor the approval` : rules;
  console.warn(`payroute: the x402 client passed over ${better} for ${name(candidate)}: ${why}; set onRoute to hear of it`);
}

/**
 * Clients compare the version as a number; versions 1 and 2 as text are unambiguous too.
 * @param {Challenge} challenge
 */
function comparableVersion({ x402Version }) {
  return x402Version === "1" || x402Version === "2" ? Number(x402Version) : x402Version;
}

/**
 * @param {any} client
 * @param {any} selector
 * @param {unknown} exclusive
 * @param {unknown} onRoute
 */
function check(client, selector, exclusive, onRoute) {
  if (!isClient(client)) throw invalidArgument("client", "an x402Client or an x402HTTPClient");
  // If a client and the HTTP client around it were both routed, each would hold every price.
  const isTwice = Object.hasOwn(client, INSIDE) || [client, client.client].some((one) => one && Object.hasOwn(one, ROUTED));
  if (isTwice) throw invalidArgument("client", "a client that is not routed yet");
  if (typeof selector?.select !== "function") throw invalidArgument("selector", "a Selector");
  if (typeof exclusive !== "boolean") throw invalidArgument("exclusive", "a boolean");
  if (typeof onRoute !== "function") throw invalidArgument("onRoute", "a function of a route");
}

/** @param {any} value */
function isClient(value) {
  return typeof value?.createPaymentPayload === "function";
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
