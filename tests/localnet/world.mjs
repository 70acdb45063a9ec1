// The fixed facts of the local world: networks, token addresses, and who the
// parties are. Knows nothing of processes, ports, or how a chain is driven.
import { createHash } from 'node:crypto';
import { createKeyPairFromPrivateKeyBytes, getAddressDecoder, getAddressFromPublicKey } from '@solana/kit';

export const SOLANA_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
export const SOLANA = `solana:${SOLANA_GENESIS.slice(0, 32)}`;

// `domain` is the EIP-712 domain under which each chain's live token is signed.
export const EVM_NETWORKS = {
  'eip155:8453': {
    chainId: 8453,
    assets: { USDC: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    domain: { name: 'USD Coin', version: '2' },
  },
  'eip155:84532': {
    chainId: 84532,
    assets: { USDC: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    domain: { name: 'USDC', version: '2' },
  },
};

export const SOLANA_ASSETS = {
  USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  PYUSD: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
};

// Mints that exist once somebody asks for them, each about one thing that a mint
// of Token-2022 can be.
export const SOLANA_KINDS = ['default-frozen', 'non-transferable', 'pausable', 'plain', 'transfer-fee', 'transfer-hook'];

// The hash of a kind's name: an address whose key nobody has.
export function mintOfKind(kind) {
  return getAddressDecoder().decode(createHash('sha256').update(`payroute localnet mint ${kind}`).digest());
}

export const DECIMALS = 6;
export const TREASURY_ATOMIC = 1_000_000n * 10n ** BigInt(DECIMALS);

// Accounts 0, 1 and 2 of anvil's public development mnemonic.
export const EVM_PARTIES = {
  treasury: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  buyer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  merchant: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
};

const SOLANA_ROLES = ['treasury', 'buyer', 'merchant', 'feePayer', 'authority'];

// The seed is a public hash, so that a test may rebuild any key and sign with it.
async function party(role) {
  const seed = createHash('sha256').update(`payroute localnet ${role}`).digest();
  const keys = await createKeyPairFromPrivateKeyBytes(seed);
  return [role, { keys, address: await getAddressFromPublicKey(keys.publicKey) }];
}

export async function solanaParties() {
  return Object.fromEntries(await Promise.all(SOLANA_ROLES.map(party)));
}
