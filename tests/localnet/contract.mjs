// Compiles the one contract of the local chains, once: the result stays under
// node_modules, named after everything it was made from. Knows of no chain.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const SOURCE = fileURLToPath(new URL('./contracts/LocalUSDC.sol', import.meta.url));
const CACHE = fileURLToPath(new URL('./node_modules/.cache/payroute-localnet/', import.meta.url));
const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  outputSelection: { '*': { LocalUSDC: ['evm.bytecode.object', 'evm.methodIdentifiers'] } },
};

function compile(content) {
  // Loaded only when needed: the compiler is nine megabytes and takes a second.
  const solc = require('solc');
  const input = { language: 'Solidity', sources: { LocalUSDC: { content } }, settings: SETTINGS };
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const { bytecode, methodIdentifiers } = contracts.LocalUSDC.LocalUSDC.evm;
  return { bytecode: `0x${bytecode.object}`, selectors: methodIdentifiers };
}

// Several worlds may start at once: whoever is last renames the same text.
function keep(file, text) {
  mkdirSync(CACHE, { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

// `selectors` has the four bytes of each function by its signature, without 0x.
export function tokenContract() {
  const source = readFileSync(SOURCE, 'utf8');
  const { version } = require('solc/package.json');
  const made = createHash('sha256').update(JSON.stringify([source, SETTINGS, version])).digest('hex');
  const file = `${CACHE}LocalUSDC-${made.slice(0, 16)}.json`;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const contract = compile(source);
  keep(file, JSON.stringify(contract));
  return contract;
}

// As a program of its own, it compiles ahead of the first start.
if (process.argv[1] === fileURLToPath(import.meta.url)) tokenContract();
