// A process of its own that owns the anvils: starts one for each chain id named
// on its command line, prints their ports and pids as one JSON line, and ends
// them when its stdin closes. Because the kernel closes that pipe however the
// starter dies, even SIGKILL leaves no orphan. Knows nothing of tokens.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const ARCH = { x64: 'amd64', arm64: 'arm64' };
const anvils = [];
let stopping = false;

// The wrapper package's own launcher is skipped: it would be one more process
// between us and the pid that has to be ended.
function anvilPath() {
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
  const platform = `@foundry-rs/anvil-${process.platform}-${ARCH[process.arch]}`;
  return createRequire(wrapper).resolve(`${platform}/bin/anvil`);
}

function startAnvil(path, chainId) {
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', chainId,
    '--auto-impersonate', '--gas-price', '0', '--block-base-fee-per-gas', '0'];
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  anvils.push(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      child.ended = true;
      reject(new Error(`anvil ${chainId} ended (${signal ?? code})`));
      void stop(1);
    });
    // Reading on to the end also keeps the pipe from filling up.
    createInterface({ input: child.stdout }).on('line', (line) => {
      const port = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (port) resolve([chainId, { port: Number(port), pid: child.pid }]);
    });
  });
}

async function stop(code) {
  if (stopping) return;
  stopping = true;
  for (const child of anvils) child.kill('SIGTERM');
  const force = setTimeout(() => anvils.forEach((child) => child.kill('SIGKILL')), 1000);
  const alive = anvils.filter((child) => child.pid && !child.ended);
  await Promise.all(alive.map((child) => new Promise((done) => child.once('exit', done))));
  clearTimeout(force);
  process.exit(code);
}

process.stdin.on('end', () => stop(0)).on('error', () => stop(0)).resume();
process.stdout.on('error', () => stop(0));
process.on('SIGTERM', () => stop(0));
// Ctrl-C reaches the whole group; the starter then closes our stdin.
process.on('SIGINT', () => {});

try {
  const path = anvilPath();
  const ready = await Promise.all(process.argv.slice(2).map((id) => startAnvil(path, id)));
  console.log(JSON.stringify(Object.fromEntries(ready)));
} catch (error) {
  if (!stopping) console.error(error.message);
  await stop(1);
}
