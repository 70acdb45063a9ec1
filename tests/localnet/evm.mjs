// The two EVM chains: starts them through the guard, puts the local dollar token
// at each USDC address, and drives it. Knows nothing of Solana, of the control
// protocol, or of who asks.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { tokenContract } from './contract.mjs';
import { EVM_NETWORKS, EVM_PARTIES, TREASURY_ATOMIC } from './world.mjs';

const RECEIPT_DEADLINE_MS = 5000;

const { bytecode, selectors } = tokenContract();
const word = (value) => BigInt(value).toString(16).padStart(64, '0');
const callData = (signature, ...args) => `0x${selectors[signature]}${args.map(word).join('')}`;

// Each text short enough for one word of its own, after its length.
function encodeTexts(...texts) {
  const head = texts.map((_, index) => word(32 * (texts.length + 2 * index)));
  const tail = texts.map((text) => word(text.length) + Buffer.from(text).toString('hex').padEnd(64, '0'));
  return [...head, ...tail].join('');
}

function client(url) {
  let id = 0;
  return async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
    const headers = { 'content-type': 'application/json' };
    const reply = await (await fetch(url, { method: 'POST', headers, body })).json();
    if (reply.error) throw new Error(reply.error.message);
    return reply.result;
  };
}

// gasPrice 0 lets an impersonated sender without ether pay for its transaction.
async function transact(rpc, transaction) {
  const hash = await rpc('eth_sendTransaction', { gasPrice: '0x0', ...transaction });
  const deadline = Date.now() + RECEIPT_DEADLINE_MS;
  while (Date.now() < deadline) {
    const receipt = await rpc('eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return receipt;
    if (receipt) throw new Error(`transaction ${hash} reverted`);
    await new Promise((done) => setTimeout(done, 5));
  }
  throw new Error(`transaction ${hash} was not mined`);
}

async function balanceOf(rpc, asset, owner) {
  return BigInt(await rpc('eth_call', { to: asset, data: callData('balanceOf(address)', owner) }, 'latest'));
}

// The constructor cannot run at a chosen address, so it runs at an ordinary one
// and its code and every slot it wrote are carried over, as the node's own trace
// tells them. From there on the token is driven by transactions only.
async function placeToken(rpc, asset, symbol, domain) {
  const data = bytecode + encodeTexts(domain.name, domain.version, symbol);
  const { treasury } = EVM_PARTIES;
  const { transactionHash, contractAddress } = await transact(rpc, { from: treasury, data });
  const trace = await rpc('debug_traceTransaction', transactionHash,
    { tracer: 'prestateTracer', tracerConfig: { diffMode: true } });
  await rpc('anvil_setCode', asset, await rpc('eth_getCode', contractAddress, 'latest'));
  for (const [slot, value] of Object.entries(trace.post[contractAddress.toLowerCase()].storage)) {
    await rpc('anvil_setStorageAt', asset, slot, value);
  }
  const mint = callData('mint(address,uint256)', treasury, TREASURY_ATOMIC);
  await transact(rpc, { from: treasury, to: asset, data: mint });
  if (await balanceOf(rpc, asset, treasury) !== TREASURY_ATOMIC) throw new Error('the mint did not arrive');
}

// The treasury made the token, so it is the issuer whom the token obeys.
function tokenOperations(rpc) {
  let last = Promise.resolve();
  // One at a time: two requests of one sender must not race for a nonce.
  const send = (from, to, data) => {
    const next = () => transact(rpc, { from, to, data });
    last = last.then(next, next);
    return last.then((receipt) => receipt.transactionHash);
  };
  const issue = (asset, signature, ...args) => send(EVM_PARTIES.treasury, asset, callData(signature, ...args));
  return {
    balance: (asset, owner) => balanceOf(rpc, asset, owner),
    transfer: (asset, from, to, amount) => send(from, asset, callData('transfer(address,uint256)', to, amount)),
    blacklist: (asset, account) => issue(asset, 'blacklist(address)', account),
    unblacklist: (asset, account) => issue(asset, 'unBlacklist(address)', account),
    pause: (asset) => issue(asset, 'pause()'),
    unpause: (asset) => issue(asset, 'unpause()'),
  };
}

async function openChain(port, { chainId, assets, domain }) {
  const url = `http://127.0.0.1:${port}`;
  const rpc = client(url);
  if (Number(await rpc('eth_chainId')) !== chainId) throw new Error(`${url} is not chain ${chainId}`);
  for (const [symbol, asset] of Object.entries(assets)) await placeToken(rpc, asset, symbol, domain);
  return {
    url,
    assets,
    isAddress: (text) => /^0x[0-9a-fA-F]{40}$/.test(text),
    maxAmount: 2n ** 256n - 1n,
    ...tokenOperations(rpc),
  };
}

function spawnGuard() {
  const guard = fileURLToPath(new URL('./anvil-guard.mjs', import.meta.url));
  const ids = Object.values(EVM_NETWORKS).map(({ chainId }) => String(chainId));
  const child = spawn(process.execPath, [guard, ...ids], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  return child;
}

// onEnd is called once the guard and with it both anvils are gone.
export function startEvm(onEnd) {
  const guard = spawnGuard();
  guard.on('exit', onEnd);
  const ready = new Promise((resolve, reject) => {
    guard.on('exit', (code) => reject(new Error(`the anvil guard ended (${code})`)));
    createInterface({ input: guard.stdout }).once('line', resolve);
  });
  const open = async () => {
    const anvils = JSON.parse(await ready);
    const chains = Object.entries(EVM_NETWORKS).map(async ([network, facts]) => {
      const { port, pid } = anvils[facts.chainId];
      console.error(`anvil ${facts.chainId}: pid ${pid}, port ${port}`);
      return [network, await openChain(port, facts)];
    });
    return Object.fromEntries(await Promise.all(chains));
  };
  return { chains: open(), stop: () => guard.stdin.end() };
}
