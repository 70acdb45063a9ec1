/**
 * payroute chooses which offer of an HTTP 402 (x402) to pay: it looks at what the buyer really
 * holds, over RPC endpoints that it does not trust, ranks the offers and says why. It never signs,
 * pays or bridges.
 */

/** A network: a CAIP-2 id such as `eip155:8453`, or a known name such as `base` or `solana`. */
export type NetworkName = string;

/** Atomic units in decimal digits, as x402 writes amounts: `"50000"` is 0.05 USDC. */
export type AtomicAmount = string;

/** The configuration. Every field is optional; built-in networks, assets and endpoints apply. */
export interface Config {
  /** The buyer's addresses, by `eip155`, `solana` or a single network. */
  readonly owners?: Readonly<Record<NetworkName, string>>;
  /** Networks to add, and built-in ones to override field by field. */
  readonly networks?: Readonly<Record<NetworkName, NetworkConfig>>;
  /** Preferences and limits of asking. */
  readonly routing?: RoutingConfig;
  /** What is refused whatever the buyer holds. */
  readonly policy?: PolicyConfig;
  /** What paying on a network costs besides the price, in atomic units of the asset. */
  readonly fees?: Readonly<Record<NetworkName, AtomicAmount>>;
  /** How endpoints win and lose trust. */
  readonly health?: HealthSettings;
  /** How much of a merchant's answer is read. */
  readonly limits?: Limits;
}

/** One network of the configuration. */
export interface NetworkConfig {
  /** A name for people. */
  readonly name?: string;
  /** Solana: the cluster's whole genesis hash. */
  readonly genesisHash?: string;
  /** Endpoints, in the order in which they are asked. */
  readonly rpc?: readonly Endpoint[];
  /** An endpoint that is asked for the chain's time alone, to tell lag. */
  readonly referenceUrl?: string;
  /** Tokens to add to the built-in ones. */
  readonly assets?: readonly AssetConfig[];
  /** How endpoints are chosen among; `ordered` where it is not given. */
  readonly strategy?: Strategy;
}

/**
 * How the endpoints of a network are chosen among: in order; the highest score first; by chance in
 * shares of weight times score; two at once; or a second one when the first takes unusually long.
 */
export type Strategy = "ordered" | "best-score" | "weighted" | "race" | "hedged";

/**
 * Where a network is read: a URL, a provider, or a function. All of them go through the same
 * identity check, budget and health.
 */
export type Endpoint = string | UrlEndpoint | ProviderEndpoint | RpcFunction;

/** How an endpoint is listed, whatever it is. */
export interface EndpointOptions {
  /** A name for people; shown instead of a generated one for providers. */
  readonly label?: string;
  /** Endpoints of a lower number are asked first; 0 where it is not given. */
  readonly priority?: number;
  /** The share of the traffic under a weighted strategy, 1 to 1000. */
  readonly weight?: number;
  /** Requests that it may have under way at once; any number where it is not given. */
  readonly maxInFlight?: number;
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
 * Takes a JSON-RPC body, often a batch, and resolves to the text of the answer. A rejection counts
 * as an endpoint that cannot be reached. The signal aborts when nobody waits any more.
 */
export type RpcFunction = (body: string, options: { readonly signal: AbortSignal }) => Promise<string> | string;

/** A token of a network. A known token is overridden field by field. */
export interface AssetConfig {
  /** The contract, or the mint. */
  readonly address: string;
  /** The symbol; needed unless the token is built in. */
  readonly symbol?: string;
  /** The decimals; needed unless the token is built in. */
  readonly decimals?: number;
  /** The name in the token's EIP-712 domain. */
  readonly name?: string;
  /** The version in the token's EIP-712 domain. */
  readonly version?: string;
  /** Solana: the program that owns the mint. */
  readonly program?: "token" | "token-2022";
}

/** Preferences and limits of asking. */
export interface RoutingConfig {
  /** Networks, most wanted first: a tie-break among offers that can be paid, never a filter. */
  readonly preferNetworks?: readonly NetworkName[];
  /** Milliseconds that one provider is given, 1 to 30000; 600 where it is not given. */
  readonly probeTimeoutMs?: number;
  /** Providers asked per network and selection, 1 or 2; 2 where it is not given. */
  readonly maxProvidersPerNetwork?: number;
  /** The seed of the weighted strategy: the same one draws the same shares again. */
  readonly seed?: number;
  /** Whether `http` is accepted outside loopback. */
  readonly allowHttp?: boolean;
  /** Whether a balance that is too low is read once more where that could change the route; on. */
  readonly secondOpinion?: boolean;
}

/** What is refused whatever the buyer holds. */
export interface PolicyConfig {
  /** The only networks to pay on; empty for all. */
  readonly allowedNetworks?: readonly NetworkName[];
  /** The only assets to pay with, by symbol or CAIP-19 id; empty for all. */
  readonly allowedAssets?: readonly string[];
  /** The highest price per asset, in token units: `{ USDC: "1.50" }`. */
  readonly maxAmount?: Readonly<Record<string, string>>;
}

/** How quickly endpoints win and lose trust. */
export interface HealthSettings {
  /** Weight of the newest observation in the averages; 0.2. */
  readonly ewmaAlpha?: number;
  /** Observations that the failure share is taken over; 20. */
  readonly failureWindow?: number;
  /** Failures in a row that open a circuit; 5. */
  readonly consecutiveFailures?: number;
  /** Share of failures that opens a circuit, in percent; 50. */
  readonly failurePercent?: number;
  /** Observations before the share counts; 10. */
  readonly minimumSamples?: number;
  /** Milliseconds that a circuit stays open; 30000. */
  readonly openForMs?: number;
  /** Milliseconds that an endpoint is passed over after a fault, doubling; 2000. */
  readonly backoffMs?: number;
  /** The most milliseconds that passing over grows to; 30000. */
  readonly backoffLimitMs?: number;
  /** The latency at which the full latency penalty applies, in milliseconds; 600. */
  readonly slowMs?: number;
  /** Endpoints remembered; 128. */
  readonly capacity?: number;
  /** Milliseconds after which an unused endpoint is forgotten; 1800000. */
  readonly idleRetentionMs?: number;
}

/** How much of a merchant's answer is read. */
export interface Limits {
  /** Bytes of a header's value; 65536. */
  readonly headerBytes?: number;
  /** Bytes of a body; 1048576. */
  readonly bodyBytes?: number;
  /** Nesting of JSON; 32. */
  readonly jsonDepth?: number;
  /** Entries of `accepts`; 64. */
  readonly requirements?: number;
}

/** One offer of a merchant as it arrives. Its fields are the merchant's and are not trusted. */
export interface PaymentRequirement {
  /** The payment scheme, for example `exact`. */
  readonly scheme: string;
  /** The network, as the merchant names it. */
  readonly network: string;
  /** The token's address, or a currency code. */
  readonly asset: string;
  /** The recipient. */
  readonly payTo: string;
  /** Seconds that the payment may live. */
  readonly maxTimeoutSeconds: number;
  /** The price in version 2. */
  readonly amount?: AtomicAmount;
  /** The price in version 1. */
  readonly maxAmountRequired?: AtomicAmount;
  /** Terms of the scheme. */
  readonly extra?: Readonly<Record<string, unknown>> | null;
}

/** A 402's terms as an object, version 1 or 2. */
export interface PaymentRequired<Requirement extends object = object> {
  /** What is offered. */
  readonly accepts: readonly Requirement[];
  /** What the server takes besides, by name. A sponsor of approvals lets routes pay that could not. */
  readonly extensions?: Readonly<Record<string, unknown>> | null;
}

/** The parts of a fetch `Response` that are read. Its body stays unread for the caller. */
export interface ResponseLike {
  /** The headers. */
  readonly headers: { get(name: string): string | null };
  /** Whether the body was read already; then only headers are looked at. */
  readonly bodyUsed: boolean;
  /** The body. */
  readonly body?: ReadableStream<Uint8Array> | null;
  /** A second view of the response. */
  clone(): ResponseLike;
  /** The whole body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where an endpoint stands: in use, tried once, or left alone. */
export type Circuit = "closed" | "half-open" | "open";

/** Why an offer cannot be paid. */
export type RejectionReason =
  | "no-owner"
  | "malformed-requirement"
  | "network-unknown"
  | "network-not-allowed"
  | "scheme-unsupported"
  | "transfer-method-unsupported"
  | "asset-unsupported"
  | "asset-not-allowed"
  | "amount-over-limit"
  | "insufficient-balance"
  | "balance-unavailable"
  | "chain-identity-mismatch"
  | "allowance-required"
  | "account-frozen"
  | "account-blocked"
  | "token-paused"
  | "domain-missing"
  | "domain-mismatch"
  | "fee-payer-missing"
  | "recipient-account-missing"
  | "asset-not-contract"
  | "deposit-required";

/** A key of the ranking, in the order in which they decide. */
export type DecidingKey = "viability" | "circuit" | "preference" | "fee" | "score" | "latency" | "index";

/** A remark that does not change viability. */
export type Note =
  | "version-coerced"
  | "carrier-body"
  | "non-canonical-network"
  | "domain-unchecked"
  | "identity-separate"
  | "offline"
  | "owner-has-code"
  | "transfer-fee"
  | "balances-disagree"
  | "eip2612-sponsored"
  | "erc20-approval-sponsored"
  | "v1-ambiguous";

/** One offer, as the buyer stands towards it. A plain object. */
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
  /** What must be deposited, for schemes that pay out of a deposit; it, not the price, must be there. */
  readonly deposit?: AtomicAmount;
  /** What Permit2 may spend of the balance; absent when it was not read. */
  readonly allowance?: AtomicAmount;
  /** What the buyer would have to send first; there exactly with `allowance-required`. */
  readonly approval?: Approval;
  /** How much of the balance other payments hold; absent where none do. */
  readonly held?: AtomicAmount;
  /** What paying here costs besides the price. */
  readonly fee: AtomicAmount;
  /** Health of the endpoint that was asked, 0 to 1. */
  readonly healthScore: number;
  /** Its average latency; absent when unmeasured. */
  readonly latencyMs?: number;
  /** How far its chain lies behind the others of its network; absent where nobody knows. */
  readonly lagMs?: number;
  /** Its circuit when it was asked. */
  readonly circuit: Circuit;
  /** Its host, or its label. */
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
  /** Its exact JSON text. */
  readonly requirementJson: string;
  /** Every offer, best first. */
  readonly candidates: readonly Candidate[];
  /** The ranking as text for people, one line an offer. */
  explain(): string;
  /**
   * Holds the price of the chosen offer, or the deposit of schemes that pay out of one, so that no other
   * selection of this selector spends it as well. To be called once a payment, before it is made:
   * `await using hold = selection.hold()`.
   * @throws {HeldElsewhereError} other payments took what this one needs since the balance was read
   * @throws {TooManyHoldsError} too many payments are under way
   */
  hold(): Hold;
}

/**
 * A payment under way: while it lives, other selections of its selector count its amount as spent. It
 * ends once, by whichever comes first: a method, `using`, the offer's `maxTimeoutSeconds` (an hour at
 * most), or, for one that was lost, the garbage collector.
 */
export interface Hold extends DisposedSync, DisposedAsync {
  /**
   * The payment was made, or was sent and nobody knows. Its amount counts until a balance shows it, or
   * until the hold would have expired: an endpoint may lag behind the merchant's word.
   */
  settled(): void;
  /** The payment was not made and will not be: its amount is free at once. */
  failed(): void;
  /** The same, for a payment that was not even tried. Also what the end of a `using` scope does. */
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
   * Hears of failovers, throttling and circuits as they happen, in order. What it throws, or rejects with,
   * changes no selection and ends no process: it goes to `reportError` in pages and workers, and to
   * `console.error` in Node, Deno and Bun.
   */
  readonly onEvent?: ((event: SelectorEvent) => unknown) | undefined;
}

/** What kind of failure an endpoint showed. */
export type FailureClass =
  | "rate-limited"
  | "quota"
  | "client-error"
  | "behind"
  | "unsupported"
  | "auth"
  | "fault"
  | "soft-fault"
  | "reverted"
  | "identity";

/** Why a circuit opened. */
export type Opening = "consecutive-failures" | "failure-rate" | "trial-failed" | "wrong-chain";

/** Something that happened to an endpoint. Edges only: told when it changes, never while it lasts. */
export type SelectorEvent =
  | { readonly type: "failover"; readonly network: string; readonly from: string; readonly to: string }
  | { readonly type: "failed"; readonly network: string; readonly endpoint: string; readonly class: FailureClass }
  | { readonly type: "throttled"; readonly network: string; readonly endpoint: string }
  | { readonly type: "identity-mismatch"; readonly network: string; readonly endpoint: string }
  | { readonly type: "balances-disagree"; readonly network: string; readonly lower: string; readonly higher: string }
  | { readonly type: "circuit-opened"; readonly network: string; readonly endpoint: string; readonly reason: Opening }
  | { readonly type: "circuit-half-open"; readonly network: string; readonly endpoint: string }
  | { readonly type: "circuit-closed"; readonly network: string; readonly endpoint: string }
  | { readonly type: "offline" };

/** A configured endpoint, as far as it may be shown. */
export interface EndpointInfo {
  /** The network as CAIP-2 id. */
  readonly network: string;
  /** Its host, or its label. */
  readonly endpoint: string;
  /** 32 hexadecimal digits that tell endpoints of one host apart. */
  readonly id: string;
}

/** Counts of one endpoint since its selector was made; a health reset leaves them. */
export interface EndpointMetrics extends EndpointInfo {
  /** Attempts that were started; those that were cancelled neither succeed nor fail. */
  readonly attempts: number;
  /** Attempts under way. */
  readonly inFlight: number;
  /** Attempts that told a balance. */
  readonly successes: number;
  /** Failed attempts by class; an attempt may fail in several ways. */
  readonly failures: { readonly [Class in FailureClass]?: number };
}

/** One endpoint's health at one moment. Holds nothing that is secret. */
export interface EndpointHealth extends EndpointInfo {
  /** The state of its circuit. */
  readonly circuit: Circuit;
  /** Why the circuit last opened, while it is not closed. */
  readonly openedFor?: Opening;
  /** Milliseconds until a trial is allowed, while the circuit is open. */
  readonly halfOpenInMs?: number;
  /** The score, 0 to 1. */
  readonly score: number;
  /** What the score is made of: `(success - latency - throttle - staleness) * multiplier`. */
  readonly scoreParts: {
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
  };
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
  /** The way of asking that it is known to take, where that is not the first. */
  readonly plan?: number;
}

/** Chooses which offer to pay. Made by {@link createSelector}; any number of selections may overlap. */
export interface Selector extends DisposedSync, DisposedAsync {
  /**
   * Asks the configured endpoints what the buyer holds, and ranks the offers.
   * @param paymentRequired the 402's terms as an object; `requirement` is one of its entries
   * @throws {PayrouteError} no offer can be paid; `code` and the subclass say why
   * @throws {ConfigurationError} an option is not accepted: `signal` is no `AbortSignal`, or a name is not known
   */
  select<Requirement extends object>(
    paymentRequired: PaymentRequired<Requirement> | readonly Requirement[],
    options?: SelectOptions | null,
  ): Promise<Selection<Requirement>>;
  /**
   * Asks the configured endpoints what the buyer holds, and ranks the offers.
   * @param paymentRequired the value of a `PAYMENT-REQUIRED` header, JSON text, or a `Response`
   * @throws {PayrouteError} no offer can be paid; `code` and the subclass say why
   * @throws {ConfigurationError} an option is not accepted: `signal` is no `AbortSignal`, or a name is not known
   */
  select(paymentRequired: string | ResponseLike, options?: SelectOptions | null): Promise<Selection>;
  /** Health as it stands: one record for every endpoint that something is known of. */
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
   * @throws {ConfigurationError} no endpoint of this selector has the id
   */
  cordon(id: string): void;
  /**
   * Puts an endpoint back into use.
   * @param id of the endpoint, as `endpoints()` has it
   * @throws {ConfigurationError} no endpoint of this selector has the id
   */
  uncordon(id: string): void;
  /** Health as versioned JSON, to be kept over a reload. Holds no URL. */
  snapshotHealth(): string;
  /**
   * Replaces what is known of endpoints by a snapshot.
   * @throws {ConfigurationError} the text is not a snapshot of a version that is read; nothing is changed then
   */
  restoreHealth(snapshot: string): void;
  /** Releases the selector's memory at once; otherwise it goes with the object. */
  free(): void;
}

/**
 * A selector for one buyer. Loads the WebAssembly module if that has not happened yet.
 * @throws {ConfigurationError} the configuration or an option is not accepted; `path` names the field
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
 * Ranks candidates anew, for what-if: a pure function of its arguments. Needs the module, which
 * {@link createSelector} or {@link init} have loaded.
 * @throws {ConfigurationError} a candidate or a network is none, or an option has another name
 */
export function rank(candidates: readonly Candidate[], options?: RankOptions | null): Candidate[];

/** A decoded 402. */
export interface ParsedPaymentRequired<Requirement = PaymentRequirement> {
  /** The protocol version, stated or inferred. */
  readonly x402Version: 1 | 2;
  /** Where the terms were found. */
  readonly carrier: Carrier;
  /** Remarks that hold for every entry. */
  readonly notes: readonly Note[];
  /** The names of the extensions that it advertises. */
  readonly extensions: readonly string[];
  /** Every entry, unreadable ones included. */
  readonly requirements: readonly ParsedRequirement<Requirement>[];
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
  /** What is wrong with it; absent where `terms` is there. */
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

/** A part of a response that terms are read from; `document` is one given without a response. */
export type Carrier = "header" | "body" | "legacy-header" | "requirements-header" | "document";

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
 */
export function parsePaymentRequired<Requirement extends object>(
  input: PaymentRequired<Requirement> | readonly Requirement[],
): Promise<ParsedPaymentRequired<Requirement>>;
/**
 * Decodes a 402 without asking anyone anything.
 * @throws {InvalidPaymentRequiredError} no entry can be read
 * @throws {UnsupportedVersionError} the version is neither 1 nor 2
 */
export function parsePaymentRequired(input: string | ResponseLike): Promise<ParsedPaymentRequired>;

/**
 * Another place to load the module from: a URL, a `Response`, bytes, or a `WebAssembly.Module`. Not
 * every host declares those types, so this names none of them.
 */
export type InitSource = string | object;

/**
 * Loads the WebAssembly module. Never needed, but lets an application choose when, and from where.
 * Calls share one load; after a failed one the next call tries again.
 * @throws {ModuleUnavailableError} it could not be loaded
 */
export function init(source?: InitSource): Promise<void>;

/** An amount as a bigint. */
export function amountToBigInt(amount: AtomicAmount): bigint;
/** An amount in token units, without trailing zeros: `formatAmount("50000", 6)` is `"0.05"`. */
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
  | "configuration"
  | "module-unavailable";

/**
 * Every error that this package makes. `instanceof` holds across its ES module and its CommonJS
 * module; so does `PayrouteError.is`.
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

/** Nothing offered can be paid by this configuration. */
export class NoSupportedRouteError extends PayrouteError {
  readonly code: "no-supported-route";
  /** Every offer, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** Everything payable was refused by the policy. */
export class RefusedByPolicyError extends PayrouteError {
  readonly code: "refused-by-policy";
  /** Every offer, with the reasons. */
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
  /** Every offer, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** Since the balance was read, other payments hold what this one needs. Select again: there may be another route. */
export class HeldElsewhereError extends PayrouteError {
  readonly code: "held-elsewhere";
  /** What is short because of other holds. */
  readonly deficit: Deficit;
  private constructor();
}

/** As many payments are held as are kept: 4,096, settled ones that have not expired included. */
export class TooManyHoldsError extends PayrouteError {
  readonly code: "too-many-holds";
  private constructor();
}

/** No balance could be read. Says nothing about the buyer's funds. */
export class BalancesUnavailableError extends PayrouteError {
  readonly code: "balances-unavailable";
  /** Every offer, with the reasons. */
  readonly candidates: readonly Candidate[];
  /** The offers as text for people. */
  explain(): string;
  private constructor();
}

/** The configuration, or an argument of a pure function, is not accepted. */
export class ConfigurationError extends PayrouteError {
  readonly code: "configuration";
  /** The field, for example `networks.base.rpc[0].url`. */
  readonly path: string;
  /** What is accepted there, if that can be said shortly. */
  readonly accepted: string | undefined;
  private constructor();
}

/** The WebAssembly module could not be loaded. `cause` is the host's own error. */
export class ModuleUnavailableError extends PayrouteError {
  readonly code: "module-unavailable";
  private constructor();
}
