// The instructions that make the Solana mints: USDC and PYUSD, each at its mainnet
// address, USDC under the classic Token program, PYUSD under Token-2022 with
// extensions of the kinds the live mint has; and mints with one extension alone.
// Sends nothing and reads no chain.
import { getAddressEncoder } from '@solana/kit';
import { getCreateAccountInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { getInitializeMint2Instruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { DECIMALS, mintOfKind, SOLANA_ASSETS, SOLANA_KINDS } from './world.mjs';

export const TOKEN_2022_PROGRAM_ADDRESS = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

export const PROGRAM_OF = {
  [SOLANA_ASSETS.USDC]: TOKEN_PROGRAM_ADDRESS,
  [SOLANA_ASSETS.PYUSD]: TOKEN_2022_PROGRAM_ADDRESS,
  ...Object.fromEntries(SOLANA_KINDS.map((kind) => [mintOfKind(kind), TOKEN_2022_PROGRAM_ADDRESS])),
};

// What each mint of Token-2022 is made with.
const EXTENSIONS_OF = {
  [SOLANA_ASSETS.PYUSD]: ['mint close authority', 'transfer fee', 'permanent delegate', 'transfer hook'],
  ...Object.fromEntries(SOLANA_KINDS.map((kind) => [mintOfKind(kind), [kind]])),
};

const WRITABLE = 1;
const SIGNER = 2;
const FROZEN = 2;
const PLAIN_MINT_SIZE = 82;
const EXTENDED_BASE_SIZE = 166;
const NONE = new Uint8Array(32);
// 250 basis points, at most 1,000 atoms.
const FEE = [250, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0];

// Each initialiser with the size its extension takes in the mint: a four-byte
// header and the value. Zero fee and no hook program, so a transfer stays plain.
function extensions(authority, names) {
  const key = getAddressEncoder().encode(authority);
  const zeroFee = new Uint8Array(2 + 8);
  const all = [
    { name: 'mint close authority', size: 4 + 32, data: [25, 1, ...key] },
    { name: 'transfer fee', size: 4 + 108, data: [26, 0, 1, ...key, 1, ...key, ...zeroFee] },
    { name: 'permanent delegate', size: 4 + 32, data: [35, ...key] },
    { name: 'transfer hook', size: 4 + 64, data: [36, 0, ...key, ...NONE] },
    { name: 'default-frozen', size: 4 + 1, data: [28, 0, FROZEN] },
    { name: 'non-transferable', size: 4 + 0, data: [32] },
    { name: 'pausable', size: 4 + 33, data: [44, 0, ...key] },
    { name: 'transfer-fee', size: 4 + 108, data: [26, 0, 1, ...key, 1, ...key, ...FEE] },
    // Whatever stands for the program is called, an address that is none too.
    { name: 'transfer-hook', size: 4 + 64, data: [36, 0, ...key, ...key] },
  ];
  return all.filter(({ name }) => names.includes(name));
}

// Stops all transfers of a pausable mint, or lets them go on.
export function pauseInstruction(mint, authority, paused) {
  return {
    programAddress: TOKEN_2022_PROGRAM_ADDRESS,
    accounts: [{ address: mint, role: WRITABLE }, { address: authority, role: SIGNER }],
    data: Uint8Array.of(44, paused ? 1 : 2),
  };
}

// Makes a token account take no transfer without a memo right before it.
export function memoInstructions(account, owner, payer) {
  const programAddress = TOKEN_2022_PROGRAM_ADDRESS;
  const own = [{ address: account, role: WRITABLE }];
  const signs = { address: owner, role: SIGNER };
  return [
    {
      programAddress,
      accounts: [
        ...own, { address: payer, role: WRITABLE | SIGNER }, { address: SYSTEM_PROGRAM_ADDRESS, role: 0 }, signs],
      data: Uint8Array.of(29, 8, 0),
    },
    { programAddress, accounts: [...own, signs], data: Uint8Array.of(30, 0) },
  ];
}

export function mintInstructions({ mint, payer, authority, rentFor }) {
  const programAddress = PROGRAM_OF[mint.address];
  const extra = extensions(authority, EXTENSIONS_OF[mint.address] ?? []);
  const space = extra.length === 0
    ? PLAIN_MINT_SIZE
    : extra.reduce((sum, { size }) => sum + size, EXTENDED_BASE_SIZE);
  return [
    getCreateAccountInstruction({ payer, newAccount: mint, lamports: rentFor(space), space, programAddress }),
    ...extra.map(({ data }) => ({
      programAddress,
      accounts: [{ address: mint.address, role: WRITABLE }],
      data: Uint8Array.from(data),
    })),
    getInitializeMint2Instruction(
      { mint: mint.address, decimals: DECIMALS, mintAuthority: authority, freezeAuthority: authority },
      { programAddress },
    ),
  ];
}
