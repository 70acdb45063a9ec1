// @ts-check
// Errors by code. `instanceof` goes by a registered symbol, so that it holds when the ES module and
// the CommonJS module of the package are both loaded.

const CODES = Symbol.for("payroute.error.codes");

/**
 * The codes of `value`'s class, if it is an error of this package, from whichever copy.
 * @param {unknown} value
 * @returns {readonly string[]}
 */
function classCodes(value) {
  if (typeof value !== "object" || value === null) return [];
  const codes = /** @type {Record<symbol, unknown>} */ (value)[CODES];
  return Array.isArray(codes) ? codes : [];
}

export class PayrouteError extends Error {
  /** @type {string} The code that this class stands for; the base class stands for all. */
  static code = "";

  /**
   * @param {string} message
   * @param {{ cause?: unknown, code?: string }} [options]
   */
  constructor(message, options = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    /** @type {string} */
    this.code = options.code ?? new.target.code;
    Object.defineProperty(this, CODES, { value: ["", this.code] });
    Object.defineProperty(this, "name", { value: new.target.className, configurable: true, writable: true });
  }

  /** Class names survive minifiers only as text. */
  static className = "PayrouteError";

  /** @param {unknown} value */
  static is(value) {
    return classCodes(value).includes(this.code);
  }

  /** @param {unknown} value */
  static [Symbol.hasInstance](value) {
    // A subclass that the application defines has no code of its own: its prototype decides, as usual.
    return Object.hasOwn(this, "className") ? classCodes(value).includes(this.code) : Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

/** An error of a selection that judged every offer: it carries every candidate. */
class CandidatesError extends PayrouteError {
  #explanation;

  /**
   * @param {string} message
   * @param {import("../index.d.ts").Candidate[]} [candidates]
   * @param {string} [explanation]
   */
  constructor(message, candidates = [], explanation = "") {
    super(message);
    this.candidates = candidates;
    this.#explanation = explanation;
  }

  explain() {
    return this.#explanation;
  }
}

export class NoSupportedRouteError extends CandidatesError {
  static code = "no-supported-route";
  static className = "NoSupportedRouteError";
}

export class RefusedByPolicyError extends CandidatesError {
  static code = "refused-by-policy";
  static className = "RefusedByPolicyError";
}

export class BalancesUnavailableError extends CandidatesError {
  static code = "balances-unavailable";
  static className = "BalancesUnavailableError";
}

export class InsufficientLiquidityError extends CandidatesError {
  static code = "insufficient-liquidity";
  static className = "InsufficientLiquidityError";

  /**
   * @param {string} message
   * @param {import("../index.d.ts").Candidate[]} [candidates]
   * @param {string} [explanation]
   * @param {import("../index.d.ts").Deficit[]} [deficits]
   */
  constructor(message, candidates = [], explanation = "", deficits = []) {
    super(message, candidates, explanation);
    this.deficits = deficits;
  }
}

export class HeldElsewhereError extends PayrouteError {
  static code = "held-elsewhere";
  static className = "HeldElsewhereError";

  /**
   * @param {string} message
   * @param {import("../index.d.ts").Deficit} [deficit]
   */
  constructor(message, deficit) {
    super(message);
    this.deficit = deficit;
  }
}

export class TooManyHoldsError extends PayrouteError {
  static code = "too-many-holds";
  static className = "TooManyHoldsError";
}

export class UnsponsoredError extends PayrouteError {
  static code = "unsponsored";
  static className = "UnsponsoredError";

  /**
   * @param {import("../index.d.ts").Candidate} candidate
   * @param {string} missing
   */
  constructor(candidate, missing) {
    const where = `${candidate.symbol} on ${candidate.networkName ?? candidate.network}`;
    const help = "give the client's scheme an rpcUrl for the network and a signer that can sign transactions";
    super(`the x402 client signed for ${where} without ${missing}, by which the server would sponsor the approval: ${help}`);
    this.candidate = candidate;
    this.missing = missing;
  }
}

export class InvalidPaymentRequiredError extends PayrouteError {
  static code = "invalid-payment-required";
  static className = "InvalidPaymentRequiredError";

  /**
   * @param {string} message
   * @param {import("../index.d.ts").CarrierFailure[]} [carriers]
   * @param {import("../index.d.ts").MalformedField[]} [entries]
   */
  constructor(message, carriers = [], entries = []) {
    super(message);
    this.carriers = carriers;
    this.entries = entries;
  }
}

export class UnsupportedVersionError extends PayrouteError {
  static code = "unsupported-version";
  static className = "UnsupportedVersionError";
}

export class ConfigurationError extends PayrouteError {
  static code = "configuration";
  static className = "ConfigurationError";

  /**
   * @param {string} message
   * @param {string} path
   * @param {string} [accepted]
   */
  constructor(message, path, accepted) {
    super(message);
    this.path = path;
    this.accepted = accepted;
  }
}

/** A health snapshot that cannot be restored. */
export class SnapshotError extends PayrouteError {
  static code = "invalid-snapshot";
  static className = "SnapshotError";
}

export class ModuleUnavailableError extends PayrouteError {
  static code = "module-unavailable";
  static className = "ModuleUnavailableError";
}

/**
 * @typedef {object} Failure
 * @property {string} code
 * @property {string} message
 * @property {import("../index.d.ts").Candidate[]} [candidates]
 * @property {string} [explanation]
 * @property {import("../index.d.ts").Deficit[]} [deficits]
 * @property {string} [path]
 * @property {string} [accepted]
 * @property {import("../index.d.ts").CarrierFailure[]} [carriers]
 * @property {import("../index.d.ts").MalformedField[]} [entries]
 */

/**
 * The error of a failure that the core reports.
 * @param {Failure} failure
 * @returns {PayrouteError}
 */
export function toError(failure) {
  const { code, message, candidates, explanation } = failure;
  switch (code) {
    case "no-supported-route":
      return new NoSupportedRouteError(message, candidates, explanation);
    case "refused-by-policy":
      return new RefusedByPolicyError(message, candidates, explanation);
    case "balances-unavailable":
      return new BalancesUnavailableError(message, candidates, explanation);
    case "insufficient-liquidity":
      return new InsufficientLiquidityError(message, candidates, explanation, failure.deficits);
    case "held-elsewhere":
      return new HeldElsewhereError(message, failure.deficits?.[0]);
    case "too-many-holds":
      return new TooManyHoldsError(message);
    case "invalid-payment-required":
      return new InvalidPaymentRequiredError(message, failure.carriers, failure.entries);
    case "unsupported-version":
      return new UnsupportedVersionError(message);
    case "configuration":
      return new ConfigurationError(message, failure.path ?? ".", failure.accepted);
    default:
      return new PayrouteError(message, { code });
  }
}

/**
 * An argument of the wrong kind or value. What is wrong with a configuration is a ConfigurationError.
 * @param {string} name
 * @param {string} accepted
 */
export function invalidArgument(name, accepted) {
  return new TypeError(`${name}: is not accepted; accepted is ${accepted}`);
}

/**
 * Calls into the core, whose failures are thrown as JSON text.
 * @template T
 * @param {() => T} call
 * @returns {T}
 */
export function callCore(call) {
  try {
    return call();
  } catch (thrown) {
    throw typeof thrown === "string" ? toError(JSON.parse(thrown)) : thrown;
  }
}
