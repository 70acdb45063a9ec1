// Who signs in the local world, with keys that everybody knows: anvil's public
// mnemonic, and for Solana the hash of a role's name, as tests/localnet has them.
import { createHash } from 'node:crypto';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { mnemonicToAccount } from 'viem/accounts';

const MNEMONIC = 'test test test test test test test test test test test junk';
const EVM_INDEX = { treasury: 0, buyer: 1, merchant: 2, facilitator: 3 };

export const evmAccount = (role) => mnemonicToAccount(MNEMONIC, { addressIndex: EVM_INDEX[role] });

export const solanaSeed = (role) => createHash('sha256').update(`payroute localnet ${role}`).digest();

export const solanaSigner = (role) => createKeyPairSignerFromPrivateKeyBytes(solanaSeed(role));
