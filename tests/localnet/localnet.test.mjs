// Starts the local world as its users do, and checks it from outside only: over
// its public endpoints, and by whether its processes are gone. Looks at no state
// inside it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  appendTransactionMessageInstructions, compileTransaction, createKeyPairFromPrivateKeyBytes, createNoopSigner,
  createTransactionMessage, getBase58Decoder, getBase64EncodedWireTransaction, partiallySignTransaction,
  setTransactionMessageFeePayer, setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { findAssociatedTokenPda, getTransferCheckedInstruction } from '@solana-program/token';

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

// As block explorers show them for the live tokens.
const DOMAIN_SEPARATORS = {
  'eip155:8453': '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  'eip155:84532': '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
};
const word = (value) => BigInt(value).toString(16).padStart(64, '0');
const inWords = (...values) => values.map(word).join('');

// What one signs and what one sends, of EIP-3009 and EIP-2612. anvil signs for its own accounts.
const FIELDS = {
  EIP712Domain: 'string name, string version, uint256 chainId, address verifyingContract',
  TransferWithAuthorization:
    'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
  Permit: 'address owner, address spender, uint256 value, uint256 nonce, uint256 deadline',
};

async function signTyped(network, signer, primaryType, message, name) {
  const { rpc: url, assets } = world.networks[network];
  const types = Object.fromEntries(['EIP712Domain', primaryType].map((type) =>
    [type, FIELDS[type].split(', ').map((field) => field.split(' ')).map(([kind, key]) => ({ name: key, type: kind }))]));
  const domain = { name, version: '2', chainId: Number(network.split(':')[1]), verifyingContract: assets.USDC };
  const { result } = await rpc(url, 'eth_signTypedData_v4', signer, { types, domain, primaryType, message });
  return result.slice(2);
}

const inThree = (signature) => word(`0x${signature.slice(128)}`) + signature.slice(0, 128);
const inBytes = (signature) => word(7 * 32) + word(65) + signature.padEnd(6 * 32, '0');

async function sendToToken(network, data) {
  const { rpc: url, assets } = world.networks[network];
  // Anybody may bring an authorization: here the merchant, who holds no right to the money.
  const transaction = { from: world.merchant.eip155, to: assets.USDC, data, gasPrice: '0x0' };
  const { error } = await rpc(url, 'eth_call', transaction, 'latest');
  if (error) return error.message;
  const { result: hash } = await rpc(url, 'eth_sendTransaction', transaction);
  for (;;) {
    const { result: receipt } = await rpc(url, 'eth_getTransactionReceipt', hash);
    if (receipt) return receipt.status === '0x1' ? 'done' : 'reverted';
    await new Promise((mined) => setTimeout(mined, 5));
  }
}

for (const [network, name] of [['eip155:8453', 'USD Coin'], ['eip155:84532', 'USDC']]) {
  test(`${network}: the token answers as USDC and takes what its owner signed`, async () => {
    const { treasury, merchant } = world;
    const { rpc: url, assets } = world.networks[network];
    const read = async (data) => (await rpc(url, 'eth_call', { to: assets.USDC, data: `0x${data}` }, 'latest')).result;
    assert.equal(await read('3644e515'), DOMAIN_SEPARATORS[network]);
    assert.equal(Number(await read('313ce567')), 6);
    const text = Buffer.from((await read('06fdde03')).slice(130), 'hex').toString().replaceAll('\0', '');
    assert.equal(text, name);

    const payer = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
    const payee = '0x00000000000000000000000000000000000face0';
    await control({ op: 'transfer', network, asset: assets.USDC, from: treasury.eip155, to: payer, amount: '1000' });
    const authorize = async (tail, selector, nonce, { value = 300, validBefore = 2 ** 40, signer = payer } = {}) => {
      const message = { from: payer, to: payee, value, validAfter: 0, validBefore, nonce: `0x${word(nonce)}` };
      const signature = await signTyped(network, signer, 'TransferWithAuthorization', message, name);
      const head = inWords(payer, payee, value, 0, validBefore, nonce);
      return sendToToken(network, `0x${selector}${head}${tail(signature)}`);
    };
    assert.equal(await authorize(inThree, 'e3ee160e', 1), 'done');
    assert.equal(await authorize(inBytes, 'cf092995', 2), 'done');
    assert.equal(Number(await read(`e94a0102${inWords(payer, 2)}`)), 1, 'the nonce is used');
    assert.equal(Number(await read(`e94a0102${inWords(payer, 3)}`)), 0, 'the nonce is not used');
    assert.match(await authorize(inThree, 'e3ee160e', 2), /authorization is used/);
    assert.match(await authorize(inThree, 'e3ee160e', 3, { validBefore: 1 }), /authorization is expired/);
    assert.match(await authorize(inThree, 'e3ee160e', 3, { value: 401 }), /exceeds balance/);
    assert.match(await authorize(inBytes, 'cf092995', 3, { signer: merchant.eip155 }), /invalid signature/);
    assert.deepEqual([await evmBalance(network, payer), await evmBalance(network, payee)], [400n, 600n]);

    const permit = async (nonce) => {
      const message = { owner: payer, spender: merchant.eip155, value: 150, nonce, deadline: 2 ** 40 };
      const signature = await signTyped(network, payer, 'Permit', message, name);
      return sendToToken(network, `0xd505accf${inWords(payer, merchant.eip155, 150, 2 ** 40)}${inThree(signature)}`);
    };
    assert.equal(await permit(0), 'done');
    assert.match(await permit(0), /invalid signature/);
    assert.equal(Number(await read(`dd62ed3e${inWords(payer, merchant.eip155)}`)), 150);
    assert.equal(await sendToToken(network, `0x23b872dd${inWords(payer, payee, 150)}`), 'done');
    assert.match(await sendToToken(network, `0x23b872dd${inWords(payer, payee, 1)}`), /exceeds allowance/);
    assert.equal(await evmBalance(network, payer), 250n);
  });
}

test('an EVM token blacklists a holder and pauses', async () => {
  const network = 'eip155:84532';
  const asset = assetOf(network, 'USDC');
  const on = { network, asset };
  const owner = '0x000000000000000000000000000000000000d0d0';
  const move = { op: 'transfer', ...on, from: world.treasury.eip155, to: owner, amount: '7' };
  const read = async (data) => {
    const { result } = await rpc(world.networks[network].rpc, 'eth_call', { to: asset, data: `0x${data}` }, 'latest');
    return Number(result);
  };
  const blacklisted = () => read(`fe575a87${word(owner)}`);
  const paused = () => read('5c975abb');
  for (const [set, unset, state] of [['blacklist', 'unblacklist', blacklisted], ['pause', 'unpause', paused]]) {
    assert.equal(await state(), 0);
    const done = await control({ op: set, ...on, owner });
    assert.equal(done.status, 200, done.text);
    assert.equal(await state(), 1);
    assert.match((await control(move)).reply.error, /^op: the chain refused the transfer/);
    assert.equal((await control({ op: unset, ...on, owner })).status, 200);
    assert.equal(await state(), 0);
    assert.equal((await control(move)).status, 200);
  }
  const elsewhere = { network: SOLANA, asset: assetOf(SOLANA, 'USDC'), owner: world.buyer.solana };
  for (const op of ['blacklist', 'unblacklist']) {
    assert.match((await control({ op, ...elsewhere })).reply.error, /^network: /);
  }
  assert.match((await control({ op: 'pause', ...elsewhere })).reply.error, /^op: the chain refused to pause/);
});

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

const keysOf = (role) =>
  createKeyPairFromPrivateKeyBytes(createHash('sha256').update(`payroute localnet ${role}`).digest());

// A transfer from the treasury to the merchant, as a wallet would make it.
async function signedTransfer(amount, lifetime, signers = ['feePayer', 'treasury']) {
  const { treasury, merchant, feePayer } = world;
  const mint = assetOf(SOLANA, 'USDC');
  const [source, destination] = await Promise.all([treasury, merchant].map(async ({ solana: owner }) =>
    (await findAssociatedTokenPda({ mint, owner, tokenProgram: TOKEN }))[0]));
  const authority = createNoopSigner(treasury.solana);
  const transfer = getTransferCheckedInstruction({ source, mint, destination, authority, amount, decimals: 6 });
  const empty = setTransactionMessageFeePayer(feePayer.solana, createTransactionMessage({ version: 0 }));
  const message = appendTransactionMessageInstructions([transfer],
    setTransactionMessageLifetimeUsingBlockhash(lifetime, empty));
  const keys = await Promise.all(signers.map(keysOf));
  return getBase64EncodedWireTransaction(await partiallySignTransaction(keys, compileTransaction(message)));
}

test('a transaction signed elsewhere is tried, sent and told of', async () => {
  const { merchant } = world;
  const held = async () => (await tokenAccounts('USDC', merchant.solana))[0].amount;
  const before = await held();
  const { value: lifetime } = (await rpc(solana, 'getLatestBlockhash', { commitment: 'confirmed' })).result;
  const text = await signedTransfer(5n, lifetime);
  const tried = (await rpc(solana, 'simulateTransaction', text, { encoding: 'base64', sigVerify: true })).result.value;
  assert.equal(tried.err, null);
  assert.ok(tried.unitsConsumed > 0 && tried.logs.some((line) => line.includes('success')));
  assert.equal(await held(), before, 'trying moves nothing');

  // The chain going on does not make the blockhash too old.
  await control({ op: 'transfer', network: SOLANA, asset: assetOf(SOLANA, 'USDC'), from: world.treasury.solana,
    to: 'So11111111111111111111111111111111111111112', amount: '1' });
  const signature = (await rpc(solana, 'sendTransaction', text, { encoding: 'base64' })).result;
  assert.equal(await held(), before + 5n);
  const again = await rpc(solana, 'sendTransaction', text, { encoding: 'base64', skipPreflight: true });
  assert.equal(again.result, signature);
  assert.equal(await held(), before + 5n, 'sent twice, executed once');
  const { value } = (await rpc(solana, 'getSignatureStatuses', [signature, '1'.repeat(64)])).result;
  assert.deepEqual([value[0].confirmationStatus, value[0].err, value[1]], ['finalized', null, null]);
});

test('a transaction that cannot be is refused for its reason', async () => {
  const send = async (text, options = {}) =>
    rpc(solana, 'sendTransaction', text, { encoding: 'base64', ...options });
  const { value: lifetime } = (await rpc(solana, 'getLatestBlockhash')).result;
  const poor = await signedTransfer(10n ** 15n, lifetime);
  assert.deepEqual((await send(poor)).error.data.err, { InstructionError: [0, { Custom: 1 }] });
  // Without a trial first it lands, and fails there.
  const landed = (await send(poor, { skipPreflight: true })).result;
  const [status] = (await rpc(solana, 'getSignatureStatuses', [landed])).result.value;
  assert.deepEqual(status.err, { InstructionError: [0, { Custom: 1 }] });
  const unsigned = await signedTransfer(1n, lifetime, ['treasury']);
  assert.equal((await send(unsigned)).error.code, -32003);
  const tried = (options) => rpc(solana, 'simulateTransaction', unsigned, { encoding: 'base64', ...options });
  assert.equal((await tried({})).result.value.err, null, 'a trial needs no signature');
  assert.equal((await tried({ sigVerify: true })).error.code, -32003);
  const foreign = await signedTransfer(1n, { blockhash: world.feePayer.solana, lastValidBlockHeight: 9n });
  assert.equal((await send(foreign)).error.data.err, 'BlockhashNotFound');
  assert.equal((await send('AAAA')).error.code, -32602);
  const lost = (await send(foreign, { skipPreflight: true })).result;
  assert.deepEqual((await rpc(solana, 'getSignatureStatuses', [lost])).result.value, [null]);
});

test('an owner whose key nobody here has can receive and send', async () => {
  const stranger = 'Vote111111111111111111111111111111111111111';
  const on = { op: 'transfer', network: SOLANA, asset: assetOf(SOLANA, 'USDC') };
  const { treasury, merchant } = world;
  assert.equal((await control({ ...on, from: treasury.solana, to: stranger, amount: '9' })).status, 200);
  assert.equal((await control({ ...on, from: stranger, to: merchant.solana, amount: '4' })).status, 200);
  assert.equal((await tokenAccounts('USDC', stranger))[0].amount, 5n);
});

test('mints of one kind are made when they are asked for', async () => {
  const { buyer } = world;
  const made = async (kind) => (await control({ op: 'mint', network: SOLANA, kind })).reply.asset;
  for (const kind of ['default-frozen', 'non-transferable', 'pausable', 'plain', 'transfer-fee', 'transfer-hook']) {
    const asset = await made(kind);
    assert.equal(await made(kind), asset);
    const { owner } = (await rpc(solana, 'getAccountInfo', asset, BASE64)).result.value;
    assert.equal(owner, TOKEN_2022);
    const held = await control({ op: 'balance', network: SOLANA, asset, owner: buyer.solana });
    assert.deepEqual(held.reply, { balance: String(TREASURY) });
  }
  const on = { network: SOLANA, asset: await made('pausable') };
  const spend = { op: 'transfer', ...on, from: buyer.solana, to: world.merchant.solana, amount: '1' };
  assert.equal((await control({ op: 'pause', ...on })).status, 200);
  assert.equal((await control(spend)).status, 400);
  assert.equal((await control({ op: 'unpause', ...on })).status, 200);
  assert.equal((await control(spend)).status, 200);
  for (const kind of ['default-frozen', 'non-transferable', 'transfer-hook']) {
    assert.equal((await control({ ...spend, asset: await made(kind) })).status, 400, kind);
  }
  const plain = { ...spend, asset: await made('plain') };
  assert.equal((await control(plain)).status, 200);
  const demand = { op: 'demand-memo', network: SOLANA, asset: plain.asset, owner: world.merchant.solana };
  assert.equal((await control(demand)).status, 200);
  assert.equal((await control(plain)).status, 400);
  assert.equal((await control({ op: 'mint', network: SOLANA, kind: 'gold' })).status, 400);
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
  const zstd = (await rpc(solana, 'getAccountInfo', keys[2], { ...BASE64, encoding: 'base64+zstd' })).result.value.data;
  assert.equal(zstd[1], 'base64+zstd');
  const frame = Buffer.from(zstd[0], 'base64');
  assert.deepEqual([frame.readUInt32LE(0), frame.readUInt32LE(5), frame.length], [0xfd2fb528, 82, 9 + 3 + 82]);
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
