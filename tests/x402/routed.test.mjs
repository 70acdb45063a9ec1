// What routed() makes of a stock client: real clients, real signatures, a real
// selector over endpoints that are functions. No chain, no merchant but a header.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { ExactEvmScheme } from '@x402/evm';
import { ExactEvmSchemeV1, NETWORKS as EVM_NAMES } from '@x402/evm/v1';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { ExactSvmSchemeV1, NETWORKS as SVM_NAMES } from '@x402/svm/v1';
import express from 'express';
import { InsufficientLiquidityError, UnsponsoredError, createSelector } from 'payroute';
import { routed } from 'payroute/x402';
import { answer } from '../../pkg/test/support/chain.mjs';
import { BASE, BASE_SEPOLIA, SOLANA, evmOffer, headerValue, v2 } from '../../pkg/test/support/offers.mjs';
import { FAMILIES, answer as answerOf } from '../faults/chain.mjs';
import { listen } from './listen.mjs';
import { evmAccount, solanaSigner } from './parties.mjs';

const account = evmAccount('buyer');
const FORGIVING = { spendControls: false };

// A buyer's world of two networks, whose balances are numbers here. Base is preferred.
async function selectorOver(balances) {
  const asked = [];
  const endpoint = (network, chainId) => ({
    rpc: [(body) => {
      asked.push(network);
      return answer(body, { chainId, balance: BigInt(balances[network]) });
    }],
  });
  const selector = await createSelector({
    owners: { eip155: account.address },
    networks: { [BASE]: endpoint(BASE, 8453), [BASE_SEPOLIA]: endpoint(BASE_SEPOLIA, 84532) },
    routing: { preferNetworks: [BASE], probeTimeoutMs: 10_000 },
  });
  return { selector, asked };
}

// What is held of each network's balance.
async function heldBy(selector) {
  const { candidates } = await selector.select(both());
  return Object.fromEntries(candidates.filter(({ held }) => held !== undefined).map(({ network, held }) => [network, held]));
}

const RICH = { [BASE]: 10n ** 9n, [BASE_SEPOLIA]: 10n ** 9n };
const client = (config = {}) => x402Client.fromConfig({ schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }], ...config });
const terms = (...offers) => v2(...offers);
const both = () => terms(evmOffer(BASE_SEPOLIA), evmOffer(BASE));

test('the offers that can be paid are handed over, best first, as the very objects', async () => {
  const { selector } = await selectorOver(RICH);
  let seen;
  const chooser = (_, accepts) => {
    seen = accepts;
    return accepts[0];
  };
  const challenge = terms(evmOffer(BASE_SEPOLIA), evmOffer(BASE, '0.05'), evmOffer(BASE), { ...evmOffer(), network: 'eip155:1' });
  const before = structuredClone(challenge);
  const payload = await routed(client({ ...FORGIVING, paymentRequirementsSelector: chooser }), selector).createPaymentPayload(challenge);
  assert.equal(seen.length, 2);
  assert.ok(seen[0] === challenge.accepts[2] && seen[1] === challenge.accepts[0]);
  assert.equal(payload.accepted, challenge.accepts[2]);
  assert.equal(payload.resource, challenge.resource);
  assert.deepEqual(challenge, before, 'the challenge itself is left alone');
});

const dear = evmOffer(BASE, '50000');
const cheap = evmOffer(BASE_SEPOLIA, '10000');
const HOST_RULES = {
  'nothing of its own': { config: {}, paid: BASE, exclusive: BASE },
  'a cap': { config: { spendControls: { maxAmountPerPayment: '$0.02' } }, paid: BASE_SEPOLIA, exclusive: /spendControls/ },
  'a policy that filters': {
    config: { policies: [(_, accepts) => accepts.filter(({ network }) => network !== BASE)] }, paid: BASE_SEPOLIA, exclusive: /policies/,
  },
  'a policy that turns the order': {
    config: { policies: [(_, accepts) => [...accepts].reverse()] }, paid: BASE_SEPOLIA, exclusive: BASE,
  },
  'a selector': { config: { paymentRequirementsSelector: (_, accepts) => accepts.at(-1) }, paid: BASE_SEPOLIA, exclusive: BASE },
  'no scheme for the network': {
    config: { schemes: [{ network: BASE_SEPOLIA, client: new ExactEvmScheme(account) }] }, paid: BASE_SEPOLIA, exclusive: /No network\/scheme/,
  },
};

for (const [name, { config, paid, exclusive }] of Object.entries(HOST_RULES)) {
  test(`a client with ${name}: what it passes over is told`, async () => {
    const { selector } = await selectorOver(RICH);
    const told = [];
    const onRoute = (route) => void told.push(route);
    const challenge = terms(cheap, dear);
    const { accepted } = await routed(client(config), selector, { onRoute }).createPaymentPayload(challenge);
    assert.equal(accepted.network, paid);
    assert.equal(told.length, 1);
    const [{ requirement, candidate, passedOver, selection }] = told;
    assert.ok(requirement === accepted && selection.candidates.includes(candidate));
    assert.equal(candidate.network, paid);
    assert.deepEqual(passedOver.map(({ network }) => network), paid === BASE ? [] : [BASE]);
    assert.deepEqual(await heldBy(selector), { [paid]: candidate.amount });

    const alone = routed(client(config), selector, { onRoute, exclusive: true }).createPaymentPayload(terms(cheap, dear));
    if (exclusive === BASE) assert.equal((await alone).accepted.network, BASE);
    else await assert.rejects(alone, exclusive);
  });

  test(`a client with ${name}: without a listener the console is told, once, or has nothing to hear`, async (t) => {
    const { selector } = await selectorOver(RICH);
    const warn = t.mock.method(console, 'warn', () => {});
    await routed(client(config), selector).createPaymentPayload(terms(cheap, dear));
    const lines = warn.mock.calls.map(({ arguments: [line] }) => line);
    assert.equal(lines.length, paid === BASE ? 0 : 1);
    if (paid !== BASE) assert.match(lines[0], /passed over USDC on Base for USDC on Base Sepolia/);
  });
}

test('what was signed counts as spent, and what failed to be does not', async () => {
  const balances = { [BASE]: 50_000n, [BASE_SEPOLIA]: 0n };
  const { selector } = await selectorOver(balances);
  const locked = new Error('the wallet is locked');
  const scheme = new ExactEvmScheme(account);
  let sign = () => Promise.reject(locked);
  const inner = client({ schemes: [{ network: 'eip155:*', client: Object.assign(new ExactEvmScheme(account), { createPaymentPayload: (...call) => sign(...call) }) }] });
  let veto;
  const paying = routed(inner, selector, { onRoute: () => veto && Promise.reject(veto) });
  const challenge = both();
  await assert.rejects(paying.createPaymentPayload(challenge), (error) => error === locked);
  sign = (...call) => scheme.createPaymentPayload(...call);
  veto = new Error('the user said no');
  await assert.rejects(paying.createPaymentPayload(challenge), (error) => error === veto);
  veto = undefined;
  assert.equal((await paying.createPaymentPayload(challenge)).accepted, challenge.accepts[1]);
  await assert.rejects(paying.createPaymentPayload(both()), (error) => error.deficits?.some(({ held }) => held === '50000'));
  balances[BASE] = 0n;
  await assert.rejects(paying.createPaymentPayload(both()), (error) => error.deficits?.every(({ held }) => held === undefined || held === '0'));
});

test('a client that knows no other network signs for no balance twice', async () => {
  const { selector } = await selectorOver({ [BASE]: 90_000n, [BASE_SEPOLIA]: 60_000n });
  const signed = [];
  const scheme = new ExactEvmScheme(account);
  const counting = Object.assign(new ExactEvmScheme(account), {
    createPaymentPayload: (version, offer, ...rest) => (signed.push(offer.network), scheme.createPaymentPayload(version, offer, ...rest)),
  });
  const paying = routed(client({ schemes: [{ network: BASE_SEPOLIA, client: counting }] }), selector, { onRoute() {} });
  await paying.createPaymentPayload(both());
  for (let again = 0; again < 2; again++) await assert.rejects(paying.createPaymentPayload(both()), /No network\/scheme/);
  assert.deepEqual(signed, [BASE_SEPOLIA]);
});

test('a policy that hands on copies has what was signed held', async () => {
  const { selector } = await selectorOver(RICH);
  const copies = (_, accepts) => accepts.map(({ extra, ...offer }) => ({ extra: { ...extra, note: 'mine' }, ...offer })).reverse();
  const challenge = both();
  let route;
  const paying = routed(client({ policies: [copies] }), selector, { onRoute: (given) => void (route = given) });
  const { accepted } = await paying.createPaymentPayload(challenge);
  assert.equal(accepted.extra.note, 'mine');
  assert.equal(route.requirement, challenge.accepts[0]);
  assert.deepEqual(await heldBy(selector), { [BASE_SEPOLIA]: '50000' });
});

test('a hook that pays for something else is told of, and ends the matter', async () => {
  const { selector } = await selectorOver(RICH);
  const told = [];
  const other = { x402Version: 2, accepted: { ...evmOffer(BASE, '1'), payTo: account.address }, payload: {} };
  const failing = client({ schemes: [{ network: 'eip155:*', client: Object.assign(new ExactEvmScheme(account), { createPaymentPayload: () => Promise.reject(new Error('locked')) }) }], ...FORGIVING });
  failing.onPaymentCreationFailure(async () => ({ recovered: true, payload: other }));
  const challenge = both();
  const paying = routed(failing, selector, { onRoute: (route) => void told.push(route) });
  assert.equal(await paying.createPaymentPayload(challenge), other);
  assert.equal(told[0].candidate, undefined);
  assert.equal(told[0].requirement, other.accepted);
  assert.deepEqual(told[0].passedOver.map(({ network }) => network), [BASE, BASE_SEPOLIA]);
  await assert.rejects(paying.createPaymentPayload(challenge), /No network\/scheme/);
});

test('an error of onRoute withholds the payment', async () => {
  const { selector } = await selectorOver(RICH);
  const veto = new Error('the user said no');
  const paying = routed(client(), selector, { onRoute: () => Promise.reject(veto) });
  await assert.rejects(paying.createPaymentPayload(both()), (error) => error === veto);
});

// A merchant who answers every request with the same 402, and keeps what was paid.
function stubborn(challenge) {
  const paid = [];
  const fetch = async (request) => {
    const signature = new Request(request).headers.get('payment-signature');
    if (signature) paid.push(JSON.parse(atob(signature)));
    return new Response('{}', { status: 402, headers: { 'PAYMENT-REQUIRED': headerValue(challenge) } });
  };
  return { fetch, paid };
}

for (const kind of ['x402Client', 'x402HTTPClient']) {
  const wrapped = (inner) => (kind === 'x402Client' ? inner : new x402HTTPClient(inner));

  test(`${kind}: a second 402 is the answer, not a reason to pay again`, async () => {
    const { selector } = await selectorOver(RICH);
    const { fetch, paid } = stubborn(both());
    const pay = wrapFetchWithPayment(fetch, routed(wrapped(client()), selector));
    assert.equal((await pay('https://shop.example/a')).status, 402);
    assert.deepEqual(paid.map(({ accepted }) => accepted.network), [BASE]);
  });

  test(`${kind}: a retry that the host asks for stays on the offer that was signed`, async () => {
    const balances = { ...RICH };
    const { selector, asked } = await selectorOver(balances);
    const { fetch, paid } = stubborn(both());
    const inner = client();
    let probes;
    inner.onPaymentResponse(async () => {
      probes = asked.length;
      balances[BASE] = 0n;
      return { recovered: true };
    });
    const pay = wrapFetchWithPayment(fetch, routed(wrapped(inner), selector));
    assert.equal((await pay('https://shop.example/a')).status, 402);
    assert.deepEqual(paid.map(({ accepted }) => accepted.network), [BASE, BASE]);
    assert.equal(asked.length, probes, 'nobody was asked again');
    balances[BASE] = RICH[BASE];
    assert.deepEqual(await heldBy(selector), { [BASE]: '100000' }, 'the merchant can cash both');
    balances[BASE] = 0n;
    assert.equal((await pay('https://shop.example/a')).status, 402);
    assert.equal(paid.at(-1).accepted.network, BASE_SEPOLIA, 'a new request is a new choice');
  });
}

test('the selector\'s error comes out as it is, and a failure may be tried again', async () => {
  const balances = { [BASE]: 1n, [BASE_SEPOLIA]: 2n };
  const { selector } = await selectorOver(balances);
  const inner = client();
  const paying = routed(inner, selector);
  assert.equal(paying, inner);
  const challenge = both();
  await assert.rejects(paying.createPaymentPayload(challenge), (error) => error instanceof InsufficientLiquidityError && error.deficits.length === 2);
  balances[BASE_SEPOLIA] = 50_000n;
  assert.equal((await paying.createPaymentPayload(challenge)).accepted, challenge.accepts[0]);
  balances[BASE_SEPOLIA] = 0n;
  const pay = wrapFetchWithPayment(stubborn(both()).fetch, routed(new x402HTTPClient(client()), selector));
  await assert.rejects(pay('https://shop.example/a'), InsufficientLiquidityError);
});

test('a hook that gets in without paying is not made to wait for a selection', async () => {
  const { selector, asked } = await selectorOver(RICH);
  const http = new x402HTTPClient(client()).onPaymentRequired(async () => ({ headers: { 'x-ticket': '7' } }));
  const { fetch: shut, paid } = stubborn(both());
  const fetch = async (request) => (request.headers.get('x-ticket') ? new Response('in') : shut(request));
  assert.equal(await (await wrapFetchWithPayment(fetch, routed(http, selector))('https://shop.example/a')).text(), 'in');
  assert.deepEqual([asked.length, paid.length], [0, 0]);
});

test('one challenge asked for twice at once is one selection', async () => {
  const [twice, once] = [await selectorOver(RICH), await selectorOver(RICH)];
  const paying = routed(client(), twice.selector);
  const challenge = both();
  const payloads = await Promise.all([1, 2].map(() => paying.createPaymentPayload(challenge)));
  assert.ok(payloads.every(({ accepted }) => accepted === challenge.accepts[1]));
  await routed(client(), once.selector).createPaymentPayload(both());
  assert.deepEqual(twice.asked.sort(), once.asked.sort());
});

test('version 1 is paid as version 1; a version as text is the number', async () => {
  const { selector } = await selectorOver(RICH);
  const v1 = ({ amount, network, ...offer }) => ({ ...offer, network: network === BASE ? 'base' : 'base-sepolia', maxAmountRequired: amount });
  const old = client(FORGIVING).registerV1('base', new ExactEvmSchemeV1(account)).registerV1('base-sepolia', new ExactEvmSchemeV1(account));
  const told = [];
  const paying = routed(old, selector, { onRoute: (route) => void told.push(route) });
  for (const x402Version of [1, '1']) {
    const challenge = { x402Version, accepts: [v1(evmOffer(BASE_SEPOLIA)), v1(evmOffer(BASE))] };
    const payload = await paying.createPaymentPayload(challenge);
    assert.deepEqual([payload.x402Version, payload.scheme, payload.network], [1, 'exact', 'base']);
    assert.equal(told.at(-1).requirement, challenge.accepts[1]);
    assert.deepEqual(told.at(-1).passedOver, []);
  }
  const text = { ...both(), x402Version: '2' };
  assert.equal((await paying.createPaymentPayload(text)).x402Version, 2);
});

// A buyer on Base, which is preferred, and on Solana, with a client that has the official schemes and spend controls.
async function buyerOfBothFamilies() {
  const solana = await solanaSigner('buyer');
  const rpc = (family) => [(body) => JSON.stringify(answerOf(family, JSON.parse(body)))];
  const selector = await createSelector({
    owners: { eip155: account.address, ...FAMILIES.svm.owners },
    networks: { [BASE]: { rpc: rpc('evm') }, [SOLANA]: { rpc: rpc('svm') } },
    routing: { preferNetworks: [BASE], probeTimeoutMs: 10_000 },
  });
  const stock = client().register('solana:*', new ExactSvmScheme(solana));
  stock.registerV1('base', new ExactEvmSchemeV1(account)).registerV1('solana*', new ExactSvmSchemeV1(solana));
  return { stock, selector };
}

const svmOffer = (more) => ({ ...FAMILIES.svm.offer, ...more });
const priced = (field, { amount, maxAmountRequired, ...offer }) => ({ ...offer, [field]: amount ?? maxAmountRequired });
const UNREADABLE = {
  'an alias': [2, svmOffer({ network: 'solana:mainnet' })],
  'its price where version 1 has it': [2, priced('maxAmountRequired', svmOffer())],
  'an alias in version 1': [1, priced('maxAmountRequired', svmOffer({ network: 'solana:mainnet-beta' }))],
  'its price where version 2 has it': [1, svmOffer({ network: 'solana' })],
};

for (const [what, [x402Version, odd]] of Object.entries(UNREADABLE)) {
  test(`an offer with ${what} keeps no client from a better one, nor from a worse one`, async () => {
    const { stock, selector } = await buyerOfBothFamilies();
    const good = x402Version === 1 ? priced('maxAmountRequired', evmOffer(BASE)) : evmOffer(BASE);
    if (x402Version === 1) good.network = 'base';
    const challenge = { ...terms(odd, good), x402Version };
    const { candidates } = await selector.select(challenge);
    assert.deepEqual(candidates.map(({ viable, network }) => [viable, network]), [[true, BASE], [true, SOLANA]]);
    await assert.rejects(stock.createPaymentPayload(challenge), /Unsupported SVM network|Invalid amount/, 'it does, unrouted');

    const told = [];
    const paying = routed(stock, selector, { onRoute: (route) => void told.push(route) });
    const { accepted = {}, network = accepted.network } = await paying.createPaymentPayload(challenge);
    assert.equal(network, good.network);
    assert.deepEqual(told[0].passedOver, []);
    const alone = paying.createPaymentPayload({ ...challenge, accepts: [odd] });
    await assert.rejects(alone, /Unsupported SVM network|Invalid amount/, 'alone it is the client\'s to refuse');
  });
}

test('the version 1 names that routed() takes for known are those of the clients', async () => {
  const names = [...EVM_NAMES, ...SVM_NAMES];
  const offers = names.map((network) => priced('maxAmountRequired', { ...evmOffer(), network }));
  const candidates = names.map((_, requirementIndex) => ({ requirementIndex, viable: true, notes: [] }));
  const selector = { select: async () => ({ candidates, hold: () => ({ release() {}, settle() {} }) }) };
  let seen;
  const createPaymentPayload = async ({ accepts }) => (seen = accepts, {});
  await routed({ createPaymentPayload }, selector, { onRoute() {} }).createPaymentPayload({ x402Version: 1, accepts: offers });
  assert.deepEqual(seen.map(({ network }) => network), names);
});

// A node of which the official schemes ask what they sign an approval under.
async function node() {
  const answers = { eth_call: `0x${'0'.repeat(64)}`, eth_getTransactionCount: '0x0' };
  const app = express().use(express.json());
  app.post('/', ({ body: { id, method } }, response) => {
    const result = answers[method];
    response.json({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no such method' } }) });
  });
  return listen(app);
}

// Two offers: the first needs a sponsor, whose extension is advertised.
const SPONSORED = { 'eip2612-sponsored': 'eip2612GasSponsoring', 'erc20-approval-sponsored': 'erc20ApprovalGasSponsoring' };
function sponsoredTerms(note) {
  const sponsored = evmOffer(BASE);
  sponsored.extra = { ...sponsored.extra, assetTransferMethod: 'permit2' };
  const candidates = [[note], []].map((notes, requirementIndex) => ({ requirementIndex, viable: true, notes, symbol: 'USDC' }));
  const held = new Set();
  const hold = (index) => (held.add(index), { settle() {}, release: () => held.delete(index) });
  const challenge = { ...terms(sponsored, evmOffer(BASE_SEPOLIA)), extensions: { [SPONSORED[note]]: { info: { version: '1' }, schema: {} } } };
  return { challenge, held, selector: { select: async () => ({ candidates, hold }) } };
}

for (const [note, extension] of Object.entries(SPONSORED)) {
  const paying = (selector, options, config) => {
    const scheme = new ExactEvmScheme(account, options);
    return routed(client({ schemes: [{ network: 'eip155:*', client: scheme }] }), selector, { onRoute() {}, ...config });
  };

  test(`${extension}: an official client with an RPC endpoint signs what the sponsor takes`, async () => {
    const { challenge, selector, held } = sponsoredTerms(note);
    const { url, close } = await node();
    try {
      const { accepted, extensions } = await paying(selector, { 8453: { rpcUrl: url } }).createPaymentPayload(challenge);
      assert.equal(accepted, challenge.accepts[0]);
      const { info } = extensions[extension];
      assert.match(info.signature ?? info.signedTransaction, /^0x[0-9a-f]+$/);
      assert.deepEqual([...held], [0]);
    } finally {
      close();
    }
  });

  test(`${extension}: a payment of a client that has none does not leave`, async () => {
    const { challenge, selector, held } = sponsoredTerms(note);
    assert.equal((await paying(selector).createPaymentPayload(challenge)).accepted, challenge.accepts[1]);
    assert.deepEqual([...held], [1]);
    const alone = sponsoredTerms(note);
    const payment = paying(alone.selector, undefined, { exclusive: true }).createPaymentPayload(alone.challenge);
    await assert.rejects(payment, (error) => UnsponsoredError.is(error) && error.missing.startsWith(`extensions.${extension}.info.`));
    assert.deepEqual([...alone.held], []);
  });
}

test('arguments are named when they are wrong', async () => {
  const { selector } = await selectorOver(RICH);
  const commonJs = createRequire(import.meta.url)('payroute/x402');
  const once = commonJs.routed(client(), selector);
  const inner = client();
  commonJs.routed(new x402HTTPClient(inner), selector);
  routed(new x402HTTPClient(inner), selector); // another around the same signs by it, once
  for (const [path, ...call] of [
    ['client', {}, selector],
    ['client', undefined, selector],
    ['client', once, selector],
    ['client', new x402HTTPClient(once), selector],
    ['client', inner, selector],
    ['selector', client(), {}],
    ['exclusive', client(), selector, { exclusive: 'yes' }],
    ['onRoute', client(), selector, { onRoute: 1 }],
  ]) {
    assert.throws(() => routed(...call), (error) => error instanceof TypeError && error.message.startsWith(`${path}: `));
  }
});
