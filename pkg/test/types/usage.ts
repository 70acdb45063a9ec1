// Compiled, never run: what the types accept and what they refuse.

import {
  type Approval,
  type Candidate,
  type Config,
  type Deficit,
  type Eip1193Provider,
  HealthIndex,
  HeldElsewhereError,
  type Hold,
  InsufficientLiquidityError,
  type ParsedPaymentRequired,
  type PaymentRequirement,
  PayrouteError,
  type RejectionReason,
  type Selection,
  type Selector,
  type SelectorEvent,
  UnsponsoredError,
  amountToBigInt,
  createSelector,
  formatAmount,
  init,
  parsePaymentRequired,
  rank,
} from "payroute";
import { type Route, routed, withReadable402 } from "payroute/x402";

/** Whether two types are the same, not merely assignable. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function proves<_Claim extends true>(): void {}

declare const provider: Eip1193Provider;

/** `request` as viem's clients and providers declare it: by a schema of methods, generic over the call. */
type Schema = readonly [
  { Method: "eth_chainId"; Parameters?: undefined; ReturnType: `0x${string}` },
  { Method: "eth_call"; Parameters: readonly [transaction: { to: `0x${string}` }, block?: "latest"]; ReturnType: `0x${string}` },
  { Method: "wallet_watchAsset"; Parameters: { type: "ERC20" }; ReturnType: boolean },
];
type Call<Row> = Row extends { Method: infer Method; Parameters: infer Parameters }
  ? { method: Method; params: Parameters }
  : Row extends { Method: infer Method }
    ? { method: Method; params?: undefined }
    : never;
type Result<Method> = Extract<Schema[number], { Method: Method }>["ReturnType"];
interface ViemClient {
  request: <Asked extends Call<Schema[number]>, Answered = Result<Asked["method"]>>(
    call: Asked,
    options?: { dedupe?: boolean | undefined; retryCount?: number | undefined },
  ) => Promise<Answered>;
}

/** As EIP-1193 writes it, as ethers does, and as applications do by hand. */
interface Specified {
  request(args: { readonly method: string; readonly params?: readonly unknown[] | object }): Promise<unknown>;
}
interface OfEthers {
  request(request: { method: string; params?: Array<any> | Record<string, any> }): Promise<any>;
}
interface OfMetaMask {
  request<T>(args: { method: string; params?: unknown[] | Record<string, unknown> }): Promise<T | null | undefined>;
  on(event: string, listener: (...args: unknown[]) => void): this;
}
interface ByHand {
  request: (args: { method: string; params: unknown[] }) => Promise<string>;
}

export function providers(viem: ViemClient, specified: Specified, ethers: OfEthers, metaMask: OfMetaMask, hand: ByHand): Config {
  const accepted: Eip1193Provider[] = [viem, specified, ethers, metaMask, hand];
  const answer = accepted[0]!.request({ method: "eth_chainId" });
  proves<Same<typeof answer, Promise<unknown>>>();
  // @ts-expect-error a provider takes a call
  accepted.push({ request: async (method: string) => method });
  // @ts-expect-error and promises an answer
  accepted.push({ request: () => "0x1" });
  return { networks: { base: { rpc: accepted.map((provider) => ({ provider })) } } };
}

const config: Config = {
  owners: { eip155: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", solana: "…" },
  networks: {
    base: {
      rpc: ["https://rpc.example", { url: "https://rpc.example/2", priority: 1 }, { provider, label: "wallet" }],
      strategy: "hedged",
    },
    solana: { rpc: [async (body, { signal }) => (signal.aborted ? "" : body), (body: string) => Promise.resolve(body)] },
  },
  routing: { preferNetworks: ["base"] },
};

/** What is not set may be written down as such, as the runtime has it. */
const unset: Config = {
  fees: undefined,
  health: { slowMs: undefined },
  limits: { bodyBytes: undefined },
  networks: { base: { rpc: [{ url: "https://rpc.example", label: undefined }], assets: undefined } },
  owners: undefined,
  policy: { maxAmount: undefined },
  routing: { preferNetworks: undefined },
};

export async function use(response: Response, offers: { accepts: { scheme: string; mine: number }[] }): Promise<void> {
  await init(new URL("https://cdn.example/core.wasm"));
  const selector = await createSelector(config, { health: new HealthIndex(), onEvent: heard });
  await createSelector(unset, null);
  await selector.select(offers, { signal: null });
  const ours = await selector.select(offers, { signal: AbortSignal.timeout(1_000) });
  proves<Same<typeof ours, Selection<{ scheme: string; mine: number }>>>();
  proves<Same<typeof ours.requirement.mine, number>>();
  const theirs = await selector.select(response);
  proves<Same<typeof theirs.requirement, PaymentRequirement>>();
  const hold: Hold = theirs.hold();
  proves<Same<ReturnType<Hold["settle"]>, void>>();
  selector.report(theirs.candidates[0] ?? "0".repeat(32), { type: "success", latencyMs: 80 });
  for (const outcome of [{ type: "fault" }, { type: "throttled" }, { type: "wrong-chain" }] as const) selector.report(selector.endpoints()[0]!, outcome);
  // @ts-expect-error a success has a latency
  selector.report("id", { type: "success" });
  hold.release();
  const next = theirs.candidates.find(({ viable, network }) => viable && network === "eip155:8453");
  if (next) theirs.hold(next.requirementIndex).release();
  // @ts-expect-error nothing was found, perhaps
  theirs.hold(next?.requirementIndex);
  // @ts-expect-error an index, and no candidate
  theirs.hold(theirs.candidates[1]);
  const again = rank(theirs.candidates, { preferNetworks: ["solana"] });
  proves<Same<typeof again, Candidate[]>>();
  const parsed = await parsePaymentRequired("eyJ9", { signal: null });
  proves<Same<typeof parsed, ParsedPaymentRequired<PaymentRequirement>>>();
  proves<Same<Candidate["rejectionReasons"][number], RejectionReason>>();
  for (const { approval, allowance, deposit } of theirs.candidates) {
    proves<Same<typeof approval, Approval | undefined>>();
    approval?.calldata.startsWith("0x095ea7b3", Number(allowance ?? deposit ?? 0));
  }
  await selector.select({ ...offers, extensions: { eip2612GasSponsoring: { info: {} } } });
  const amount: bigint = amountToBigInt("1");
  const text: string = formatAmount(amount, 6);
  text.trim();

  // @ts-expect-error a number is no amount
  formatAmount(5, 6);
  // @ts-expect-error no such option
  await selector.select(offers, { sginal: undefined });
  // @ts-expect-error a number is no 402
  await selector.select(5);
  // @ts-expect-error no such strategy
  await createSelector({ networks: { base: { strategy: "fastest" } } });
  // @ts-expect-error a provider has a request method
  await createSelector({ networks: { base: { rpc: [{ provider: {} }] } } });
  // @ts-expect-error plain results are not to be written to
  ours.candidates[0]!.viable = true;
}

function heard(event: SelectorEvent): string {
  switch (event.type) {
    case "failover":
      return `${event.from} to ${event.to}`;
    case "offline":
      return event.type;
    case "balances-disagree":
      return event.lower;
    default:
      return event.endpoint;
  }
}

export function handle(error: unknown): readonly Deficit[] {
  if (InsufficientLiquidityError.is(error)) return error.deficits;
  if (error instanceof InsufficientLiquidityError) return error.deficits;
  if (HeldElsewhereError.is(error)) return [error.deficit];
  if (UnsponsoredError.is(error)) throw new Error(`${error.candidate.symbol}: ${error.missing}`);
  if (PayrouteError.is(error)) {
    proves<Same<typeof error, PayrouteError>>();
    // @ts-expect-error a code is one of a closed set
    if (error.code === "broke") return [];
  }
  // @ts-expect-error errors are made by the package alone
  return new InsufficientLiquidityError("x").deficits;
}

/** A client as @x402/core declares one, reduced to what matters to the types. */
declare class HostClient {
  private readonly policies: unknown[];
  register(network: `${string}:${string}`): this;
  createPaymentPayload(paymentRequired: { x402Version: number; accepts: PaymentRequirement[] }): Promise<{ x402Version: number }>;
}

export async function pays(selector: Selector): Promise<void> {
  const client = new HostClient();
  const onRoute = ({ requirement, candidate, passedOver, unsentCandidate, selection }: Route) => {
    proves<Same<typeof unsentCandidate, Candidate | undefined>>();
    proves<Same<typeof candidate, Candidate | undefined>>();
    proves<Same<typeof requirement, PaymentRequirement | undefined>>();
    if (passedOver.length > 0) throw new Error(`${requirement?.network}: ${selection.explain()}`);
  };
  const same = routed(client, selector, { exclusive: true, onRoute });
  proves<Same<typeof same, HostClient>>();
  routed(client, selector, { onRoute: async () => {} }).register("eip155:1");
  const read = withReadable402(fetch);
  proves<Same<typeof read, typeof fetch>>();
  // @ts-expect-error nothing to sign with
  routed({}, selector);
  // @ts-expect-error an option of another name
  routed(client, selector, { only: true });
  // @ts-expect-error no fetch
  withReadable402("fetch");
}
