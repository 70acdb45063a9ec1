/**
 * payroute chooses which offer of an HTTP 402 (x402) to pay: it asks RPC endpoints, which it does not trust,
 * what the buyer really holds, ranks the offers and says why. It never signs, pays or bridges.
 */

/** A network: a CAIP-2 id such as `eip155:8453`, or a known name such as `base` or `solana`. */
export type NetworkName = string;

/** Atomic units in decimal digits, as x402 writes amounts: `"50000"` is 0.05 USDC. */
export type AtomicAmount = string;

/** The configuration. Every field is optional; built-in networks, assets and endpoints apply. */
export interface Config {
  /** The buyer's addresses, by `eip155`, `solana` or a single network. */
  readonly owners?: Readonly<Record<NetworkName, string>> | undefined;
  /** Networks to add, and built-in ones to override field by field. */
  readonly networks?: Readonly<Record<NetworkName, NetworkConfig>> | undefined;
  /** Preferences, and how endpoints are asked. */
  readonly routing?: RoutingConfig | undefined;
  /** What is refused, whatever the buyer holds. */
  readonly policy?: PolicyConfig | undefined;
  /** What paying on a network costs besides the price, in atomic units of the asset. For ranking only. */
  readonly fees?: Readonly<Record<NetworkName, AtomicAmount>> | undefined;
  /** How endpoints win and lose trust. */
  readonly health?: HealthSettings | undefined;
  /** How much of a merchant's answer is read. */
  readonly limits?: Limits | undefined;
}

/** One network of the configuration. */
export interface NetworkConfig {
  /** A name for people; the CAIP-2 id if it is not given. */
  readonly name?: string | undefined;
  /** Solana: the cluster's whole genesis hash. Without it only the 32 characters in the CAIP-2 id are compared. */
  readonly genesisHash?: string | undefined;
  /** Endpoints, 1 to 64, in the order in which `ordered` asks them. */
  readonly rpc?: readonly Endpoint[] | undefined;
  /** An endpoint that is asked only for the chain's time, to measure lag. */
  readonly referenceUrl?: string | undefined;
  /** Tokens to add to the built-in ones. */
  readonly assets?: readonly AssetConfig[] | undefined;
  /** How endpoints are chosen; default `ordered`. */
  readonly strategy?: Strategy | undefined;
}

/**
 * How the endpoints of a network are chosen: in order; the highest score first; at random by weight times score;
 * two at once; or a second one when the first takes unusually long.
 */
export type Strategy = "ordered" | "best-score" | "weighted" | "race" | "hedged";

/**
 * Where a network is read: a URL, a provider, or a function. All of them go through the same
 * identity check, budget and health.
 */
export type Endpoint = string | UrlEndpoint | ProviderEndpoint | RpcFunction;

/** How an endpoint is listed, whatever it is. */
export interface EndpointOptions {
  /** A name of your own. A provider is shown as it, instead of by a generated name; a URL is always shown as its host. */
  readonly label?: string | undefined;
  /** Endpoints with a lower number are asked first, 0 to 255; default 0. */
  readonly priority?: number | undefined;
  /** The share of the traffic under the strategy `weighted`, 1 to 1000; default 1. */
  readonly weight?: number | undefined;
  /** Attempts that it may have under way at once, at least 1; no limit by default. */
  readonly maxInFlight?: number | undefined;
}

/** An endpoint at a URL. `https`, or `http` on loopback. */
export interface UrlEndpoint extends EndpointOptions {
  /** The URL. Its path and query never appear in errors, candidates or events. */
  readonly url: string;
}

/** An endpoint that the application brings. */
export interface ProviderEndpoint extends EndpointOptions {
  /** An EIP-1193 provider, or a function. */
  readonly provider: Eip1193Provider | RpcFunction;
}

/**
 * A wallet's provider, as EIP-1193 defines it. Also a client or a provider of viem or ethers, whose methods are
 * narrower.
 */
export interface Eip1193Provider {
  /** Answers one JSON-RPC call, or throws an error with a `code`. `params` are a list, where there are any. */
  request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
}

/**
 * Takes a JSON-RPC body, which may be a batch, and resolves to the text of the answer. A rejection counts
 * as an endpoint that cannot be reached. The signal aborts when nobody waits any more.
 *
 * A bug in the function looks the same: what it throws, even a `ReferenceError`, is reported as a failed connection,
 * or as `offline` if nothing else could be reached either; a result that is not JSON-RPC text (an object,
 * `undefined`) as an endpoint's bad answer. payroute logs none of it, since it may hold a key: to see it, catch, log
 * and rethrow in your function.
 */
export type RpcFunction = (body: string, options: { readonly signal: AbortSignal }) => Promise<string> | string;

/** A token of a network. Of a token that is built in, the given fields are overridden. */
export interface AssetConfig {
  /** The contract, or the mint. */
  readonly address: string;
  /** The symbol; needed unless the token is built in. */
  readonly symbol?: string | undefined;
  /** The decimals; needed unless the token is built in. */
  readonly decimals?: number | undefined;
  /** The name in the token's EIP-712 domain; with `version` or not at all. */
  readonly name?: string | undefined;
  /** The version in the token's EIP-712 domain; with `name` or not at all. */
  readonly version?: string | undefined;
  /** Solana: the program that owns the mint. */
  readonly program?: "token" | "token-2022" | undefined;
}

/** Preferences, and how endpoints are asked. */
export interface RoutingConfig {
  /** Networks, most preferred first: a tie-break among offers that can be paid, never a filter. */
  readonly preferNetworks?: readonly NetworkName[] | undefined;
  /** Milliseconds that one endpoint is given, 1 to 30000; default 600. */
  readonly probeTimeoutMs?: number | undefined;
  /** Endpoints asked per network and selection, 1 or 2; default 2. */
  readonly maxEndpointsPerNetwork?: number | undefined;
  /** The seed of the strategy `weighted`: the same seed makes the same draws. Random by default. */
  readonly seed?: number | undefined;
  /** Whether `http` is accepted outside loopback; default false. */
  readonly allowHttp?: boolean | undefined;
  /** Whether a balance that is too low is read once more where that could change the route; default true. */
  readonly secondOpinion?: boolean | undefined;
}

/** What is refused, whatever the buyer holds. */
export interface PolicyConfig {
  /** The only networks to pay on; empty for all. */
  readonly allowedNetworks?: readonly NetworkName[] | undefined;
  /** The only assets to pay with, by symbol or CAIP-19 id; empty for all. */
  readonly allowedAssets?: readonly string[] | undefined;
  /**
   * The highest price per asset, by symbol or CAIP-19 id, in token units: `{ USDC: "1.50" }`. Should equal your x402
   * client's own cap: a deposit of `batch-settlement` is at most five times either.
   */
  readonly maxAmount?: Readonly<Record<string, string>> | undefined;
}

/** How quickly endpoints win and lose trust. Whole numbers, but for `ewmaAlpha`. */
export interface HealthSettings {
  /** Weight of the newest observation in the averages, above 0 and at most 1; default 0.2. */
  readonly ewmaAlpha?: number | undefined;
  /** Observations that the failure share is taken over, 1 to 64; default 20. */
  readonly failureWindow?: number | undefined;
  /** Failures in a row that open a circuit, at least 1; default 5. */
  readonly consecutiveFailures?: number | undefined;
  /** Share of failures that opens a circuit, 1 to 100 percent; default 50. */
  readonly failurePercent?: number | undefined;
  /** Observations before the share counts, 1 to `failureWindow`; default 10. */
  readonly minimumSamples?: number | undefined;
  /** Milliseconds that a circuit stays open, at least 1; default 30000. */
  readonly openForMs?: number | undefined;
  /** Milliseconds that an endpoint is passed over after a fault, doubled by each further one, from 0; default 2000. */
  readonly backoffMs?: number | undefined;
  /** The most that `backoffMs` grows to, from 0; default 30000. */
  readonly backoffLimitMs?: number | undefined;
  /** Average latency at which the full latency penalty applies, in milliseconds, at least 1; default 600. */
  readonly slowMs?: number | undefined;
  /** Endpoints remembered, 1 to 65536; default 128. */
  readonly capacity?: number | undefined;
  /** Milliseconds after which an unused endpoint is forgotten, at least `openForMs`; default 1800000. */
  readonly idleRetentionMs?: number | undefined;
}

/** How much of a merchant's answer is read. */
export interface Limits {
  /** Bytes of a header's value, 1 to 1048576; default 65536. */
  readonly headerBytes?: number | undefined;
  /** Bytes of a body, 1 to 16777216; default 1048576. */
  readonly bodyBytes?: number | undefined;
  /** Nesting of JSON, 1 to 120; default 32. */
  readonly jsonDepth?: number | undefined;
  /** Entries of `accepts`, 1 to 1024; default 64. */
  readonly requirements?: number | undefined;
}

/** One offer as the merchant wrote it. Its fields are not trusted. */
export interface PaymentRequirement {
  /** The payment scheme, for example `exact`. */
  readonly scheme: string;
  /** The network, as the merchant names it. */
  readonly network: string;
  /** The token's address, or a currency code. */
  readonly asset: string;
  /** The recipient. */
  readonly payTo: string;
  /**
   * Seconds that the payment may live. payroute does not check that they suffice: on EVM chains the official facilitator
   * refuses less than 6.
   */
  readonly maxTimeoutSeconds: number;
  /** The price in version 2. */
  readonly amount?: AtomicAmount;
  /** The price in version 1. */
  readonly maxAmountRequired?: AtomicAmount;
  /** Further terms of the scheme. */
  readonly extra?: Readonly<Record<string, unknown>> | null;
}

/** A 402's terms as an object, version 1 or 2. */
export interface PaymentRequired<Requirement extends object = object> {
  /** What is offered. */
  readonly accepts: readonly Requirement[];
  /** Extensions that the server offers, by name. One that sponsors approvals makes routes payable that would not be. */
  readonly extensions?: Readonly<Record<string, unknown>> | null;
}

/**
 * The parts of a fetch `Response` that are read. Its body stays unread for the caller: a clone is read, only if the
 * `PAYMENT-REQUIRED` header does not suffice, and for at most ten seconds; what came by then is judged.
 */
export interface ResponseLike {
  /** The headers. */
  readonly headers: { get(name: string): string | null };
  /** Whether the body was read already; then only the headers are looked at. */
  readonly bodyUsed: boolean;
  /** The body. */
  readonly body?: ReadableStream<Uint8Array> | null;
  /** A clone, whose body is read instead. */
  clone(): ResponseLike;
  /** The whole body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The state of an endpoint's circuit: in use, tried once, or left alone. */
export type Circuit = "closed" | "half-open" | "open";

/** Why an offer cannot be paid. */
export type RejectionReason =
  /** No owner address is configured for the network. */
  | "no-owner"
  /** The entry cannot be paid as written. */
  | "malformed-requirement"
  /** The network is neither built in nor configured, or has no endpoint. */
  | "network-unknown"
  /** `policy.allowedNetworks` does not list the network. */
  | "network-not-allowed"
  /** The scheme is not one that payroute can judge. */
  | "scheme-unsupported"
  /**
   * The way the token would move is not one that payroute can judge, or the token or the recipient's account does
   * not take it.
   */
  | "transfer-method-unsupported"
  /** The asset is neither built in nor configured; it is never queried. */
  | "asset-unsupported"
  /** `policy.allowedAssets` does not list the asset. */
  | "asset-not-allowed"
  /** The price is over `policy.maxAmount`. */
  | "amount-over-limit"
  /** The balance was read and is below the price. */
  | "insufficient-balance"
  /** The balance could not be read. Says nothing about the buyer's funds. */
  | "balance-unavailable"
  /** Every endpoint that answered serves another chain. */
  | "chain-identity-mismatch"
  /** Permit2's allowance is below what is due; the candidate's `approval` is what to send first. */
  | "allowance-required"
  /** The buyer's or the recipient's token account is frozen. */
  | "account-frozen"
  /** The token refuses the buyer's address. */
  | "account-blocked"
  /** The token is paused. */
  | "token-paused"
  /** `extra.name` or `extra.version`, which the signature needs, is missing. */
  | "domain-missing"
  /** The token's signing domain is not the one that the offer states. */
  | "domain-mismatch"
  /** `extra.feePayer` is missing, is no address, or is the buyer. */
  | "fee-payer-missing"
  /** The recipient has no token account to receive into. */
  | "recipient-account-missing"
  /** There is no contract at the asset's address. */
  | "asset-not-contract"
  /** The scheme pays out of a deposit, and the balance is below what must be deposited. */
  | "deposit-required";

/** A key of the ranking, in the order in which they decide. */
export type DecidingKey =
  /** It cannot be paid and the winner can. */
  | "viability"
  /** Its endpoint's circuit was open, the winner's was not. */
  | "circuit"
  /** Its network comes later in `preferNetworks`, or is not in it. */
  | "preference"
  /** Paying there costs more. */
  | "fee"
  /** Its endpoint's health is lower. */
  | "score"
  /** Its endpoint is slower on average. */
  | "latency"
  /** It comes later in the merchant's list. */
  | "index";

/** A remark that does not change viability. */
export type Note =
  /** The protocol version was missing or not written as a number; it was inferred. */
  | "version-coerced"
  /** Version 2 terms were found in the body instead of the header; stock clients may not read them. */
  | "carrier-body"
  /** The network is not named as its protocol version names it; some servers and clients will not recognize it. */
  | "non-canonical-network"
  /** The token's signing domain was not compared with the chain, and no built-in row confirms it. */
  | "domain-unchecked"
  /**
   * The endpoint returned the balance, but refused something that may keep a payment from settling: whether the token
   * is paused, blocks the buyer, knows of EIP-3009 authorizations or has another signing domain, or whether there is
   * code at the buyer's address.
   */
  | "facts-unread"
  /** The proof of the chain came in another answer of the same endpoint, not in the same answer as the balance. */
  | "identity-separate"
  /** No endpoint of any network could be reached: this device is probably offline. */
  | "offline"
  /**
   * There is code at the buyer's address, a contract's or one that it delegates to (EIP-7702): the token will ask
   * that code about the signature (ERC-1271), and some servers refuse such buyers.
   */
  | "owner-has-code"
  /** Solana: the token keeps a fee of every transfer; the recipient gets less than is paid, by `transferFee`. */
  | "transfer-fee"
  /** Two endpoints of the network report different balances; the higher one is taken. */
  | "balances-disagree"
  /**
   * The allowance is too low, but the server takes an EIP-2612 permit along with the payment
   * (`eip2612GasSponsoring`), and the token takes those.
   */
  | "eip2612-sponsored"
  /**
   * The allowance is zero, but the server takes a signed approval along with the payment
   * (`erc20ApprovalGasSponsoring`): the buyer's signer must be able to sign a raw transaction.
   */
  | "erc20-approval-sponsored"
  /** An earlier version 1 entry has the same scheme and network: the server may take the payment for that one. */
  | "v1-ambiguous";

/** One offer, and whether and why this buyer can pay it. A plain object. */
export interface Candidate {
  /** Position of the offer in the merchant's list, from 0. */
  readonly requirementIndex: number;
  /** Place in the ranking, from 1. */
  readonly rank: number;
  /** The network as CAIP-2 id; absent where it is not known. */
  readonly network?: string;
  /** The network's name for people. */
  readonly networkName?: string;
  /** The payment scheme. */
  readonly scheme?: string;
  /** The asset as CAIP-19 id; absent where it is not known. */
  readonly assetId?: string;
  /** The asset's symbol, never the merchant's word for it. */
  readonly symbol?: string;
  /** The asset's decimals, likewise. */
  readonly decimals?: number;
  /** The price. */
  readonly amount?: AtomicAmount;
  /** The buyer's address that would pay. */
  readonly owner?: string;
  /** What that address holds; absent when it could not be read, never 0 for unread. */
  readonly balance?: AtomicAmount;
  /** What must be deposited, for schemes that pay out of a deposit; the balance must cover it instead of the price. */
  readonly deposit?: AtomicAmount;
  /** What Permit2 may spend of the balance; absent when it was not read. */
  readonly allowance?: AtomicAmount;
  /** The transaction that the buyer would have to send first; present exactly with `allowance-required`. */
  readonly approval?: Approval;
  /** What the token itself keeps of the payment: the recipient gets that much less. Present with the note `transfer-fee`. */
  readonly transferFee?: AtomicAmount;
  /** How much of the balance other payments hold; absent if none do. */
  readonly held?: AtomicAmount;
  /** What paying here costs besides the price. */
  readonly fee: AtomicAmount;
  /** Health of the endpoint that was asked, 0 to 1; 0.8 if none was. */
  readonly healthScore: number;
  /** Its average latency; absent when unmeasured. */
  readonly latencyMs?: number;
  /**
   * How far its chain lies behind the others of its network; absent if unknown, as when two endpoints lie more
   * than ten minutes apart and there is no third.
   */
  readonly lagMs?: number;
  /** Its circuit when it was asked. */
  readonly circuit: Circuit;
  /** Its host; a provider's label. */
  readonly endpoint?: string;
  /** Whether the offer can be paid. */
  readonly viable: boolean;
  /** Why it cannot; empty exactly when `viable`. */
  readonly rejectionReasons: readonly RejectionReason[];
  /** Particulars of the reasons, for people. */
  readonly rejectionDetails?: Readonly<Partial<Record<RejectionReason, string>>>;
  /** The key that set it apart from the winner; absent on the winner. */
  readonly decidedBy?: DecidingKey;
  /** Remarks. */
  readonly notes: readonly Note[];
}

/**
 * A transaction from the candidate's `owner` on its `network`, to `token` with `calldata`, that gives a
 * spender an allowance of exactly what the payment needs. Some tokens refuse to change an allowance that
 * is not zero: where the candidate's `allowance` is above zero, those must be set to zero first.
 */
export interface Approval {
  /** The token's contract: where the transaction goes. */
  readonly token: string;
  /** Who may spend then: Permit2. */
  readonly spender: string;
  /** What it may spend. */
  readonly amount: AtomicAmount;
  /** The transaction's data: `approve(spender, amount)`, in hexadecimal. */
  readonly calldata: string;
}

/** How much is missing to pay one offer. */
export interface Deficit {
  /** Position of the offer in the merchant's list, from 0. */
  readonly requirementIndex: number;
  /** The network as CAIP-2 id. */
  readonly network: string;
  /** The network's name for people. */
  readonly networkName: string;
  /** The asset as CAIP-19 id. */
  readonly assetId: string;
  /** The asset's symbol. */
  readonly symbol: string;
  /** The asset's decimals. */
  readonly decimals: number;
  /** The price, or the deposit of schemes that pay out of one. */
  readonly required: AtomicAmount;
  /** The balance without what is held. */
  readonly available: AtomicAmount;
  /** How much of the balance other payments hold. */
  readonly held: AtomicAmount;
  /** `required - available`. */
  readonly shortfall: AtomicAmount;
  /**
   * All of it as a sentence: `0.03 USDC short on Base (needs 0.05, has 0.02)`, and `has 0.02 beside 0.04 held`
   * where other payments are under way.
   */
  readonly text: string;
}

/** The answer: which offer to pay, what comes next, and why. */
export interface Selection<Requirement = PaymentRequirement> {
  /** The offer to pay: the very object that was passed in, or the merchant's text, parsed. */
  readonly requirement: Requirement;
  /** Its position in the merchant's list, from 0. */
  readonly requirementIndex: number;
  /** Its exact JSON text, as the merchant sent it; of an object that was passed in, as it is written anew. */
  readonly requirementJson: string;
  /** Every offer, best first. */
  readonly candidates: readonly Candidate[];
  /** The ranking as text for people, one line per offer. */
  explain(): string;
  /**
   * Holds the price of the chosen offer, or the deposit of schemes that pay out of one, so that no other
   * selection of this selector spends it as well. Call it once per payment, before anything is signed:
   * `await using hold = selection.hold()`.
   * @throws {HeldElsewhereError} other payments took what this one needs since the balance was read
   * @throws {TooManyHoldsError} too many payments are under way
   */
  hold(): Hold;
  /**
   * The same for another candidate that can be paid, if you pay that one instead: because the signer does not know
   * the chosen network, for example.
   * @param requirementIndex of the candidate; `undefined`, as from a search that found none, is refused
   * @throws {HeldElsewhereError} other payments took what this one needs since the balance was read
   * @throws {TooManyHoldsError} too many payments are under way
   * @throws {TypeError} no candidate has that index, or it cannot be paid
   */
  hold(requirementIndex: number): Hold;
}

/**
 * A payment under way: while it lives, other selections of its selector count its amount as spent. It
 * ends once, by whichever comes first: a method, `using`, the offer's `maxTimeoutSeconds`, or, for one
 * that was lost, the garbage collector.
 */
export interface Hold extends DisposedSync, DisposedAsync {
  /**
   * The payment was made, or was sent with an unknown outcome. Its amount counts until a balance shows it, because an
   * endpoint may lag behind the merchant, but no longer than the hold would have lived: the offer's
   * `maxTimeoutSeconds` from when it was taken, a day at most. Of `upto`, where the amount is the server's choice, any
   * drop that no other payment explains counts as the payment. On a hold that has expired this does nothing.
   */
  settle(): void;
  /**
   * The payment was not made and will not be: its amount is free at once. The end of a `using` scope does this, unless
   * the hold was settled.
   */
  release(): void;
}

/** A well-known symbol, where the compiler's `lib` has it. */
type WellKnown<Name extends string> = typeof Symbol extends { readonly [Key in Name]: infer Known extends symbol } ? Known : never;

/** What `using` ends, where the compiler's `lib` has `Symbol.dispose`. */
export type DisposedSync = { [Key in WellKnown<"dispose">]: () => void };

/** What `await using` ends, where the compiler's `lib` has `Symbol.asyncDispose`. */
export type DisposedAsync = { [Key in WellKnown<"asyncDispose">]: () => Promise<void> };

/** Options of {@link Selector.select}. */
export interface SelectOptions {
  /** Ends the selection: it rejects with the signal's reason and its requests are aborted. */
  readonly signal?: AbortSignal | null | undefined;
}

/** Options of {@link createSelector}. */
export interface SelectorOptions {
  /** An index to share with other selectors; the `health` of the configuration then has no effect. */
  readonly health?: HealthIndex | undefined;
  /**
   * Called with failovers, throttling and circuits as they happen, in order. What it throws or rejects with changes
   * no selection and ends no process: it goes to `reportError` in pages and workers, and to `console.error` in
   * Node, Deno and Bun.
   */
  readonly onEvent?: ((event: SelectorEvent) => unknown) | undefined;
}

/** What kind of failure an endpoint showed. */
export type FailureClass =
  /** Too many requests for now. */
  | "rate-limited"
  /** A plan's allowance is used up. */
  | "quota"
  /** The request itself is at fault. */
  | "client-error"
  /** The node has not caught up. */
  | "behind"
  /** The endpoint does not offer this way of asking. */
  | "unsupported"
  /** The endpoint does not accept the credentials, or their absence. */
  | "auth"
  /** The endpoint failed, or could not be reached. */
  | "fault"
  /** The endpoint probably failed: its answer has no other explanation. */
  | "soft-fault"
  /** The call ran and reverted: a valid answer. */
  | "reverted"
  /** The endpoint serves another chain. */
  | "identity";

/** Why a circuit opened. */
export type OpenReason =
  /** Too many failures in a row. */
  | "consecutive-failures"
  /** Too large a share of failures lately. */
  | "failure-rate"
  /** The trial of a half-open circuit failed. */
  | "trial-failed"
  /** The endpoint answered for another chain. */
  | "wrong-chain";

/** A way of asking an endpoint. On EVM networks they are tried in this order; Solana has the last two. */
export type ReadPlan =
  /** One `eth_call` that creates nothing: identity, time and balances of one execution. */
  | "create"
  /** The same program through a state override. */
  | "override"
  /** Identity and balances in one JSON-RPC batch. */
  | "batch"
  /** One request each, at once. */
  | "single";

/**
 * Something that happened to an endpoint. A lasting state is reported when it begins and when it ends, a failed
 * attempt every time.
 */
export type SelectorEvent =
  /** A selection went on to another endpoint. */
  | {
      readonly type: "failover";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint that did not answer everything. */
      readonly from: string;
      /** The one asked next. */
      readonly to: string;
    }
  /** An endpoint did not answer as it should have; reported for every attempt. */
  | {
      readonly type: "failed";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint: its host; a provider's label. */
      readonly endpoint: string;
      /** What kind of failure it was. */
      readonly class: FailureClass;
    }
  /** An endpoint asked for patience. */
  | {
      readonly type: "throttled";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint: its host; a provider's label. */
      readonly endpoint: string;
    }
  /** An endpoint answered for another chain. */
  | {
      readonly type: "identity-mismatch";
      /** The network that it is configured for, as CAIP-2 id. */
      readonly network: string;
      /** The endpoint: its host; a provider's label. */
      readonly endpoint: string;
    }
  /** Two endpoints reported different balances of one account. */
  | {
      readonly type: "balances-disagree";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint that reported less. */
      readonly lower: string;
      /** The endpoint whose balance was taken. */
      readonly higher: string;
    }
  /** An endpoint is left alone for a while. */
  | {
      readonly type: "circuit-opened";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint: its host; a provider's label. */
      readonly endpoint: string;
      /** Why. */
      readonly reason: OpenReason;
    }
  /** An endpoint that was left alone is tried once. */
  | {
      readonly type: "circuit-half-open";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint: its host; a provider's label. */
      readonly endpoint: string;
    }
  /** An endpoint is in use again. */
  | {
      readonly type: "circuit-closed";
      /** The network as CAIP-2 id. */
      readonly network: string;
      /** The endpoint: its host; a provider's label. */
      readonly endpoint: string;
    }
  /** No endpoint of any network could be reached. */
  | {
      readonly type: "offline";
    };

/** A configured endpoint, as far as it may be shown. */
export interface EndpointInfo {
  /** The network as CAIP-2 id. */
  readonly network: string;
  /** Its host; a provider's label. */
  readonly endpoint: string;
  /**
   * 32 hexadecimal digits that tell endpoints of one host apart: a hash of the whole URL. A key of many random
   * characters cannot be found from it; a secret that can be guessed, such as a PIN as the password, can be, by trying.
   */
  readonly id: string;
}

/** Names an endpoint of a selector. An {@link EndpointInfo} does, and so does a {@link Candidate} that was read. */
export interface EndpointName {
  /** The network as CAIP-2 id. */
  readonly network?: string | undefined;
  /** Its host; a provider's label. */
  readonly endpoint?: string | undefined;
  /** Its {@link EndpointInfo.id}; needed where a network has several endpoints on one host. */
  readonly id?: string | undefined;
}

/** What became of a request of the application's own. */
export type Outcome =
  /** A usable answer of the right chain. */
  | {
      readonly type: "success";
      /** Milliseconds from the request's first byte to the answer's last. */
      readonly latencyMs: number;
    }
  /** The endpoint failed: it could not be reached, was too slow, or did not answer as it should have. */
  | { readonly type: "fault" }
  /** The endpoint asked for fewer requests. This is no fault. */
  | {
      readonly type: "throttled";
      /** Milliseconds that it asked to wait, if it said so. */
      readonly retryAfterMs?: number | undefined;
    }
  /** The endpoint answered for another chain; its circuit opens at once. */
  | { readonly type: "wrong-chain" }
  /** Nothing that says anything about the endpoint, such as a request that was cancelled. */
  | { readonly type: "neutral" };

/** Counts of one endpoint since its selector was made; a health reset leaves them. */
export interface EndpointMetrics extends EndpointInfo {
  /** Attempts that were started; those that were cancelled neither succeed nor fail. */
  readonly attempts: number;
  /** Attempts under way. */
  readonly inFlight: number;
  /** Attempts that returned a balance. */
  readonly successes: number;
  /** Failed attempts by class; an attempt may fail in several ways. */
  readonly failures: { readonly [Class in FailureClass]?: number };
}

/** One endpoint's health at one moment. Of a URL it holds only the host and the {@link EndpointInfo.id}. */
export interface EndpointHealth extends EndpointInfo {
  /** The state of its circuit. */
  readonly circuit: Circuit;
  /** Why the circuit last opened, while it is not closed. */
  readonly openedFor?: OpenReason;
  /** Milliseconds until a trial is allowed, while the circuit is open. */
  readonly halfOpenInMs?: number;
  /** The score, 0 to 1. */
  readonly score: number;
  /** What the score is made of. */
  readonly scoreParts: ScoreParts;
  /** Average latency in milliseconds; absent until measured. */
  readonly latencyMs?: number;
  /** Average share of successes, 0 to 1. */
  readonly successRate: number;
  /** Milliseconds behind the network's reference; absent where unknown. */
  readonly lagMs?: number;
  /** Milliseconds until it may be asked again after it asked for patience. */
  readonly throttledForMs?: number;
  /** Milliseconds that it is still passed over after a fault. */
  readonly backingOffForMs?: number;
  /** Whether it was taken out of use by hand. */
  readonly cordoned: boolean;
  /** Milliseconds since it was last used. */
  readonly idleForMs: number;
  /**
   * The way of asking that is tried first because it answered where others were refused or failed. Forgotten after an
   * hour, or a minute where one of the others failed; absent, the first is `create` on EVM networks and `batch` on
   * Solana.
   */
  readonly plan?: ReadPlan;
}

/** The parts of a score: `(success - latency - throttle - staleness) * multiplier`. */
export interface ScoreParts {
  /** Average share of successes. */
  readonly success: number;
  /** Taken off for slowness. */
  readonly latency: number;
  /** Taken off while throttled. */
  readonly throttle: number;
  /** Taken off for lag. */
  readonly staleness: number;
  /** What an open or half-open circuit leaves of it. */
  readonly multiplier: number;
}

/**
 * Chooses which offer to pay. Made by {@link createSelector}; any number of selections may overlap. Once it is freed,
 * every method but `free` fails with a `TypeError`.
 */
export interface Selector extends DisposedSync, DisposedAsync {
  /**
   * Asks the configured endpoints what the buyer holds, and ranks the offers.
   * @param paymentRequired the 402's terms as an object; `requirement` is one of its entries
   * @throws {PayrouteError} no offer can be paid; `code` and the subclass say why
   * @throws {TypeError} an argument is not accepted: `signal` is not an `AbortSignal`, or an option's name is not known
   */
  select<Requirement extends object>(
    paymentRequired: PaymentRequired<Requirement> | readonly Requirement[],
    options?: SelectOptions | null,
  ): Promise<Selection<Requirement>>;
  /**
   * Asks the configured endpoints what the buyer holds, and ranks the offers.
   * @param paymentRequired the value of a `PAYMENT-REQUIRED` header, JSON text, or a `Response`, whose body is read for
   * at most ten seconds
   * @throws {PayrouteError} no offer can be paid; `code` and the subclass say why
   * @throws {TypeError} an argument is not accepted: `signal` is not an `AbortSignal`, or an option's name is not known
   */
  select(paymentRequired: string | ResponseLike, options?: SelectOptions | null): Promise<Selection>;
  /** Current health: one record for every endpoint about which something is known. */
  health(): EndpointHealth[];
  /** Forgets what was observed of endpoints and closes their circuits; nothing else. */
  resetHealth(): void;
  /** Every configured endpoint, network by network, in configured order. */
  endpoints(): EndpointInfo[];
  /** Counts by endpoint and class since this selector was made. */
  metrics(): EndpointMetrics[];
  /**
   * Takes an endpoint out of use until `uncordon`; no recovery and no reset lifts that.
   * @param id of the endpoint, as `endpoints()` has it
   * @throws {TypeError} no endpoint of this selector has the id
   */
  cordon(id: string): void;
  /**
   * Puts an endpoint back into use.
   * @param id of the endpoint, as `endpoints()` has it
   * @throws {TypeError} no endpoint of this selector has the id
   */
  uncordon(id: string): void;
  /**
   * Records the outcome of traffic that the application itself sent to an endpoint, so that selections can go by it:
   * `selector.report(candidate, { type: "success", latencyMs: 80 })`.
   * @param endpoint its id, or its network and host, as `endpoints()` and candidates have them
   * @throws {TypeError} not exactly one endpoint of this selector is meant, or the outcome is not accepted
   */
  report(endpoint: string | EndpointName, outcome: Outcome): void;
  /** Health as versioned JSON, to keep over a reload. Of a URL it holds only the host and the {@link EndpointInfo.id}. */
  snapshotHealth(): string;
  /**
   * Replaces what is known about endpoints by a snapshot.
   * @throws {SnapshotError} the text is not a snapshot of a version that this package reads; nothing is changed then
   */
  restoreHealth(snapshot: string): void;
  /** Releases the selector's memory at once; otherwise it goes with the object. */
  free(): void;
}

/**
 * A selector for one buyer. Loads the WebAssembly module if that has not happened yet.
 * @throws {ConfigurationError} the configuration is not accepted; `path` names the field
 * @throws {TypeError} an option is not accepted
 * @throws {ModuleUnavailableError} the module could not be loaded; calling again tries again
 */
export function createSelector(config: Config, options?: SelectorOptions | null): Promise<Selector>;

/** What every endpoint did lately. Pass one to several selectors and they learn from each other. */
export class HealthIndex {
  /** @param settings as the `health` of a configuration; checked when the first selector uses it */
  constructor(settings?: HealthSettings);
  /** Forgets every observation and closes every circuit. */
  reset(): void;
}

/** Options of {@link rank}. */
export interface RankOptions {
  /** Networks, most wanted first. */
  readonly preferNetworks?: readonly NetworkName[] | null | undefined;
}

/**
 * Ranks candidates anew, for what-if: a pure function of its arguments. Needs the module to be loaded, by
 * {@link createSelector} or {@link init}.
 * @throws {TypeError} a candidate, a network or an option is not accepted
 * @throws {ModuleUnavailableError} the module is not loaded
 */
export function rank(candidates: readonly Candidate[], options?: RankOptions | null): Candidate[];

/** A version of the protocol. */
export type X402Version = 1 | 2;

/** A decoded 402. */
export interface ParsedPaymentRequired<Requirement = PaymentRequirement> {
  /** The protocol version, stated or inferred. */
  readonly x402Version: X402Version;
  /** Where the terms were found. */
  readonly carrier: Carrier;
  /** Remarks that hold for every entry. */
  readonly notes: readonly Note[];
  /** The names of the extensions that it advertises. */
  readonly extensions: readonly string[];
  /**
   * The exact JSON text of the whole document, with the `resource` and `extensions` that a version 2 payment repeats; of
   * an object that was passed in, as it is written anew.
   */
  readonly json: string;
  /** Every entry, unreadable ones included. */
  readonly requirements: readonly ParsedRequirement<Requirement>[];
}

/** Options of {@link parsePaymentRequired}. */
export interface ParseOptions {
  /** Ends the reading of a body: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | null | undefined;
}

/** One entry of a decoded 402. */
export interface ParsedRequirement<Requirement = PaymentRequirement> {
  /** Position in the merchant's list, from 0. */
  readonly index: number;
  /** The entry's exact JSON text. */
  readonly json: string;
  /** The entry: the very object that was passed in, or the text, parsed. */
  readonly requirement: Requirement;
  /** Remarks on this entry. */
  readonly notes: readonly Note[];
  /** What it offers; absent where it cannot be paid as written. */
  readonly terms?: Terms;
  /** What is wrong with it; absent if `terms` is present. */
  readonly malformed?: MalformedField;
}

/** What an entry offers, in one form for both versions. */
export interface Terms {
  /** The payment scheme. */
  readonly scheme: string;
  /** The network as CAIP-2 id; absent where its name is not known. */
  readonly network?: string;
  /** The price. */
  readonly amount: AtomicAmount;
  /** The token's address, or a currency code. */
  readonly asset: string;
  /** The recipient. */
  readonly payTo: string;
  /** Seconds that the payment may live. */
  readonly maxTimeoutSeconds: number;
}

/** Where terms are read from. */
export type Carrier =
  /** The `PAYMENT-REQUIRED` header: canonical for version 2. */
  | "header"
  /** The response body: canonical for version 1. */
  | "body"
  /** The `X-PAYMENT-REQUIRED` header of early servers. */
  | "legacy-header"
  /** The `X-PAYMENT-REQUIREMENTS` header, seen in the wild. */
  | "requirements-header"
  /** A document given without a response around it. */
  | "document";

/** A field that cannot be paid as written. */
export interface MalformedField {
  /** The field; `entry` for the entry as a whole. */
  readonly field: string;
  /** The problem, as the end of a sentence that starts with the field. */
  readonly problem: string;
}

/** What was wrong with one carrier. */
export interface CarrierFailure {
  /** The carrier. */
  readonly carrier: Carrier;
  /** The problem, as the end of a sentence that starts with the carrier. */
  readonly problem: string;
}

/**
 * Decodes a 402 without asking anyone anything.
 * @throws {InvalidPaymentRequiredError} no entry can be read
 * @throws {UnsupportedVersionError} the version is neither 1 nor 2
 * @throws {TypeError} the input is of another kind, or an option is not accepted
 */
export function parsePaymentRequired<Requirement extends object>(
  input: PaymentRequired<Requirement> | readonly Requirement[],
  options?: ParseOptions | null,
): Promise<ParsedPaymentRequired<Requirement>>;
/**
 * Decodes a 402 without asking anyone anything.
 * @throws {InvalidPaymentRequiredError} no entry can be read
 * @throws {UnsupportedVersionError} the version is neither 1 nor 2
 * @throws {TypeError} the input is of another kind, or an option is not accepted
 */
export function parsePaymentRequired(input: string | ResponseLike, options?: ParseOptions | null): Promise<ParsedPaymentRequired>;

/**
 * Where to load the module from: a URL, a `Response`, bytes, or a `WebAssembly.Module`. Not every host declares those
 * types, so they are not named here.
 */
export type InitSource = string | object;

/**
 * Loads the WebAssembly module. Never needed, but lets an application choose when, and from where.
 * Calls share one load; after a failed one the next call tries again.
 * @throws {ModuleUnavailableError} it could not be loaded
 */
export function init(source?: InitSource): Promise<void>;

/**
 * An amount as a bigint.
 * @throws {TypeError} the amount is not a string of 1 to 78 digits
 */
export function amountToBigInt(amount: AtomicAmount): bigint;
/**
 * An amount in token units, without trailing zeros: `formatAmount("50000", 6)` is `"0.05"`.
 * @throws {TypeError} the amount is neither a bigint nor a string of 1 to 78 digits
 * @throws {RangeError} the amount is negative, or `decimals` is not a whole number from 0 to 77
 */
export function formatAmount(amount: AtomicAmount | bigint, decimals: number): string;

/** The stable name of a kind of error. */
export type ErrorCode =
  | "invalid-payment-required"
  | "unsupported-version"
  | "no-supported-route"
  | "refused-by-policy"
  | "insufficient-liquidity"
  | "balances-unavailable"
  | "held-elsewhere"
  | "too-many-holds"
  | "unsponsored"
  | "configuration"
  | "invalid-snapshot"
  | "module-unavailable";

/**
 * Errors of selecting, holding, configuring and loading; an argument that is not accepted is a `TypeError`.
 * `instanceof` works across the package's ES module and CommonJS module; so does `PayrouteError.is`.
 */
export class PayrouteError extends Error {
  /** The kind of error. Decide by this or by class, never by message. */
  readonly code: ErrorCode;
  /** Whether `value` is an error of this class, from whichever copy of the package. */
  static is<Instance>(this: { readonly prototype: Instance }, value: unknown): value is Instance;
  protected constructor(message: string);
}

/** No offer could be read at all. */
export class InvalidPaymentRequiredError extends PayrouteError {
  readonly code: "invalid-payment-required";
  /** What was wrong with each part of the response that terms could have been in. */
  readonly carriers: readonly CarrierFailure[];
  /** Where a part had entries, but none readable: what was wrong with each. */
  readonly entries: readonly MalformedField[];
  private constructor();
}

/** The terms state an x402 version that is neither 1 nor 2. */
export class UnsupportedVersionError extends PayrouteError {
  readonly code: "unsupported-version";
  private constructor();
}

/**
 * Nothing offered can be paid by this configuration, or the chain was read and says no for another reason than
 * a balance: a frozen or blocked account, a paused token, another signing domain, a recipient without a token
 * account, a missing approval. `candidates` have the reasons.
 */
export class NoSupportedRouteError extends PayrouteError {
  readonly code: "no-supported-route";
  /** Every offer, ranked, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** Everything payable was refused by the policy. */
export class RefusedByPolicyError extends PayrouteError {
  readonly code: "refused-by-policy";
  /** Every offer, ranked, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** Balances were read and none suffices. */
export class InsufficientLiquidityError extends PayrouteError {
  readonly code: "insufficient-liquidity";
  /** What is short where, in the merchant's order. */
  readonly deficits: readonly Deficit[];
  /** Every offer, ranked, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** Since the balance was read, other payments hold what this one needs. Select again: there may be another route. */
export class HeldElsewhereError extends PayrouteError {
  readonly code: "held-elsewhere";
  /** What is short because of the other holds. */
  readonly deficit: Deficit;
  private constructor();
}

/** 4,096 payments are held already, counting settled ones that have not expired. */
export class TooManyHoldsError extends PayrouteError {
  readonly code: "too-many-holds";
  private constructor();
}

/**
 * From `routed()` of `payroute/x402`: the client signed for an offer that can be paid only together with a permit or
 * an approval, and left that out. The payment was withheld, and either no other offer that the client was given does
 * without, or the second payment lacked it too.
 */
export class UnsponsoredError extends PayrouteError {
  readonly code: "unsponsored";
  /** The offer that was signed for. */
  readonly candidate: Candidate;
  /** What the payment lacks, for example `extensions.eip2612GasSponsoring.info.signature`. */
  readonly missing: string;
  private constructor();
}

/** No balance could be read. Says nothing about the buyer's funds. */
export class BalancesUnavailableError extends PayrouteError {
  readonly code: "balances-unavailable";
  /** Every offer, ranked, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** The configuration is not accepted. Other arguments that are not accepted are a `TypeError`. */
export class ConfigurationError extends PayrouteError {
  readonly code: "configuration";
  /** The field, for example `networks.base.rpc[0].url`. */
  readonly path: string;
  /** What is accepted there, if it can be said briefly. */
  readonly accepted: string | undefined;
  private constructor();
}

/** A text that {@link Selector.restoreHealth} cannot restore. The message says what is wrong with it. */
export class SnapshotError extends PayrouteError {
  readonly code: "invalid-snapshot";
  private constructor();
}

/** The WebAssembly module could not be loaded. `cause` is the host's own error. */
export class ModuleUnavailableError extends PayrouteError {
  readonly code: "module-unavailable";
  private constructor();
}
