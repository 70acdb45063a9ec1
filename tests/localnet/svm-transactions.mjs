// Transactions that others signed: taken, tried and remembered as a cluster does.
// Knows nothing of HTTP, of JSON-RPC, or of what a transaction is for.
import { FailedTransactionMetadata } from 'litesvm';
import {
  getBase58Decoder, getCompiledTransactionMessageDecoder, getTransactionDecoder,
} from '@solana/kit';

const BLOCKHASH_LIFE_SLOTS = 150n;

// As Agave writes errors, from the debug text that is all litesvm tells of their names:
// `BlockhashNotFound`, `InstructionError(2, Custom(1))`, `DuplicateInstruction(1)`.
function errorOf(failed) {
  const text = /err: (\w+)(?: ?[({](.*?)\)? ?}?)?, meta/.exec(String(failed));
  const [, name, inside] = text ?? [undefined, 'InternalError'];
  if (name !== 'InstructionError') return inside === undefined ? name : { [name]: Number(/\d+/.exec(inside)) };
  const [, index, kind, value] = /^(\d+), (\w+)(?:\((.*?)\)?)?$/.exec(inside);
  return { InstructionError: [Number(index), kind === 'Custom' ? { Custom: Number(value) } : kind] };
}

function resultOf(outcome) {
  const failed = outcome instanceof FailedTransactionMetadata;
  const meta = outcome.meta ? outcome.meta() : outcome;
  return {
    err: failed ? errorOf(outcome) : null,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
  };
}

// litesvm knows one blockhash at a time; a cluster takes any of the last 150 slots.
function recentBlockhashes(svm, tick) {
  const issued = new Map();
  return {
    latest() {
      const slot = tick();
      // A new one each slot, as blocks come.
      if (issued.has(svm.latestBlockhash()) && issued.get(svm.latestBlockhash()) < slot) svm.expireBlockhash();
      const blockhash = svm.latestBlockhash();
      issued.set(blockhash, slot);
      return { blockhash, slot, lastValidBlockHeight: slot + BLOCKHASH_LIFE_SLOTS };
    },
    isRecent(blockhash) {
      const slot = tick();
      for (const [hash, from] of issued) if (slot > from + BLOCKHASH_LIFE_SLOTS) issued.delete(hash);
      return issued.has(blockhash);
    },
  };
}

export function transactionOperations(svm, tick) {
  const blockhashes = recentBlockhashes(svm, tick);
  const statuses = new Map();

  function blockhashOf(transaction) {
    return getCompiledTransactionMessageDecoder().decode(transaction.messageBytes).lifetimeToken;
  }

  // The checks are litesvm's switches and stay as the last caller left them: each sets both.
  function withChecks(sigVerify, work) {
    svm.withSigverify(sigVerify);
    svm.withBlockhashCheck(false);
    try {
      return work();
    } finally {
      svm.withBlockhashCheck(true);
    }
  }

  return {
    latestBlockhash: blockhashes.latest,
    decodeTransaction: (bytes) => getTransactionDecoder().decode(bytes),
    simulate(transaction, { sigVerify, replaceRecentBlockhash }) {
      tick();
      if (!replaceRecentBlockhash && !blockhashes.isRecent(blockhashOf(transaction))) {
        return { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0n };
      }
      return withChecks(sigVerify, () => resultOf(svm.simulateTransaction(transaction)));
    },
    // A transaction of an unknown blockhash is dropped and never heard of, as on a cluster.
    send(transaction) {
      const slot = tick();
      const signature = getBase58Decoder().decode(Object.values(transaction.signatures)[0]);
      if (!statuses.has(signature) && blockhashes.isRecent(blockhashOf(transaction))) {
        const { err } = withChecks(true, () => resultOf(svm.sendTransaction(transaction)));
        statuses.set(signature, { slot, err });
      }
      return signature;
    },
    status: (signature) => statuses.get(signature),
  };
}
