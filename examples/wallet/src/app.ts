// What the page knows and does. No markup: `view/` draws a state, this changes it.

import {
  type Candidate,
  type Deficit,
  type EndpointHealth,
  HealthIndex,
  InsufficientLiquidityError,
  PayrouteError,
  type Selection,
  type Selector,
  type SelectorEvent,
  createSelector,
} from "payroute";
import { type Challenge, type Receipt, type Requirement, ask, buyerOf, pay } from "./payment";
import { type Mode, type World, type WorldEndpoint, fillPurse, switchMode, walletProvider } from "./world";

/** Sooner than the defaults, so that a circuit opens, counts down and closes while one watches. */
const HEALTH = { consecutiveFailures: 3, backoffMs: 500, backoffLimitMs: 2_000, openForMs: 10_000 };
const HEALTH_EVERY_MS = 250;
const SELECT_EVERY_MS = 1_000;
const MOST_EVENTS = 30;
const WALLET_NETWORK = "eip155:8453";

export interface State {
  readonly world: World;
  account: string | undefined;
  challenge: Challenge | undefined;
  /** Every route, best first; of the last look. */
  candidates: readonly Candidate[];
  deficits: readonly Deficit[];
  selection: Selection<Requirement> | undefined;
  receipt: Receipt | undefined;
  /** What is going on, or what went wrong, in a sentence. */
  status: string;
  busy: boolean;
  watching: boolean;
  prefer: string;
  health: readonly EndpointHealth[];
  events: readonly { readonly id: number; readonly event: SelectorEvent }[];
}

export class App {
  readonly state: State;
  readonly #draw: (app: App) => void;
  readonly #health = new HealthIndex(HEALTH);
  #selector: Selector | undefined;
  #looking = false;
  #eventCount = 0;

  constructor(world: World, draw: (app: App) => void) {
    this.#draw = draw;
    this.state = {
      world,
      account: undefined,
      challenge: undefined,
      candidates: [],
      deficits: [],
      selection: undefined,
      receipt: undefined,
      status: "Connect a wallet to begin.",
      busy: false,
      watching: false,
      prefer: "",
      health: [],
      events: [],
    };
    setInterval(() => this.#refreshHealth(), HEALTH_EVERY_MS);
    setInterval(() => void this.#watch(), SELECT_EVERY_MS);
  }

  async connect(): Promise<void> {
    await this.#doing("Connecting…", async () => {
      const accounts = (await walletProvider(WALLET_NETWORK).request({ method: "eth_requestAccounts" })) as string[];
      const account = accounts.find((one) => one.toLowerCase() === this.state.world.buyer.eip155.toLowerCase());
      if (account === undefined) throw new Error("the wallet has no account of the buyer's");
      this.state.account = account;
      await this.#remakeSelector();
      return "Connected. Ask the merchant for the article.";
    });
  }

  async ask(): Promise<void> {
    await this.#doing("Asking the merchant…", async () => {
      this.state.receipt = undefined;
      this.state.challenge = await ask(this.state.world.article);
      return this.#look();
    });
  }

  async pay(): Promise<void> {
    const { account, challenge, selection, world } = this.state;
    if (account === undefined || challenge === undefined || selection === undefined) return;
    await this.#doing("Paying…", async () => {
      const solana = world.endpoints.find(({ network }) => network.startsWith("solana:"));
      const buyer = await buyerOf(account, walletProvider(WALLET_NETWORK), solana?.url ?? "");
      // No other selection counts on the same money; once it was sent, not until a balance shows it.
      const hold = selection.hold();
      try {
        this.state.receipt = await pay(world.article, buyer, challenge, selection.requirement, () => hold.settle());
      } finally {
        hold.release();
      }
      this.state.challenge = undefined;
      this.state.selection = undefined;
      this.state.candidates = [];
      return "Paid. The merchant has answered.";
    });
  }

  async prefer(network: string): Promise<void> {
    this.state.prefer = network;
    await this.#doing("Ranking again…", async () => {
      await this.#remakeSelector();
      return this.#look();
    });
  }

  async setMode(endpoint: WorldEndpoint, mode: Mode): Promise<void> {
    await this.#doing("Switching…", async () => {
      await switchMode(endpoint, mode);
      return this.state.challenge === undefined ? "Switched. Ask the merchant to see what it changes." : this.#look();
    });
  }

  async fill(network: string, amount: string): Promise<void> {
    await this.#doing("Moving money…", async () => {
      await fillPurse(network, amount);
      return this.state.challenge === undefined ? "Done." : this.#look();
    });
  }

  resetHealth(): void {
    this.#selector?.resetHealth();
    this.#refreshHealth();
  }

  /** Looks again every second, as an agent that pays all day would. */
  watch(watching: boolean): void {
    this.state.watching = watching;
    this.#draw(this);
  }

  async #watch(): Promise<void> {
    if (!this.state.watching || this.state.busy || this.state.challenge === undefined) return;
    this.state.status = await this.#look();
    this.#draw(this);
  }

  /** One selection; the sentence that sums it up. */
  async #look(): Promise<string> {
    const { challenge } = this.state;
    if (challenge === undefined || this.#selector === undefined || this.#looking) return this.state.status;
    this.#looking = true;
    try {
      const selection = await this.#selector.select<Requirement>(challenge);
      this.#take(selection.candidates, [], selection);
      const [first] = selection.candidates;
      return `Pay on ${first?.networkName ?? first?.network}.`;
    } catch (error) {
      if (!(error instanceof PayrouteError)) throw error;
      const { candidates = [] } = error as { candidates?: readonly Candidate[] };
      this.#take(candidates, error instanceof InsufficientLiquidityError ? error.deficits : [], undefined);
      return sentenceOf(error);
    } finally {
      this.#looking = false;
    }
  }

  #take(candidates: readonly Candidate[], deficits: readonly Deficit[], selection: Selection<Requirement> | undefined): void {
    Object.assign(this.state, { candidates, deficits, selection });
  }

  async #remakeSelector(): Promise<void> {
    const { world, account, prefer } = this.state;
    const rpcOf = (network: string) => world.endpoints.filter((one) => one.network === network).map(({ url }) => url);
    this.#selector?.free();
    this.#selector = await createSelector(
      {
        owners: { eip155: account ?? world.buyer.eip155, solana: world.buyer.solana },
        networks: Object.fromEntries(Object.keys(world.networks).map((network) => [network, { rpc: rpcOf(network) }])),
        routing: { preferNetworks: prefer === "" ? [] : [prefer] },
      },
      { health: this.#health, onEvent: (event) => this.#hear(event) },
    );
  }

  #hear(event: SelectorEvent): void {
    this.#eventCount += 1;
    this.state.events = [{ id: this.#eventCount, event }, ...this.state.events].slice(0, MOST_EVENTS);
  }

  #refreshHealth(): void {
    if (this.#selector === undefined) return;
    this.state.health = this.#selector.health();
    this.#draw(this);
  }

  async #doing(status: string, work: () => Promise<string>): Promise<void> {
    if (this.state.busy) return;
    Object.assign(this.state, { busy: true, status });
    this.#draw(this);
    try {
      this.state.status = await work();
    } catch (error) {
      this.state.status = error instanceof Error ? `That did not work: ${error.message}` : "That did not work.";
    }
    this.state.busy = false;
    this.#refreshHealth();
    this.#draw(this);
  }
}

function sentenceOf(error: PayrouteError): string {
  switch (error.code) {
    case "insufficient-liquidity":
      return "No account has enough. Top one up.";
    case "balances-unavailable":
      return "Your networks cannot be reached right now. That says nothing about your money.";
    default:
      return error.message;
  }
}
