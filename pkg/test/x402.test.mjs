// What routed() holds of what a client signs: clients reduced to their choice, a real selector. Real
// clients are in tests/x402.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldElsewhereError, UnsponsoredError, createSelector } from "payroute";
import { routed } from "payroute/x402";
import { answer } from "./support/chain.mjs";
import { BASE, BASE_SEPOLIA, OWNER, SOLANA, USDC, evmOffer, v2 } from "./support/offers.mjs";

const CHAINS = { [BASE]: 8453, [BASE_SEPOLIA]: 84532 };

/** A buyer on two networks, of which Base is preferred. */
async function buyer(balances = {}) {
  const rpc = (network) => [(body) => answer(body, { chainId: CHAINS[network], balance: balances[network] ?? 60_000n })];
  const networks = Object.fromEntries(Object.keys(CHAINS).map((network) => [network, { rpc: rpc(network) }]));
  return createSelector({ owners: { eip155: OWNER }, networks, routing: { preferNetworks: [BASE] } });
}

/** What is held of each network's balance. */
async function heldBy(selector) {
  const { candidates } = await selector.select(v2(evmOffer(BASE, "1"), evmOffer(BASE_SEPOLIA, "1"))).catch((error) => error);
  const held = candidates.map(({ network, held }) => [network, held]).filter(([, held]) => held !== undefined);
  return Object.fromEntries(held);
}

/** Signs for what `choose` makes of the offers that it is handed. */
function clientThat(choose) {
  const signed = [];
  const createPaymentPayload = async ({ x402Version, accepts }) => {
    const accepted = choose(accepts);
    if (accepted === undefined) throw new Error("no signer");
    signed.push(accepted);
    return { x402Version, accepted, payload: {} };
  };
  return { signed, createPaymentPayload };
}

const SILENT = { onRoute: () => {} };
const onSepolia = (accepts) => accepts.find(({ network }) => network === BASE_SEPOLIA);
const terms = () => v2(evmOffer(BASE, "50000"), evmOffer(BASE_SEPOLIA, "40000"));
const reordered = (object) => Object.fromEntries(Object.entries(object).reverse());

const CHOICES = {
  "the best": [(accepts) => accepts[0], { [BASE]: "50000" }],
  "another, for want of a signer": [onSepolia, { [BASE_SEPOLIA]: "40000" }],
  "the last": [(accepts) => accepts.at(-1), { [BASE_SEPOLIA]: "40000" }],
  "a copy of the best": [(accepts) => structuredClone(accepts[0]), { [BASE]: "50000" }],
  "a copy of another": [(accepts) => structuredClone(onSepolia(accepts)), { [BASE_SEPOLIA]: "40000" }],
  "a copy in another order": [(accepts) => reordered(onSepolia(accepts)), { [BASE_SEPOLIA]: "40000" }],
  "a copy with more and less in it": [(accepts) => ({ ...onSepolia(accepts), extra: undefined, mine: 1n }), { [BASE_SEPOLIA]: "40000" }],
  "a copy that writes addresses its own way": [
    (accepts) => {
      const { asset, payTo, ...rest } = onSepolia(accepts);
      return { ...rest, asset: asset.toLowerCase(), payTo: `0x${payTo.slice(2).toUpperCase()}` };
    },
    { [BASE_SEPOLIA]: "40000" },
  ],
};

for (const [what, [choose, held]] of Object.entries(CHOICES)) {
  test(`a client that signs for ${what} has that held, and nothing else`, async () => {
    const selector = await buyer();
    const client = clientThat(choose);
    const challenge = terms();
    let route;
    const paying = routed(client, selector, { onRoute: (given) => void (route = given) });
    await paying.createPaymentPayload(challenge);
    assert.deepEqual(await heldBy(selector), held);
    const [network] = Object.keys(held);
    assert.deepEqual([route.candidate.network, route.requirement], [network, challenge.accepts.find((offer) => offer.network === network)]);
    assert.deepEqual(route.passedOver.map((candidate) => candidate.network), network === BASE ? [] : [BASE]);
  });
}

test("no balance is signed for twice, whichever offer the client takes", async () => {
  const selector = await buyer({ [BASE_SEPOLIA]: 90_000n });
  const client = clientThat(onSepolia);
  const paying = routed(client, selector, SILENT);
  const outcomes = [];
  for (let payment = 1; payment <= 4; payment++) {
    outcomes.push(await paying.createPaymentPayload(terms()).then(() => "paid", ({ message }) => message));
  }
  assert.deepEqual(outcomes, ["paid", "paid", "no signer", "no signer"], "a route that is short is not handed over");
  assert.equal(client.signed.length, 2);
  assert.deepEqual(await heldBy(selector), { [BASE_SEPOLIA]: "80000" });
});

test("of payments made at once only those leave that the balance covers", async () => {
  const selector = await buyer({ [BASE]: 900_000n });
  const told = [];
  const paying = routed(clientThat(onSepolia), selector, { onRoute: ({ candidate }) => void told.push(candidate.network) });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => paying.createPaymentPayload(terms())));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
  for (const { reason } of outcomes.filter(({ status }) => status === "rejected")) {
    assert.ok(HeldElsewhereError.is(reason), `${reason}`);
    assert.deepEqual([reason.deficit.network, reason.deficit.held], [BASE_SEPOLIA, "40000"]);
  }
  assert.deepEqual(told, [BASE_SEPOLIA], "what is withheld is no route");
  assert.deepEqual(await heldBy(selector), { [BASE_SEPOLIA]: "40000" });
});

test("two offers of one balance are told apart", async () => {
  const selector = await buyer();
  const offers = [evmOffer(BASE, "50000"), evmOffer(BASE, "40000"), evmOffer(BASE, "30000", OWNER)];
  await routed(clientThat((accepts) => accepts[1]), selector, SILENT).createPaymentPayload(v2(...offers));
  assert.deepEqual(await heldBy(selector), { [BASE]: "40000" });
});

test("one 402 that is signed for twice counts twice", async () => {
  for (const [choose, network, each] of [[(accepts) => accepts[0], BASE, 50_000], [onSepolia, BASE_SEPOLIA, 40_000]]) {
    const selector = await buyer({ [network]: BigInt(2 * each) + 7n });
    const client = clientThat(choose);
    const paying = routed(client, selector, SILENT);
    const challenge = terms();
    for (const times of [1, 2]) {
      await paying.createPaymentPayload(challenge);
      assert.deepEqual(await heldBy(selector), { [network]: String(times * each) });
    }
    await assert.rejects(paying.createPaymentPayload(challenge), HeldElsewhereError);
    assert.equal(client.signed.length, 2, "it is not even asked");
    assert.deepEqual(await heldBy(selector), { [network]: String(2 * each) });

    const atOnce = await buyer({ [BASE]: 100_000n, [network]: BigInt(2 * each) });
    const twice = routed(clientThat(choose), atOnce, SILENT);
    await Promise.all([1, 2].map(() => twice.createPaymentPayload(challenge)));
    assert.deepEqual(await heldBy(atOnce), { [network]: String(2 * each) });
  }
});

test("one that fails beside another frees its own money alone", async () => {
  const selector = await buyer({ [BASE]: 100_000n });
  const outcomes = [new Error("the wallet is locked"), undefined];
  const client = clientThat((accepts) => {
    const error = outcomes.shift();
    if (error) throw error;
    return accepts[0];
  });
  const paying = routed(client, selector, SILENT);
  const challenge = terms();
  const [failed, paid] = await Promise.allSettled([1, 2].map(() => paying.createPaymentPayload(challenge)));
  assert.deepEqual([failed.status, paid.status], ["rejected", "fulfilled"]);
  assert.deepEqual(await heldBy(selector), { [BASE]: "50000" });
});

test("a payment that is withheld frees what was signed, and while it is decided on it is held", async () => {
  const selector = await buyer();
  const veto = new Error("the user said no");
  let during;
  const onRoute = async () => {
    during = await heldBy(selector);
    throw veto;
  };
  await assert.rejects(routed(clientThat(onSepolia), selector, { onRoute }).createPaymentPayload(terms()), veto);
  assert.deepEqual([during, await heldBy(selector)], [{ [BASE_SEPOLIA]: "40000" }, {}]);
  await assert.rejects(routed(clientThat(() => undefined), selector, SILENT).createPaymentPayload(terms()), /no signer/);
  assert.deepEqual(await heldBy(selector), {});
});

test("what a client made up is held as the offer that is nearest to it, of the same balance", async () => {
  const offers = [evmOffer(BASE, "10000"), evmOffer(BASE, "50000"), evmOffer(BASE, "30000"), evmOffer(BASE_SEPOLIA, "40000")];
  const made = (amount, rest) => ({ ...evmOffer(BASE, amount), payTo: OWNER, ...rest });
  for (const [payload, held] of [
    [made("20000"), { [BASE]: "30000" }],
    [made("30000"), { [BASE]: "30000" }],
    [made("1"), { [BASE]: "10000" }],
    [made("55000"), { [BASE]: "50000" }],
    [made("1.5"), { [BASE]: "50000" }],
    [made("20000", { asset: USDC[BASE].toLowerCase() }), { [BASE]: "30000" }],
    [made("20000", { asset: OWNER }), {}],
    [made("20000", { network: "eip155:137" }), {}],
    [null, {}],
  ]) {
    const selector = await buyer();
    let route;
    const paying = routed(clientThat(() => payload), selector, { onRoute: (given) => void (route = given) });
    await paying.createPaymentPayload(v2(...offers));
    assert.deepEqual([await heldBy(selector), route.candidate], [held, undefined], JSON.stringify(payload));
  }
});

test("of version 1 the authorization says which of two offers on one network was signed", async () => {
  const old = ({ amount, ...offer }) => ({ ...offer, network: "base", maxAmountRequired: amount });
  const accepts = ["50000", "40000"].map((amount) => old(evmOffer(BASE, amount)));
  const { payTo, scheme, network } = accepts[0];
  for (const [authorization, held] of [
    [{ to: payTo.toLowerCase(), value: "40000" }, "40000"],
    [{ to: payTo, value: "50000" }, "50000"],
    [undefined, "50000"],
  ]) {
    const selector = await buyer();
    const createPaymentPayload = async () => ({ x402Version: 1, scheme, network, payload: { authorization } });
    await routed({ createPaymentPayload }, selector, SILENT).createPaymentPayload({ x402Version: 1, accepts });
    assert.deepEqual(await heldBy(selector), { [BASE]: held });
  }
});

/** A selector that knows what it is told, for what no chain here answers: holds are the offers' places. */
function tellsOf(...facts) {
  const holds = new Set();
  const candidates = facts.map((fact, requirementIndex) => ({ requirementIndex, viable: true, network: BASE, notes: [], ...fact }));
  const hold = (index) => {
    const end = () => void holds.delete(one);
    const one = { index, settle() {}, release: end };
    holds.add(one);
    return one;
  };
  return {
    get held() {
      return [...holds].map(({ index }) => index);
    },
    select: async () => ({ candidates, hold }),
  };
}

const OLD = ({ amount, ...offer }) => ({ ...offer, maxAmountRequired: amount });
const CLUSTER = "solana:9sHcv6xwn9YkB8nxTUGKDwPwNnmqVp5oAXxU8Fdkm4J6";
const on = (network) => ({ ...evmOffer(BASE), network });
const SPELLINGS = {
  2: {
    read: [on(BASE), on(SOLANA), on("solana-devnet"), { ...on(BASE), maxAmountRequired: "50000" }, on("eip155:9007199254740991")],
    unread: [on("base"), on("solana:mainnet"), on("solana-mainnet"), on(CLUSTER), OLD(on(BASE)), { ...OLD(on(BASE)), amount: null }, OLD(on(SOLANA)), on("eip155:9007199254740993")],
  },
  1: {
    read: [OLD(on("base")), OLD(on("flare")), OLD(on("solana")), OLD(on(SOLANA)), { ...on("base"), maxAmountRequired: "50000" }],
    unread: [OLD(on(BASE)), OLD(on("xdc")), OLD(on("solana-mainnet")), OLD(on(CLUSTER)), on("base"), { ...on("base"), maxAmountRequired: null }, on("solana")],
  },
};

/** What is handed to a client of `accepts`, all of which can be paid, best first. */
async function handed(x402Version, accepts, options) {
  let seen;
  const createPaymentPayload = async (challenge) => ((seen = challenge.accepts), {});
  const selector = tellsOf(...accepts.map(() => ({})));
  await routed({ createPaymentPayload }, selector, { ...SILENT, ...options }).createPaymentPayload({ x402Version, accepts });
  return seen;
}

for (const [version, { read, unread }] of Object.entries(SPELLINGS)) {
  test(`version ${version}: an offer that official clients cannot read is handed over where no other is`, async () => {
    const x402Version = Number(version);
    assert.deepEqual(await handed(x402Version, read), read);
    assert.deepEqual(await handed(version, read), read, "a version as text is the number");
    assert.deepEqual(await handed(x402Version, unread), unread);
    for (const odd of unread) {
      const [good] = read;
      assert.deepEqual(await handed(x402Version, [good, odd]), [good], JSON.stringify(odd));
      assert.deepEqual(await handed(x402Version, [odd, good]), [good], JSON.stringify(odd));
      assert.deepEqual(await handed(x402Version, [odd]), [odd]);
      assert.deepEqual(await handed(x402Version, [odd, good], { exclusive: true }), [odd], "the best alone is the best alone");
    }
  });
}

test("of what is left out nothing is held, and it is told as passed over", async () => {
  const selector = tellsOf({}, { network: BASE_SEPOLIA });
  const accepts = [OLD(evmOffer(BASE)), evmOffer(BASE_SEPOLIA)];
  const during = [];
  let route;
  const client = clientThat((offers) => (during.push(...selector.held), offers[0]));
  await routed(client, selector, { onRoute: (given) => void (route = given) }).createPaymentPayload(v2(...accepts));
  assert.deepEqual([during, selector.held], [[1], [1]]);
  assert.deepEqual([route.requirement, route.passedOver.map(({ network }) => network)], [accepts[1], [BASE]]);
});

const PERMIT = { notes: ["eip2612-sponsored"], symbol: "USDC", networkName: "Base" };
const APPROVAL = { ...PERMIT, notes: ["domain-unchecked", "erc20-approval-sponsored"] };
const PLAIN = { network: BASE_SEPOLIA, networkName: "Base Sepolia", symbol: "USDC" };
const DRAWN = { permit2Authorization: { nonce: "1" } };
const DEPOSITED = { type: "deposit", deposit: { amount: "5", authorization: DRAWN } };
const permit = (signature) => ({ eip2612GasSponsoring: { info: { signature } } });
const approval = (signedTransaction) => ({ erc20ApprovalGasSponsoring: { info: { signedTransaction } } });

/**
 * Pays for as many offers as there are facts. `wallet` makes of an offer what is signed for it, `chooses` says which of
 * those that are handed over it is, `later` has the facts of every reading but the first.
 */
async function paidFor(facts, wallet, { chooses = (offers) => offers[0], later, ...options } = {}) {
  const selector = tellsOf(...facts);
  const { select } = selector;
  if (later !== undefined) selector.select = async () => ((selector.select = tellsOf(...later).select), select());
  const accepts = facts.map(({ network = BASE }, index) => evmOffer(network, String(10_000 + index)));
  const places = (offers) => offers.map((offer) => accepts.indexOf(offer));
  const asked = [];
  const createPaymentPayload = async ({ accepts: offers }) => {
    asked.push([places(offers), selector.held]);
    const accepted = chooses(offers);
    return { x402Version: 2, accepted, ...(await wallet(accepts.indexOf(accepted))) };
  };
  let route;
  const paying = routed({ createPaymentPayload }, selector, { onRoute: (given) => void (route = given), ...options });
  const challenge = v2(...accepts);
  const outcome = await paying.createPaymentPayload(challenge).catch((error) => error);
  return { asked, outcome, route, held: selector.held, paid: places([outcome.accepted])[0], again: () => paying.createPaymentPayload(challenge) };
}

const LACKING = {
  "no permit": [PERMIT, { payload: DRAWN, extensions: { eip2612GasSponsoring: { info: { version: "1" } } } }, "eip2612GasSponsoring.info.signature"],
  "no extension": [PERMIT, { payload: DRAWN }, "eip2612GasSponsoring.info.signature"],
  "the merchant's placeholder": [PERMIT, { payload: DRAWN, extensions: permit("") }, "eip2612GasSponsoring.info.signature"],
  "the merchant's example": [PERMIT, { payload: DRAWN, extensions: permit("0x…") }, "eip2612GasSponsoring.info.signature"],
  "a deposit's permit": [PERMIT, { payload: DEPOSITED, extensions: {} }, "eip2612GasSponsoring.info.signature"],
  "no approval": [APPROVAL, { payload: DRAWN, extensions: approval() }, "erc20ApprovalGasSponsoring.info.signedTransaction"],
  "a permit for an approval": [APPROVAL, { payload: DRAWN, extensions: permit("0xab") }, "erc20ApprovalGasSponsoring.info.signedTransaction"],
};

for (const [what, [fact, signed, missing]] of Object.entries(LACKING)) {
  test(`a payment with ${what}: the next offer without a sponsor is paid, or it is an error`, async () => {
    const wallet = (place) => (place === 0 || place === 1 ? signed : { payload: {} });
    const next = await paidFor([fact, PERMIT, PLAIN, PLAIN], wallet);
    assert.deepEqual(next.asked, [[[0, 1, 2, 3], [0]], [[2, 3], [2]]], "what is withheld is not held");
    assert.deepEqual([next.paid, next.held], [2, [2]]);
    assert.deepEqual([next.route.unsentCandidate, next.route.passedOver.length], [next.route.selection.candidates[0], 2]);

    for (const [facts, options] of [[[fact], {}], [[fact, APPROVAL], {}], [[fact, PLAIN], { exclusive: true }]]) {
      const none = await paidFor(facts, wallet, options);
      assert.ok(UnsponsoredError.is(none.outcome), `${none.outcome}`);
      assert.deepEqual([none.outcome.missing, none.outcome.candidate.notes], [`extensions.${missing}`, fact.notes]);
      assert.match(none.outcome.message, /USDC on Base without extensions\.\w+\.info\.\w+.*rpcUrl/);
      assert.deepEqual([none.asked.length, none.held, none.route], [1, [], undefined]);
      await assert.rejects(none.again(), UnsponsoredError, "nothing has left: it is chosen anew");
    }
  });
}

const COMPLETE = {
  "a permit": [PERMIT, { payload: DRAWN, extensions: permit("0x0aB1") }],
  "an approval": [APPROVAL, { payload: DRAWN, extensions: approval("0x02f8") }],
  "an approval for a permit": [PERMIT, { payload: DRAWN, extensions: approval("0x02f8") }],
  "a deposit's permit": [PERMIT, { payload: DEPOSITED, extensions: permit("0x0a") }],
  "a voucher, of a channel that is open": [PERMIT, { payload: { type: "voucher", voucher: {} } }],
  "an EIP-3009 authorization, by a policy": [PERMIT, { payload: { authorization: {} } }],
  "Permit2 and an allowance": [{ notes: ["domain-unchecked"] }, { payload: DRAWN }],
};

for (const [what, [fact, signed]] of Object.entries(COMPLETE)) {
  test(`a payment with ${what} lacks nothing`, async () => {
    const { asked, paid, held, route } = await paidFor([fact, PLAIN], () => signed);
    assert.deepEqual([asked.length, paid, held, route.unsentCandidate], [1, 0, [0], undefined]);
  });
}

test("where the allowance has risen since it was read, a payment without its sponsor lacks nothing", async () => {
  const wallet = () => ({ payload: DRAWN });
  const risen = await paidFor([APPROVAL, PLAIN], wallet, { later: [{ ...APPROVAL, notes: [] }, PLAIN] });
  assert.deepEqual([risen.asked.length, risen.paid, risen.held, risen.route.unsentCandidate], [1, 0, [0], undefined]);
  for (const later of [[APPROVAL, PLAIN], [{ ...APPROVAL, notes: [], viable: false }, PLAIN], []]) {
    const still = await paidFor([APPROVAL, PLAIN], wallet, { later });
    assert.deepEqual([still.asked.length, still.paid, still.held], [2, 1, [1]], JSON.stringify(later));
  }
});

test("for one payment no more than two are signed, and none after an error of the client", async () => {
  const first = (offers) => offers[0];
  const refused = new Error("the user said no");
  const once = await paidFor([PERMIT, PLAIN], () => Promise.reject(refused));
  assert.deepEqual([once.outcome, once.asked.length, once.held], [refused, 1, []]);
  const wallet = (place) => (place === 0 ? { payload: DRAWN } : Promise.reject(refused));
  const second = await paidFor([PERMIT, PLAIN, PLAIN], wallet);
  assert.deepEqual([second.outcome, second.asked.length, second.held, second.route], [refused, 2, [], undefined]);

  // A policy that hands on what it was not handed.
  let stubborn;
  const chooses = (offers) => (stubborn ??= first(offers));
  const never = await paidFor([PERMIT, PLAIN], () => ({ payload: DRAWN }), { chooses });
  assert.ok(UnsponsoredError.is(never.outcome), `${never.outcome}`);
  assert.deepEqual([never.asked.length, never.held], [2, []]);
});

test("a payment that is signed again after it was sent may lack what the first one brought along", async () => {
  const signed = [{ payload: DRAWN, extensions: approval("0x02") }, { payload: DRAWN }];
  const { again, paid, asked } = await paidFor([APPROVAL, PLAIN], () => signed.shift());
  assert.equal(paid, 0);
  assert.deepEqual((await again()).extensions, undefined);
  assert.deepEqual(asked.map(([places]) => places), [[0, 1], [0]]);
});

test("without a listener the console is told why a sponsored offer was passed over", async (t) => {
  const warn = t.mock.method(console, "warn", () => {});
  await paidFor([PERMIT, PLAIN], () => ({ payload: DRAWN }), { onRoute: undefined });
  assert.match(warn.mock.calls[0].arguments[0], /passed over USDC on Base for USDC on Base Sepolia: .*left out what the server needs/);
});

test("what a client made up is held as an offer of its scheme, and never as a deposit for another", async () => {
  const offer = (scheme, amount, deposit) => ({ scheme, amount, ...(deposit && { deposit }) });
  const [exact, upto, batch] = [offer("exact", "10000"), offer("upto", "30000"), offer("batch-settlement", "4000", "20000")];
  for (const [offers, scheme, amount, place] of [
    [[upto, batch, exact], "exact", "9000", 2],
    [[batch, upto], "exact", "15000", 1],
    [[batch], "exact", "15000", undefined],
    [[exact, batch], "batch-settlement", "5000", 1],
    [[batch, offer("batch-settlement", "6000", "12000")], "batch-settlement", "5000", 1],
    [[upto, exact], "batch-settlement", "5000", 1],
    // Of equal sums the best, whether they cover it or not.
    [[exact, offer("exact", "10000")], "exact", "9000", 0],
    [[offer("exact", "5000"), exact, offer("exact", "10000")], "exact", "11000", 1],
  ]) {
    const selector = tellsOf(...offers);
    const made = { ...evmOffer(BASE, amount), scheme, payTo: OWNER };
    const challenge = v2(...offers.map(({ scheme, amount }) => ({ ...evmOffer(BASE, amount), scheme })));
    await routed(clientThat(() => made), selector, SILENT).createPaymentPayload(challenge);
    assert.deepEqual(selector.held, place === undefined ? [] : [place], JSON.stringify([offers, scheme, amount]));
  }
});

test("a copy that may be cashed for longer than the merchant asks is no offer of the merchant's", async () => {
  for (const [maxTimeoutSeconds, network] of [[61, undefined], [60, BASE], [1, BASE], ["60", BASE]]) {
    const selector = await buyer();
    let route;
    const client = clientThat((accepts) => ({ ...accepts[0], maxTimeoutSeconds, mine: true }));
    await routed(client, selector, { onRoute: (given) => void (route = given) }).createPaymentPayload(terms());
    assert.deepEqual([route.candidate?.network, await heldBy(selector)], [network, { [BASE]: "50000" }], `${maxTimeoutSeconds}`);
  }
});

test("a version 1 payment that fits no offer is told as none, and held as the nearest", async () => {
  const old = ({ amount, ...offer }) => ({ ...offer, network: "base", maxAmountRequired: amount });
  const accepts = ["50000", "40000", "20000"].map((amount) => old(evmOffer(BASE, amount)));
  const { payTo, scheme, network } = accepts[0];
  for (const [authorization, held] of [
    [{ to: payTo, value: "30000" }, "40000"],
    [{ to: OWNER, value: "20000" }, "20000"],
    [{ to: payTo, value: "60000" }, "50000"],
    [{}, "50000"],
  ]) {
    const selector = await buyer();
    let route;
    const createPaymentPayload = async () => ({ x402Version: 1, scheme, network, payload: { authorization } });
    const paying = routed({ createPaymentPayload }, selector, { onRoute: (given) => void (route = given) });
    await paying.createPaymentPayload({ x402Version: 1, accepts });
    assert.deepEqual([route.candidate, route.requirement, route.passedOver.length], [undefined, undefined, 3]);
    assert.deepEqual(await heldBy(selector), { [BASE]: held }, JSON.stringify(authorization));
  }
});

test("a hold lives from the signature on, however long a client takes for it", async (t) => {
  const selector = await buyer({ [BASE_SEPOLIA]: 0n });
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  const brief = () => v2({ ...evmOffer(BASE), maxTimeoutSeconds: 1 });
  const asked = [];
  const createPaymentPayload = async ({ accepts }) => {
    await new Promise((confirm) => asked.push(confirm));
    return { x402Version: 2, accepted: accepts[0], payload: {} };
  };
  const paying = routed({ createPaymentPayload }, selector, SILENT);
  const settles = () => new Promise((resolve) => setTimeout(resolve, 20));
  const pays = async () => {
    const payment = paying.createPaymentPayload(brief());
    payment.catch(() => {});
    await settles();
    return payment;
  };
  const first = paying.createPaymentPayload(brief());
  await settles();
  now += 1_100;
  // The first one's hold is over, so that a second is chosen; one of them alone may leave.
  const second = paying.createPaymentPayload(brief());
  await settles();
  assert.equal(asked.length, 2);
  now += 1_100;
  for (const confirm of asked) confirm();
  const outcomes = await Promise.allSettled([first, second]);
  assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.ok(HeldElsewhereError.is(outcomes[1].reason), `${outcomes[1].reason}`);
  now += 900;
  assert.deepEqual(await heldBy(selector), { [BASE]: "50000" }, "so long as it may be cashed");
  await assert.rejects(pays(), { code: "insufficient-liquidity" });
  now += 200;
  assert.deepEqual(await heldBy(selector), {});
});

test("a best offer that is covered once does not stand in the way of another that is signed", async () => {
  const selector = await buyer({ [BASE_SEPOLIA]: 900_000n });
  const client = clientThat(onSepolia);
  const paying = routed(client, selector, SILENT);
  const challenge = terms();
  await Promise.all([1, 2].map(() => paying.createPaymentPayload(challenge)));
  assert.deepEqual(await heldBy(selector), { [BASE_SEPOLIA]: "80000" });

  // One that is signed and cannot be held does not leave.
  const best = await buyer({ [BASE_SEPOLIA]: 900_000n });
  const both = routed(clientThat((accepts) => accepts[0]), best, SILENT);
  const outcomes = await Promise.allSettled([1, 2].map(() => both.createPaymentPayload(challenge)));
  assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.ok(HeldElsewhereError.is(outcomes[1].reason), `${outcomes[1].reason}`);
  assert.deepEqual(await heldBy(best), { [BASE]: "50000" });
});

test("a call that fails beside others leaves their plan alone", async () => {
  const selector = await buyer({ [BASE]: 900_000n, [BASE_SEPOLIA]: 900_000n });
  let selections = 0;
  const counting = { select: (...call) => (selections++, selector.select(...call)) };
  const wallet = [];
  const createPaymentPayload = ({ accepts }) =>
    new Promise((resolve, reject) => wallet.push({ reject, confirm: () => resolve({ x402Version: 2, accepted: accepts[0], payload: {} }) }));
  const paying = routed({ createPaymentPayload }, counting, SILENT);
  const challenge = terms();
  const asked = async (count) => {
    while (wallet.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const payments = [1, 2].map(() => paying.createPaymentPayload(challenge));
  await asked(2);
  wallet[0].reject(new Error("the user said no"));
  await assert.rejects(payments[0], /said no/);
  payments.push(paying.createPaymentPayload(challenge));
  await asked(3);
  assert.equal(selections, 1, "one request, one choice");
  for (const { reject } of wallet.slice(1)) reject(new Error("the user said no"));
  await Promise.allSettled(payments);
  const again = paying.createPaymentPayload(challenge);
  await asked(4);
  assert.equal(selections, 2, "nothing has left: it is chosen anew");
  wallet[3].confirm();
  await again;
});
