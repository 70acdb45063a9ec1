// The native agent of examples/agent against the same merchant: starts the world,
// runs the program that is named on the command line through three stories, and
// ends it. Knows nothing of how the agent pays.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getBase58Decoder, getBase58Encoder } from '@solana/kit';
import { bytesToHex } from 'viem';
import { evmAccount, solanaSeed } from './parties.mjs';
import { BASE, BASE_SEPOLIA, SOLANA, startWorld } from './world.mjs';

const DEAD = 'http://127.0.0.1:9';
const FUNDS = '50000';

const [program] = process.argv.slice(2);
if (!program) {
  console.error('usage: node agent.mjs PROGRAM');
  process.exit(2);
}

const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), 'payroute-agent-'));

function keys() {
  const seed = solanaSeed('buyer');
  const account = Buffer.from(getBase58Encoder().encode(world.net.buyer.solana));
  return {
    EVM_PRIVATE_KEY: bytesToHex(evmAccount('buyer').getHdKey().privateKey),
    SVM_PRIVATE_KEY: getBase58Decoder().decode(Buffer.concat([seed, account])),
  };
}

async function transfer(network, from, to, amount) {
  const family = network.split(':')[0];
  const asset = world.net.networks[network].assets.USDC;
  const parties = { from: world.net[from][family], to: world.net[to][family] };
  await world.net.control({ op: 'transfer', network, asset, amount, ...parties });
}

function configuration(dead) {
  const rpc = ([network, facts]) => [network, { rpc: [dead.includes(network) ? DEAD : facts.rpc] }];
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({
    networks: Object.fromEntries(Object.entries(world.net.networks).map(rpc)),
    routing: { preferNetworks: [SOLANA, BASE, BASE_SEPOLIA], probeTimeoutMs: 5000 },
  }));
  return file;
}

// What it writes is for people; what it came to is checked by what was settled.
async function tell(title, { dead = [], exit, settledOn }) {
  console.log(`\n# ${title}\n`);
  world.settlements.length = 0;
  const options = { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...keys() } };
  const agent = spawn(program, ['--config', configuration(dead), world.article], options);
  const [code] = await once(agent, 'exit');
  assert.equal(code, exit, 'the exit status');
  assert.deepEqual(world.settlements.map(({ success, network }) => success && network), settledOn);
}

try {
  await transfer(SOLANA, 'treasury', 'buyer', FUNDS);
  await transfer(BASE, 'treasury', 'buyer', FUNDS);
  await tell('Money on Solana and on Base, Solana preferred', { exit: 0, settledOn: [SOLANA] });
  await transfer(SOLANA, 'treasury', 'buyer', FUNDS);
  await tell('The same, and the Solana endpoint is dead', { dead: [SOLANA], exit: 0, settledOn: [BASE] });
  await transfer(SOLANA, 'buyer', 'treasury', FUNDS);
  await tell('No money anywhere', { exit: 1, settledOn: [] });
} finally {
  rmSync(folder, { recursive: true });
  await world.stop();
}
