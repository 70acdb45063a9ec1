// Paid requests from end to end: real merchant, real facilitator, real signatures,
// and balances that move on real chains.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import express from 'express';
import { InsufficientLiquidityError, PayrouteError } from 'payroute';
import { routed, withReadable402 } from 'payroute/x402';
import { headerValue } from '../../pkg/test/support/offers.mjs';
import { freePort } from '../../pkg/test/support/port.mjs';
import { selectorOf, stockClient } from './buyer.mjs';
import { DISGUISES, disguised } from './disguises.mjs';
import { listen } from './listen.mjs';
import { evmAccount, solanaSeed } from './parties.mjs';
import { ARTICLE } from './shop.mjs';
import { BASE, BASE_SEPOLIA, SOLANA, startWorld } from './world.mjs';

const NETWORKS = [BASE, BASE_SEPOLIA, SOLANA];
const PRICE = 50_000n;

let world;
before(async () => {
  world = await startWorld();
});
after(() => world?.stop());

const partyOf = (role, network) => world.net[role][network.split(':')[0]];
const assetOf = (network) => world.net.networks[network].assets.USDC;
const on = (network) => ({ network, asset: assetOf(network) });

async function balance(role, network) {
  const answer = await world.net.control({ op: 'balance', ...on(network), owner: partyOf(role, network) });
  return BigInt(answer.balance);
}

async function move(network, from, to, amount) {
  const [payer, payee] = [partyOf(from, network), partyOf(to, network)];
  await world.net.control({ op: 'transfer', ...on(network), from: payer, to: payee, amount: String(amount) });
}

// The buyer starts every story with the price on each of the networks that are named.
async function hold(...networks) {
  for (const network of NETWORKS) {
    const [wanted, held] = [networks.includes(network) ? PRICE : 0n, await balance('buyer', network)];
    if (held > wanted) await move(network, 'buyer', 'treasury', held - wanted);
    if (held < wanted) await move(network, 'treasury', 'buyer', wanted - held);
  }
}
beforeEach(() => {
  world.settlements.length = 0;
});

async function buyer({ selector = {}, options, fetch = globalThis.fetch } = {}) {
  const client = new x402HTTPClient(await stockClient(world.net));
  return wrapFetchWithPayment(fetch, routed(client, await selectorOf(world.net, selector), options));
}

async function assertPaidOn(network, response) {
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), ARTICLE);
  assert.deepEqual(world.settlements.map((settled) => [settled.success, settled.network]), [[true, network]]);
}

for (const network of NETWORKS) {
  test(`the money moves on the preferred network: ${network}`, async () => {
    await hold(...NETWORKS);
    const before = await balance('merchant', network);
    const pay = await buyer({ selector: { preferNetworks: [network] } });
    await assertPaidOn(network, await pay(world.article));
    assert.equal(await balance('merchant', network), before + PRICE);
    const left = await Promise.all(NETWORKS.map((other) => balance('buyer', other)));
    assert.deepEqual(left, NETWORKS.map((other) => (other === network ? 0n : PRICE)));
  });

  test(`the only network that can pay does, whatever is preferred: ${network}`, async () => {
    await hold(network);
    const preferNetworks = NETWORKS.filter((other) => other !== network);
    await assertPaidOn(network, await (await buyer({ selector: { preferNetworks } }))(world.article));
  });
}

test('with a dead endpoint the payment arrives on the other network', async () => {
  await hold(BASE, SOLANA);
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const pay = await buyer({ selector: { preferNetworks: [BASE], rpc: { [BASE]: nobody } } });
  await assertPaidOn(SOLANA, await pay(world.article));
});

test('an endpoint of another chain is no reason to pay there', async () => {
  await hold(BASE, SOLANA);
  const wrong = world.net.networks[BASE_SEPOLIA].rpc;
  const pay = await buyer({ selector: { preferNetworks: [BASE], rpc: { [BASE]: wrong } } });
  await assertPaidOn(SOLANA, await pay(world.article));
});

test('what the token itself would refuse is seen before a signature', async () => {
  await hold(BASE, BASE_SEPOLIA);
  const owner = world.net.buyer.eip155;
  await world.net.control({ op: 'blacklist', ...on(BASE), owner });
  try {
    const pay = await buyer({ selector: { preferNetworks: [BASE] } });
    await assertPaidOn(BASE_SEPOLIA, await pay(world.article));
    world.settlements.length = 0;
    await world.net.control({ op: 'pause', ...on(BASE_SEPOLIA) });
    await hold(SOLANA).catch(() => {});
    await move(SOLANA, 'treasury', 'buyer', PRICE);
    await assertPaidOn(SOLANA, await pay(world.article));
  } finally {
    await world.net.control({ op: 'unblacklist', ...on(BASE), owner });
    await world.net.control({ op: 'unpause', ...on(BASE_SEPOLIA) });
  }
});

test('with no funds the deficits reach the application, and nothing is signed', async () => {
  await hold();
  await move(BASE, 'treasury', 'buyer', 20_000n);
  const pay = await buyer();
  await assert.rejects(pay(world.article), (error) => {
    assert.ok(error instanceof InsufficientLiquidityError && PayrouteError.is(error));
    assert.deepEqual(error.deficits.map(({ text }) => text), [
      '0.03 USDC short on Base (needs 0.05, has 0.02)',
      '0.05 USDC short on Base Sepolia (needs 0.05, has 0)',
      '0.05 USDC short on Solana (needs 0.05, has 0)',
    ]);
    return true;
  });
  assert.deepEqual(world.settlements, []);
});

test('a plain client pays too; its errors, @x402/fetch turns into a text', async () => {
  await hold(BASE);
  const client = routed(await stockClient(world.net), await selectorOf(world.net));
  assert.ok(client instanceof x402Client);
  const pay = wrapFetchWithPayment(fetch, client);
  await assertPaidOn(BASE, await pay(world.article));
  await assert.rejects(pay(world.article), (error) => {
    assert.ok(!PayrouteError.is(error));
    assert.match(error.message, /0\.05 USDC short on Base \(needs 0\.05, has 0\)/);
    return true;
  });
});

test('payments at once are each made once', async () => {
  await hold();
  await move(BASE, 'treasury', 'buyer', 3n * PRICE);
  const before = await balance('merchant', BASE);
  const pay = await buyer();
  const responses = await Promise.all([1, 2, 3].map(() => pay(world.article)));
  assert.deepEqual(responses.map(({ status }) => status), [200, 200, 200]);
  assert.equal(new Set(world.settlements.map(({ transaction }) => transaction)).size, 3);
  assert.equal(await balance('merchant', BASE), before + 3n * PRICE);
  assert.equal(await balance('buyer', BASE), 0n);
});

test('payments at once do not count on the same money', async () => {
  await hold(BASE, SOLANA);
  const pay = await buyer({ selector: { preferNetworks: [BASE] } });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => pay(world.article)));
  assert.deepEqual(world.settlements.map(({ success, network }) => [success, network]).sort(), [[true, BASE], [true, SOLANA]]);
  const short = outcomes.filter(({ status }) => status === 'rejected');
  assert.equal(short.length, 1);
  assert.ok(short[0].reason instanceof InsufficientLiquidityError);
  assert.match(short[0].reason.deficits[0].text, /held/);
});

for (const name of Object.keys(DISGUISES)) {
  test(`a stock client rejects terms ${name}, and pays them made readable`, async () => {
    await hold(SOLANA);
    const odd = disguised(fetch, name);
    await assert.rejects(wrapFetchWithPayment(odd, await stockClient(world.net))(world.article));
    assert.deepEqual(world.settlements, []);
    await assertPaidOn(SOLANA, await (await buyer({ fetch: withReadable402(odd) }))(world.article));
  });
}

// The program of docs/x402-client.md, run as often as is liked.
async function readmeExample(use) {
  const readme = readFileSync(new URL('../../docs/x402-client.md', import.meta.url), 'utf8');
  const [, code] = /```js\n(import \{ [^`]*payroute\/x402[^`]*)```/.exec(readme);
  assert.ok(code.trimEnd().split('\n').length < 30);
  const file = new URL('./readme-example.tmp.mjs', import.meta.url);
  writeFileSync(file, code);
  const env = {
    ...process.env,
    EVM_KEY: `0x${Buffer.from(evmAccount('buyer').getHdKey().privateKey).toString('hex')}`,
    SOLANA_KEY: solanaSeed('buyer').toString('hex'),
    BASE_RPC: world.net.networks[BASE].rpc,
    SOLANA_RPC: world.net.networks[SOLANA].rpc,
  };
  try {
    await use(async (url) => (await promisify(execFile)(process.execPath, [file.pathname, url], { env })).stdout.trim());
  } finally {
    rmSync(file);
  }
}

test('the example of the documentation pays, and tells what is short', () =>
  readmeExample(async (run) => {
    await hold(BASE);
    assert.equal(await run(world.article), `200 ${JSON.stringify(ARTICLE)}`);
    assert.equal(await run(world.article), [
      '0.05 USDC short on Base (needs 0.05, has 0)',
      '0.05 USDC short on Solana (needs 0.05, has 0)',
    ].join('\n'));
  }));

// Permit2 and the proxy of x402, of which a selection asks no more than that there is code.
const PERMIT2 = ['0x000000000022D473030F116dDEE9F6B43aC78BA3', '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'];

async function withPermit2(use) {
  const place = (code) => Promise.all(PERMIT2.map(async (address) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_setCode', params: [address, code] });
    const headers = { 'content-type': 'application/json' };
    const answer = await (await fetch(world.net.networks[BASE].rpc, { method: 'POST', headers, body })).json();
    assert.equal(answer.error, undefined);
  }));
  await place('0x00');
  try {
    await use();
  } finally {
    await place('0x');
  }
}

test('the example of the documentation signs the permit that a sponsor takes', () =>
  withPermit2(() => readmeExample(async (run) => {
    await hold(BASE);
    const extra = { name: 'USD Coin', version: '2', assetTransferMethod: 'permit2' };
    const offer = { scheme: 'exact', network: BASE, amount: String(PRICE), asset: assetOf(BASE), payTo: partyOf('merchant', BASE), maxTimeoutSeconds: 60, extra };
    const extensions = { eip2612GasSponsoring: { info: { version: '1' }, schema: {} } };
    const challenge = { x402Version: 2, resource: { url: 'https://shop.example/a' }, accepts: [offer], extensions };
    const shop = await listen(express().get('/', ({ headers }, response) => {
      const payment = headers['payment-signature'];
      if (payment) response.send(Buffer.from(payment, 'base64').toString());
      else response.status(402).set('PAYMENT-REQUIRED', headerValue(challenge)).json({});
    }));
    try {
      const [status, payment] = (await run(shop.url)).split(/ (.*)/);
      const { accepted, extensions: { eip2612GasSponsoring: { info } } } = JSON.parse(payment);
      assert.deepEqual([status, accepted], ['200', offer]);
      assert.deepEqual([info.from, info.amount], [partyOf('buyer', BASE), String(PRICE)]);
      assert.match(info.signature, /^0x[0-9a-f]{130}$/);
    } finally {
      shop.close();
    }
  })));

test('the merchant runs as a program of its own', async () => {
  const program = new URL('./merchant.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = await once(createInterface(child.stdout), 'line');
  const { article, facilitator, networks, control, buyer: parties } = JSON.parse(line);
  assert.equal((await fetch(article)).status, 402);
  assert.equal((await (await fetch(`${facilitator}/supported`)).json()).kinds.length, 3);
  assert.deepEqual(Object.keys(networks).sort(), [...NETWORKS].sort());
  const held = { op: 'balance', network: BASE, asset: networks[BASE].assets.USDC, owner: parties.eip155 };
  const answer = await fetch(control, { method: 'POST', body: JSON.stringify(held) });
  assert.deepEqual(await answer.json(), { balance: '0' });
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
});
