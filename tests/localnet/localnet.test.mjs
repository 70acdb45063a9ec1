// Starts the local world as its users do, and checks it from outside only: over
// its public endpoints, and by whether its processes are gone. Looks at no state
// inside it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { getBase58Decoder } from '@solana/kit';
import { findAssociatedTokenPda } from '@solana-program/token';

const START = fileURLToPath(new URL('./start.mjs', import.meta.url));
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const TREASURY = 1_000_000_000_000n;
const IN_TIME = { timeout: 10_000 };
const BASE64 = { encoding: 'base64', commitment: 'confirmed' };

async function start() {
  const child = spawn(process.execPath, [START], { stdio: ['pipe', 'pipe', 'pipe'] });
  const anvils = [];
  const lines = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    const pid = /^anvil \d+: pid (\d+)/.exec(line)?.[1];
    if (pid) anvils.push(Number(pid));
    else console.error(line);
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => resolve(lines.push(line)));
    ended.then(() => reject(new Error('ended before it was ready')));
  });
  return { child, anvils, lines, ended, world: JSON.parse(lines[0]) };
}

async function post(url, body) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
  const reply = await response.text();
  return { status: response.status, reply: reply && JSON.parse(reply), text: reply };
}

async function rpc(url, method, ...params) {
  const { reply } = await post(url, { jsonrpc: '2.0', id: 7, method, params });
  assert.equal(reply.id, 7);
  return reply;
}

let local;
let world;
let solana;
before(async () => {
  const from = performance.now();
  local = await start();
  console.error(`ready in ${Math.round(performance.now() - from)} ms`);
  world = local.world;
  solana = world.networks[SOLANA].rpc;
});
after(() => local.child.stdin.end());

const control = (operation) => post(world.control, operation);
const assetOf = (network, symbol) => world.networks[network].assets[symbol];

async function evmBalance(network, owner) {
  const { rpc: url, assets } = world.networks[network];
  const data = `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt((await rpc(url, 'eth_call', { to: assets.USDC, data }, 'latest')).result);
}

async function tokenAccounts(symbol, ...owners) {
  const mint = assetOf(SOLANA, symbol);
  const tokenProgram = symbol === 'USDC' ? TOKEN : TOKEN_2022;
  const keys = await Promise.all(owners.map(async (owner) =>
    (await findAssociatedTokenPda({ mint, owner, tokenProgram }))[0]));
  const { result } = await rpc(solana, 'getMultipleAccounts', keys, BASE64);
  return result.value.map((account, index) => {
    if (account === null) return null;
    const data = Buffer.from(account.data[0], 'base64');
    const key = (offset) => getBase58Decoder().decode(data.subarray(offset, offset + 32));
    assert.equal(account.owner, tokenProgram);
    assert.equal(account.space, data.length);
    assert.deepEqual([key(0), key(32)], [mint, owners[index]]);
    return { amount: data.readBigUInt64LE(64), state: data[108], size: data.length };
  });
}

for (const network of ['eip155:8453', 'eip155:84532']) {
  test(`${network}: a real token moves`, async () => {
    const { treasury, buyer, merchant } = world;
    const url = world.networks[network].rpc;
    assert.equal(Number((await rpc(url, 'eth_chainId')).result), Number(network.split(':')[1]));
    assert.equal(await evmBalance(network, treasury.eip155), TREASURY);
    assert.equal(await evmBalance(network, buyer.eip155), 0n);
    const move = { op: 'transfer', network, asset: assetOf(network, 'USDC').toLowerCase() };
    const paid = await control({ ...move, from: treasury.eip155, to: buyer.eip155, amount: '2500000' });
    assert.equal(paid.status, 200, paid.text);
    const stranger = '0x00000000000000000000000000000000000a11ce';
    await control({ ...move, from: buyer.eip155, to: stranger, amount: '500000' });
    // A sender with no ether and no key of ours.
    const on = await control({ ...move, from: stranger, to: merchant.eip155, amount: '500000' });
    assert.equal(on.status, 200, on.text);
    assert.equal(await evmBalance(network, treasury.eip155), TREASURY - 2_500_000n);
    assert.equal(await evmBalance(network, buyer.eip155), 2_000_000n);
    assert.equal(await evmBalance(network, merchant.eip155), 500_000n);
    const { reply } = await control({ op: 'balance', network, asset: assetOf(network, 'USDC'), owner: buyer.eip155 });
    assert.deepEqual(reply, { balance: '2000000' });
    const receipt = (await rpc(url, 'eth_getTransactionReceipt', paid.reply.transaction)).result;
    assert.equal(receipt.logs.length, 1);
  });
}

test('the two chains do not share balances', async () => {
  const asset = assetOf('eip155:8453', 'USDC');
  const move = { op: 'transfer', network: 'eip155:8453', asset, from: world.treasury.eip155 };
  const to = '0x00000000000000000000000000000000000b0b00';
  await Promise.all(['1', '2', '3'].map((amount) => control({ ...move, to, amount })));
  assert.equal(await evmBalance('eip155:8453', to), 6n);
  assert.equal(await evmBalance('eip155:84532', to), 0n);
});

for (const symbol of ['USDC', 'PYUSD']) {
  test(`Solana ${symbol}: a real token moves, freezes and thaws`, async () => {
    const { treasury, buyer, merchant } = world;
    const asset = assetOf(SOLANA, symbol);
    const on = { network: SOLANA, asset };
    const before = await tokenAccounts(symbol, treasury.solana, merchant.solana, buyer.solana);
    assert.deepEqual(before.map((account) => account?.amount), [TREASURY, 0n, undefined]);
    const pay = { op: 'transfer', ...on, from: treasury.solana, to: buyer.solana, amount: '700000' };
    for (let times = 0; times < 2; times += 1) assert.equal((await control(pay)).status, 200);
    const move = { op: 'transfer', ...on, from: buyer.solana, to: merchant.solana, amount: '400000' };
    assert.equal((await control(move)).status, 200);
    const moved = await tokenAccounts(symbol, treasury.solana, merchant.solana, buyer.solana);
    assert.deepEqual(moved.map(({ amount }) => amount), [TREASURY - 1_400_000n, 400_000n, 1_000_000n]);
    if (symbol === 'USDC') assert.equal(moved[0].size, 165);
    else assert.ok(moved[0].size > 165);

    const owner = buyer.solana;
    assert.equal((await control({ op: 'freeze', ...on, owner })).status, 200);
    assert.equal((await tokenAccounts(symbol, owner))[0].state, 2);
    const refused = await control(move);
    assert.equal(refused.status, 400);
    assert.match(refused.reply.error, /^op: the chain refused/);
    assert.equal((await control({ op: 'thaw', ...on, owner })).status, 200);
    assert.equal((await control(move)).status, 200);
    assert.deepEqual((await control({ op: 'balance', ...on, owner })).reply, { balance: '600000' });
    assert.deepEqual((await tokenAccounts(symbol, owner))[0].amount, 600_000n);
  });
}

test('an owner whose key nobody here has can receive and send', async () => {
  const stranger = 'So11111111111111111111111111111111111111112';
  const on = { op: 'transfer', network: SOLANA, asset: assetOf(SOLANA, 'USDC') };
  const { treasury, merchant } = world;
  assert.equal((await control({ ...on, from: treasury.solana, to: stranger, amount: '9' })).status, 200);
  assert.equal((await control({ ...on, from: stranger, to: merchant.solana, amount: '4' })).status, 200);
  assert.equal((await tokenAccounts('USDC', stranger))[0].amount, 5n);
});

test('the mints are what their programs make', async () => {
  const { USDC, PYUSD } = world.networks[SOLANA].assets;
  const { value } = (await rpc(solana, 'getMultipleAccounts', [USDC, PYUSD], BASE64)).result;
  assert.deepEqual(value.map(({ owner }) => owner), [TOKEN, TOKEN_2022]);
  const data = value.map((account) => Buffer.from(account.data[0], 'base64'));
  assert.deepEqual(data.map((bytes) => bytes[44]), [6, 6]);
  assert.deepEqual(data.map((bytes) => bytes.readBigUInt64LE(36)), [TREASURY, TREASURY]);
  assert.equal(data[0].length, 82);
  assert.equal(data[1].length, 418);
  assert.equal(data[1][165], 1);
});

test('accounts have the shape Agave gives them', async () => {
  const { buyer } = world;
  const keys = [TOKEN, buyer.solana, assetOf(SOLANA, 'USDC')];
  const { text, reply } = await post(solana, {
    jsonrpc: '2.0', id: 'a', method: 'getMultipleAccounts',
    params: [keys, { ...BASE64, dataSlice: { offset: 44, length: 1 } }],
  });
  assert.equal(reply.id, 'a');
  assert.match(text, /"rentEpoch":18446744073709551615,/);
  const { context, value } = reply.result;
  assert.deepEqual(Object.keys(context), ['apiVersion', 'slot']);
  assert.equal(value[0].executable, true);
  assert.equal(value[1], null);
  assert.deepEqual(Object.keys(value[2]), ['data', 'executable', 'lamports', 'owner', 'rentEpoch', 'space']);
  assert.deepEqual(value[2].data, [Buffer.from([6]).toString('base64'), 'base64']);
  assert.equal(value[2].space, 82);
  const past = { ...BASE64, dataSlice: { offset: 500, length: 9 } };
  assert.deepEqual((await rpc(solana, 'getAccountInfo', keys[2], past)).result.value.data, ['', 'base64']);
});

test('the clock and the slot follow real time', async () => {
  const read = async () => {
    const { context, value } = (await rpc(solana, 'getAccountInfo', CLOCK, BASE64)).result;
    const data = Buffer.from(value.data[0], 'base64');
    assert.equal(data.length, 40);
    assert.equal(Number(data.readBigUInt64LE(0)), context.slot);
    return { slot: context.slot, time: Number(data.readBigInt64LE(32)) };
  };
  const first = await read();
  assert.ok(Math.abs(first.time - Date.now() / 1000) <= 2);
  await new Promise((done) => setTimeout(done, 1100));
  const second = await read();
  assert.ok(second.time > first.time && second.slot > first.slot);
  assert.ok((await rpc(solana, 'getSlot')).result >= second.slot);
});

test('JSON-RPC: batches, ids and refusals', async () => {
  const batch = await post(solana, [
    { jsonrpc: '2.0', id: 2, method: 'getGenesisHash' },
    { jsonrpc: '2.0', id: 'x', method: 'getHealth', params: [] },
    { jsonrpc: '2.0', id: 3, method: 'nope' },
    { jsonrpc: '2.0', method: 'getHealth' },
    5,
  ]);
  assert.deepEqual(batch.reply.map(({ id }) => id), [2, 'x', 3, null]);
  assert.equal(batch.reply[0].result, '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d');
  assert.equal(batch.reply[1].result, 'ok');
  assert.deepEqual(batch.reply.slice(2).map(({ error }) => error.code), [-32601, -32600]);
  assert.equal((await post(solana, '{nope')).reply.error.code, -32700);
  assert.equal((await post(solana, [])).reply.error.code, -32600);
  assert.equal((await post(solana, { id: 1, method: 'getSlot' })).reply.error.code, -32600);
  assert.equal((await rpc(solana, 'toString')).error.code, -32601);

  const many = (count) => rpc(solana, 'getMultipleAccounts', Array(count).fill(CLOCK), BASE64);
  assert.equal((await many(100)).result.value.length, 100);
  assert.equal((await many(101)).error.code, -32602);
  for (const params of [[['bad'], BASE64], [[CLOCK], { encoding: 'jsonParsed' }], [[CLOCK]], [], [CLOCK, BASE64]]) {
    assert.equal((await rpc(solana, 'getMultipleAccounts', ...params)).error?.code, -32602);
  }
  const future = { ...BASE64, minContextSlot: 2 ** 50 };
  assert.equal((await rpc(solana, 'getMultipleAccounts', [CLOCK], future)).error.code, -32016);
});

test('control names the field that is wrong', async () => {
  const good = {
    op: 'transfer', network: 'eip155:8453', asset: assetOf('eip155:8453', 'USDC'),
    from: world.buyer.eip155, to: world.merchant.eip155, amount: '1',
  };
  const wrong = {
    op: 'toString', network: 'eip155:1', asset: world.buyer.eip155,
    from: '0x12', to: world.buyer.solana, amount: '-1',
  };
  for (const [field, value] of Object.entries(wrong)) {
    const { status, reply } = await control({ ...good, [field]: value });
    assert.equal(status, 400);
    assert.match(reply.error, new RegExp(`^${field}: `));
  }
  assert.match((await control({ ...good, amount: String(10n ** 20n) })).reply.error, /^amount: from holds only/);
  assert.match((await control('nope')).reply.error, /^body: /);
  assert.match((await control({ ...good, op: 'freeze', owner: good.from })).reply.error, /^network: /);
  const nobody = { op: 'freeze', network: SOLANA, asset: assetOf(SOLANA, 'USDC'), owner: CLOCK };
  assert.match((await control(nobody)).reply.error, /^owner: /);
});

function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function assertGone(pids) {
  assert.equal(pids.length, 2);
  for (let tries = 0; tries < 60 && pids.some(alive); tries += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.deepEqual(pids.filter(alive), []);
}

const ENDINGS = {
  'stdin closing': ({ child }) => child.stdin.end(),
  SIGTERM: ({ child }) => child.kill('SIGTERM'),
  SIGINT: ({ child }) => child.kill('SIGINT'),
  'the shutdown op': (other) => post(other.world.control, { op: 'shutdown' }),
};

for (const [name, end] of Object.entries(ENDINGS)) {
  test(`${name} ends everything`, IN_TIME, async () => {
    const other = await start();
    assert.ok(other.anvils.every(alive));
    await end(other);
    assert.equal(await other.ended, 0);
    await assertGone(other.anvils);
    assert.equal(other.lines.length, 1);
  });
}

test('killing the starter outright leaves no anvil', IN_TIME, async () => {
  const other = await start();
  other.child.kill('SIGKILL');
  await other.ended;
  await assertGone(other.anvils);
});

test('one anvil dying ends the rest, and says so', IN_TIME, async () => {
  const other = await start();
  process.kill(other.anvils[0], 'SIGKILL');
  assert.equal(await other.ended, 1);
  await assertGone(other.anvils);
});
