/**
 * payroute inside the x402 clients that applications have already: `@x402/core` and what is built on
 * it, such as `@x402/fetch`.
 */

import type { Candidate, PaymentRequirement, Selection, Selector } from "payroute";

/** What a client's payment goes to, and what became of better offers. A plain, frozen object. */
export interface Route<Requirement = PaymentRequirement> {
  /**
   * The offer that was signed for: the merchant's own object, also where the client signed for a copy. Where no
   * offer that can be paid asks for what was signed, what the payment itself says; version 1 says nothing.
   */
  readonly requirement: Requirement | undefined;
  /** Its candidate; absent where a policy or a hook of the client signed for what no offer that can be paid asks for. */
  readonly candidate: Candidate | undefined;
  /**
   * Offers that rank higher and could be paid, best first: the client's spend controls, policies,
   * selector or hooks passed them over, or clients of the version cannot read them. Usually empty.
   */
  readonly passedOver: readonly Candidate[];
  /**
   * The candidate of an offer that was signed for first, where the payment lacked what a sponsor of approvals takes.
   * That signature went to nobody but the client's own hooks, and is not held. `undefined` as a rule.
   */
  readonly withheld: Candidate | undefined;
  /** The whole answer of the selector. */
  readonly selection: Selection<Requirement>;
}

/** Options of {@link routed}. */
export interface RoutedOptions {
  /**
   * Hands over the best offer alone: where the client refuses that one, the payment fails instead of
   * going to the next. `false` where it is not given.
   */
  readonly exclusive?: boolean | undefined;
  /**
   * Hears of every payment after it is signed and before it leaves; a promise is waited for, and an
   * error withholds the payment. Where it is not given, an offer passed over is told by
   * `console.warn`.
   */
  readonly onRoute?: ((route: Route) => void | PromiseLike<void>) | undefined;
}

/** As much of an `x402Client` or an `x402HTTPClient` as is used. */
export interface PayingClient {
  /** Chooses and signs. */
  createPaymentPayload(paymentRequired: any): Promise<any>;
}

/**
 * Makes a client pay what the selector chooses. It is handed every offer that can be paid, best first,
 * as the merchant's own objects; its own rules still apply, and `onRoute` tells where they passed a
 * better offer over.
 *
 * Left out, as long as another offer remains, is what the clients of @x402 cannot read in that version: a network
 * under a name that they do not know, a Solana cluster other than the public three, an EVM chain id over 2^53, a
 * price in the other version's field. A client that is handed one of those may throw whichever it would have paid.
 * A scheme of your own that can pay one is asked with `exclusive`, or where there is nothing else.
 *
 * Changes `client` itself and returns it, so that no reference to it pays unrouted. Errors of the
 * selector come out of `createPaymentPayload` as they are. `@x402/fetch` and `@x402/axios` turn
 * whatever comes out of that into a text: give them an `x402HTTPClient`, and the selector's reach
 * the application unchanged.
 *
 * The price of the best offer is held from its choice on ({@link Selection.hold}): payments made at once
 * do not count on the same money. What the client signs for, that offer or another, is held anew from its
 * signature on, before `onRoute` hears of it; if other payments took its money meanwhile, as they can while a
 * person takes long to confirm, the payment is withheld with a `HeldElsewhereError`. What was signed counts as
 * spent until a balance shows it, or until the offer's `maxTimeoutSeconds` are over, a day at most: so long the
 * merchant may cash it, whatever it answers.
 *
 * What a policy or a hook made up for itself is held as the offer of the same asset that is nearest to it in
 * price, one of the same scheme first, and for that offer's `maxTimeoutSeconds`, also where it may be cashed for
 * longer. Of an asset in which no offer can be paid nothing is known or held.
 *
 * An offer noted as `eip2612-sponsored` or `erc20-approval-sponsored` can be paid only with a permit or an approval
 * along, which official schemes leave out where they have neither an `rpcUrl` nor a signer that reads the chain. A
 * payment that lacks it does not leave, and the client is asked once more, for the offers among those handed over
 * that need no sponsor. The first payment was not sent, so that the second alone can be cashed and is held; hooks of
 * the client see both, and must not send one themselves. Where no such offer is left, or the second payment lacks it
 * too, it is an `UnsponsoredError`. Nothing else is a reason to sign twice: what the client throws ends the payment,
 * for a person's refusal looks like any other error.
 *
 * One 402 object is one request: a client that signs for it again, because a hook of its own says so,
 * signs for the same offer. Nothing is chosen again after a payment was made. Each signature counts by itself:
 * where the balance does not cover another, it is a `HeldElsewhereError`.
 * @throws {ConfigurationError} an argument is not what it should be, or the client is routed already, by itself or
 * inside an HTTP client
 */
export function routed<Client extends PayingClient>(client: Client, selector: Selector, options?: RoutedOptions | null): Client;

/**
 * A `fetch` whose 402s stock clients can read: terms only in the body, in base64url, as bare JSON, in
 * an older header, or with the version as a text or missing are written into the `PAYMENT-REQUIRED`
 * header as clients expect them. No term is changed and the body stays unread. What is no 402, or is
 * readable already, or is nothing at all, is the very `Response` that `fetch` gave.
 *
 * Reads at most a mebibyte of body, for at most ten seconds, and only where the header does not do.
 */
export function withReadable402<Fetch extends (input: any, init?: any) => Promise<Response>>(fetch: Fetch): Fetch;
