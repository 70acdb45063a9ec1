/**
 * payroute inside the x402 clients that applications already have: `@x402/core` and what is built on it, such as
 * `@x402/fetch`.
 */

import type { Candidate, PaymentRequirement, Selection, Selector } from "payroute";

/** Which offer a client's payment is for, and what became of better ones. A plain, frozen object. */
export interface Route<Requirement = PaymentRequirement> {
  /**
   * The offer that was signed for: the merchant's own object, even if the client signed for a copy. If no payable offer
   * asks for what was signed, the offer that the payment itself states; in version 1 it states none.
   */
  readonly requirement: Requirement | undefined;
  /** Its candidate; absent if a policy or a hook of the client signed for what no payable offer asks for. */
  readonly candidate: Candidate | undefined;
  /**
   * Payable offers that rank higher, best first: the client's spend controls, policies, selector or hooks passed them
   * over, or clients of the version cannot read them. Usually empty.
   */
  readonly passedOver: readonly Candidate[];
  /**
   * The candidate of an offer that was signed for first, if that payment lacked what a sponsor of approvals takes. Only
   * the client's own hooks saw that signature, and nothing is held for it. Usually `undefined`.
   */
  readonly unsentCandidate: Candidate | undefined;
  /** The whole answer of the selector. */
  readonly selection: Selection<Requirement>;
}

/** Options of {@link routed}. */
export interface RoutedOptions {
  /**
   * Hands over only the best offer: if the client refuses that one, the payment fails instead of going to the next.
   * Default `false`.
   */
  readonly exclusive?: boolean | undefined;
  /**
   * Called with every payment after it is signed and before it leaves; a promise is waited for, and an error withholds
   * the payment. Without it, `console.warn` reports offers that were passed over.
   */
  readonly onRoute?: ((route: Route) => void | PromiseLike<void>) | undefined;
}

/** The part of an `x402Client` or an `x402HTTPClient` that is used. */
export interface PayingClient {
  /** Chooses and signs. */
  createPaymentPayload(paymentRequired: any): Promise<any>;
}

/**
 * Makes a client pay what the selector chooses. The client gets every payable offer, best first, as the merchant's own
 * objects; its own rules still apply, and `onRoute` reports when they passed a better offer over.
 *
 * Offers that @x402 clients cannot read in that version are left out as long as another offer remains: a network
 * under a name that they do not know, a Solana cluster other than the public three, an EVM chain id over 2^53, a
 * price in the other version's field. A client that is given one of those may throw, whichever offer it would have
 * paid. A scheme of your own that can pay such an offer gets it with `exclusive`, or if there is nothing else.
 *
 * Changes `client` itself and returns it, so that no reference to it pays unrouted. Errors of the selector come out of
 * `createPaymentPayload` as they are. `@x402/fetch` and `@x402/axios` turn whatever comes out of it into text: give
 * them an `x402HTTPClient`, and the selector's errors reach the application unchanged.
 *
 * The price of the best offer is held from the moment it is chosen ({@link Selection.hold}), so that simultaneous
 * payments do not count on the same money. What the client signs for, that offer or another, is held anew from its
 * signature on, before `onRoute` is called; if other payments took its money meanwhile, as they can while a person
 * takes long to confirm, the payment is withheld with a `HeldElsewhereError`. What was signed counts as spent until a
 * balance shows it, or until the offer's `maxTimeoutSeconds` are over, a day at most: for that long the merchant may
 * cash it, whatever it answers.
 *
 * If a policy or a hook made up an offer of its own, the held offer is the one of the same asset that is nearest in
 * price, one of the same scheme first, for that offer's `maxTimeoutSeconds`, even if the payment may be cashed for
 * longer. For an asset in which no offer can be paid, nothing is known or held.
 *
 * An offer noted as `eip2612-sponsored` or `erc20-approval-sponsored` can be paid only together with a permit or an
 * approval, which official schemes leave out if they have neither an `rpcUrl` nor a signer that reads the chain. A
 * payment that lacks it is not sent unless the allowance, read anew, has risen meanwhile; the client is asked once more,
 * for those of the offers it was given that need no sponsor. Since the first payment was not sent, only the second can
 * be cashed, and only that is held; hooks of the client see both, and must not send one themselves. If no such offer is
 * left, or the second payment lacks it too, the result is an `UnsponsoredError`. Nothing else is a reason to sign twice:
 * whatever the client throws ends the payment, because a person's refusal looks like any other error.
 *
 * One 402 object is one request: a client that signs for it again, because a hook of its own says so, signs for the
 * same offer. Nothing is chosen again after a payment was made. Each signature counts by itself: if the balance does
 * not cover another, the result is a `HeldElsewhereError`.
 * @throws {TypeError} an argument is not accepted, or the client is already routed, by itself or inside an HTTP client
 */
export function routed<Client extends PayingClient>(client: Client, selector: Selector, options?: RoutedOptions | null): Client;

/**
 * A `fetch` whose 402s stock clients can read: terms that are only in the body, in base64url, as bare JSON, in
 * an older header, or whose version is text or missing, are written into the `PAYMENT-REQUIRED` header as clients
 * expect them. No term is changed and the body stays unread. A response that is not a 402, is already readable, or has
 * no terms is returned unchanged.
 *
 * Decodes as `parsePaymentRequired` does, and so loads the package's module for the first 402 that a client cannot read.
 * Reads at most a mebibyte of the body, for at most ten seconds, and only if the header does not suffice. If the module
 * cannot be loaded, that 402 rejects with a `ModuleUnavailableError`.
 * @throws {TypeError} `fetch` is not a function
 */
export function withReadable402<Fetch extends (input: any, init?: any) => Promise<Response>>(fetch: Fetch): Fetch;
