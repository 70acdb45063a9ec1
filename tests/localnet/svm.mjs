// The Solana world: one in-process SVM whose mints, token accounts and balances
// come only from executed instructions. Knows nothing of HTTP or JSON-RPC.
import { LiteSVM, FailedTransactionMetadata } from 'litesvm';
import {
  appendTransactionMessageInstructions, compileTransaction, createNoopSigner,
  createTransactionMessage, getBase58Decoder, isAddress, partiallySignTransaction,
  setTransactionMessageFeePayer,
} from '@solana/kit';
import {
  findAssociatedTokenPda, getCreateAssociatedTokenIdempotentInstruction,
  getFreezeAccountInstruction, getMintToInstruction, getThawAccountInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { memoInstructions, mintInstructions, pauseInstruction, PROGRAM_OF } from './svm-mints.mjs';
import { transactionOperations } from './svm-transactions.mjs';
import {
  DECIMALS, mintOfKind, SOLANA_ASSETS, SOLANA_KINDS, solanaParties, TREASURY_ATOMIC,
} from './world.mjs';

const SLOT_MS = 400;
const SLOTS_PER_EPOCH = 432_000n;
const SOL = 1_000_000_000n;
const AMOUNT_OFFSET = 64;
const STATE_OFFSET = 108;
const FROZEN = 2;

// Lets slot and time pass as they would on a live cluster; litesvm's stand still.
function followRealTime(svm) {
  const startedAt = Date.now();
  const firstSlot = svm.getClock().slot;
  return () => {
    const clock = svm.getClock();
    clock.slot = firstSlot + BigInt(Math.floor((Date.now() - startedAt) / SLOT_MS));
    clock.epoch = clock.slot / SLOTS_PER_EPOCH;
    clock.leaderScheduleEpoch = clock.epoch + 1n;
    clock.unixTimestamp = BigInt(Math.floor(Date.now() / 1000));
    svm.setClock(clock);
    return clock.slot;
  };
}

async function execute(svm, parties, instructions) {
  // A new blockhash each time: two equal transfers are two transactions.
  svm.expireBlockhash();
  const empty = setTransactionMessageFeePayer(
    parties.feePayer.address, createTransactionMessage({ version: 0 }));
  const message = appendTransactionMessageInstructions(
    instructions, svm.setTransactionMessageLifetimeUsingLatestBlockhash(empty));
  const unsigned = compileTransaction(message);
  const ours = Object.values(parties).filter(({ address }) => address in unsigned.signatures);
  const transaction = await partiallySignTransaction(ours.map(({ keys }) => keys), unsigned);
  // Signatures are checked unless a signer is an address whose key nobody here has.
  svm.withSigverify(Object.values(transaction.signatures).every(Boolean));
  const outcome = svm.sendTransaction(transaction);
  if (outcome instanceof FailedTransactionMetadata) {
    throw new Error(outcome.meta().logs().at(-1) ?? outcome.toString());
  }
  return getBase58Decoder().decode(outcome.signature());
}

async function tokenAccount(mint, owner) {
  const [address] = await findAssociatedTokenPda({ mint, owner, tokenProgram: PROGRAM_OF[mint] });
  return address;
}

async function createAccount(payer, mint, owner) {
  const ata = await tokenAccount(mint, owner);
  return getCreateAssociatedTokenIdempotentInstruction(
    { payer, ata, owner, mint, tokenProgram: PROGRAM_OF[mint] });
}

// All that there is of it goes to `holder`. An account that is born frozen is
// thawed for that, and frozen again.
async function makeMint(svm, parties, run, mint, holder) {
  const payer = createNoopSigner(parties.feePayer.address);
  const authority = createNoopSigner(parties.authority.address);
  const rentFor = (size) => svm.minimumBalanceForRentExemption(BigInt(size));
  await run(mintInstructions(
    { mint: createNoopSigner(mint), payer, authority: authority.address, rentFor }));
  await run([
    await createAccount(payer, mint, parties.merchant.address),
    await createAccount(payer, mint, holder),
  ]);
  const token = await tokenAccount(mint, holder);
  const options = { programAddress: PROGRAM_OF[mint] };
  const born = svm.getAccount(token).data[STATE_OFFSET];
  const frozen = (instruction) => (
    born === FROZEN ? [instruction({ mint, account: token, owner: authority }, options)] : []);
  await run([
    ...frozen(getThawAccountInstruction),
    getMintToInstruction({ mint, token, mintAuthority: authority, amount: TREASURY_ATOMIC }, options),
    ...frozen(getFreezeAccountInstruction),
  ]);
}

function tokenOperations(svm, parties, run, assets) {
  const payer = createNoopSigner(parties.feePayer.address);
  const setPaused = (paused) => async (mint) => run(
    [pauseInstruction(mint, parties.authority.address, paused)]);
  const setFrozen = (instruction) => async (mint, owner) => run([instruction({
    mint,
    account: await tokenAccount(mint, owner),
    owner: createNoopSigner(parties.authority.address),
  }, { programAddress: PROGRAM_OF[mint] })]);
  return {
    freeze: setFrozen(getFreezeAccountInstruction),
    thaw: setFrozen(getThawAccountInstruction),
    pause: setPaused(true),
    unpause: setPaused(false),
    async 'demand-memo'(mint, owner) {
      return run(memoInstructions(await tokenAccount(mint, owner), owner, parties.feePayer.address));
    },
    kinds: SOLANA_KINDS,
    async mint(kind) {
      const mint = mintOfKind(kind);
      if (!Object.hasOwn(assets, kind)) await makeMint(svm, parties, run, mint, parties.buyer.address);
      assets[kind] = mint;
      return mint;
    },
    async hasAccount(mint, owner) {
      return svm.getAccount(await tokenAccount(mint, owner)).exists;
    },
    async balance(mint, owner) {
      const account = svm.getAccount(await tokenAccount(mint, owner));
      return account.exists ? Buffer.from(account.data).readBigUInt64LE(AMOUNT_OFFSET) : 0n;
    },
    async transfer(mint, from, to, amount) {
      return run([
        await createAccount(payer, mint, to),
        getTransferCheckedInstruction({
          source: await tokenAccount(mint, from),
          mint,
          destination: await tokenAccount(mint, to),
          authority: createNoopSigner(from),
          amount,
          decimals: DECIMALS,
        }, { programAddress: PROGRAM_OF[mint] }),
      ]);
    },
  };
}

export async function startSvm() {
  const svm = new LiteSVM();
  const parties = await solanaParties();
  const tick = followRealTime(svm);
  let last = Promise.resolve();
  const run = (instructions) => {
    const send = () => {
      tick();
      return execute(svm, parties, instructions);
    };
    last = last.then(send, send);
    return last;
  };
  svm.airdrop(parties.feePayer.address, 1000n * SOL);
  const assets = { ...SOLANA_ASSETS };
  for (const mint of Object.values(assets)) {
    await makeMint(svm, parties, run, mint, parties.treasury.address);
  }
  return {
    parties,
    assets,
    isAddress,
    maxAmount: 2n ** 64n - 1n,
    slot: tick,
    account: (address) => svm.getAccount(address),
    ...tokenOperations(svm, parties, run, assets),
    ...transactionOperations(svm, tick),
  };
}
