// Starts the whole local world, prints the one line that tells where it is, and
// ends it when stdin closes, on SIGTERM or SIGINT, or when control asks. Only
// wires the parts together: knows nothing of any chain's inside.
import { startControl } from './control.mjs';
import { startEvm } from './evm.mjs';
import { rpcMethods } from './rpc-methods.mjs';
import { startRpcServer } from './rpc-server.mjs';
import { startSvm } from './svm.mjs';
import { EVM_PARTIES, SOLANA } from './world.mjs';

let stopping = false;

function stop(exitCode = 0) {
  if (stopping) return;
  stopping = true;
  process.exitCode = exitCode;
  evm.stop();
}

const evm = startEvm((code) => {
  if (!stopping) console.error(`the anvil guard ended early (${code})`);
  process.exit(stopping ? process.exitCode : 1);
});

process.stdin.on('end', () => stop()).on('error', () => stop()).resume();
process.stdout.on('error', () => stop());
process.on('SIGTERM', () => stop());
process.on('SIGINT', () => stop());

function describe(control, chains, parties) {
  const networks = Object.fromEntries(Object.entries(chains)
    .map(([network, { url, assets }]) => [network, { rpc: url, assets }]));
  const both = (role) => ({ eip155: EVM_PARTIES[role], solana: parties[role].address });
  return {
    control,
    networks,
    buyer: both('buyer'),
    merchant: both('merchant'),
    treasury: both('treasury'),
    feePayer: { solana: parties.feePayer.address },
  };
}

try {
  const [evmChains, svm] = await Promise.all([evm.chains, startSvm()]);
  const url = await startRpcServer(rpcMethods(svm));
  const chains = { ...evmChains, [SOLANA]: { url, ...svm } };
  const control = await startControl(chains, () => stop());
  if (!stopping) console.log(JSON.stringify(describe(control, chains, svm.parties)));
} catch (error) {
  if (!stopping) console.error(error);
  stop(1);
}
