// The Solana RPC methods of whoever makes, tries and sends transactions, in the
// shapes Agave gives them. Knows nothing of HTTP, of batches, or of execution.
import { getBase58Encoder } from '@solana/kit';
import { API_VERSION, checkContext, configOf, invalid } from './rpc-params.mjs';
import { RpcError } from './rpc-error.mjs';

const MAX_SIGNATURES = 256;
const MAX_BYTES = 1232;

const BYTES_OF = {
  base58: (text) => Uint8Array.from(getBase58Encoder().encode(text)),
  base64: (text) => new Uint8Array(Buffer.from(text, 'base64')),
};

function transactionOf(svm, text, { encoding = 'base58' }) {
  if (typeof text !== 'string') throw invalid('Invalid params: invalid type, expected a string.');
  if (!Object.hasOwn(BYTES_OF, encoding)) throw invalid(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`);
  try {
    const bytes = BYTES_OF[encoding](text);
    if (bytes.length > MAX_BYTES) throw new Error(`too large: ${bytes.length} bytes (max: ${MAX_BYTES} bytes)`);
    return svm.decodeTransaction(bytes);
  } catch (error) {
    throw invalid(`failed to deserialize solana_transaction::versioned::VersionedTransaction: ${error.message}`);
  }
}

const isSigned = ({ signatures }) => Object.values(signatures).every(Boolean);

// A transaction that was only tried has no accounts, no data and no inner instructions told.
function trial({ err, logs, unitsConsumed }) {
  return { accounts: null, err, innerInstructions: null, logs, returnData: null, unitsConsumed };
}

export function transactionMethods(svm) {
  return {
    getLatestBlockhash([config]) {
      const { blockhash, lastValidBlockHeight, slot } = svm.latestBlockhash();
      checkContext(configOf(config), slot);
      return { context: { apiVersion: API_VERSION, slot }, value: { blockhash, lastValidBlockHeight } };
    },
    getBlockHeight: ([config]) => {
      const slot = svm.slot();
      checkContext(configOf(config), slot);
      return slot;
    },
    // Nobody competes here.
    getRecentPrioritizationFees: () => [{ prioritizationFee: 0, slot: svm.slot() }],
    simulateTransaction([text, rawConfig]) {
      const config = configOf(rawConfig);
      const { sigVerify = false, replaceRecentBlockhash = false } = config;
      if (sigVerify && replaceRecentBlockhash) {
        throw invalid('sigVerify may not be used with replaceRecentBlockhash');
      }
      const slot = svm.slot();
      checkContext(config, slot);
      const transaction = transactionOf(svm, text, config);
      if (sigVerify && !isSigned(transaction)) throw new RpcError(-32003, 'Transaction signature verification failure');
      const value = trial(svm.simulate(transaction, { sigVerify, replaceRecentBlockhash }));
      if (replaceRecentBlockhash) {
        const { blockhash, lastValidBlockHeight } = svm.latestBlockhash();
        value.replacementBlockhash = { blockhash, lastValidBlockHeight };
      }
      return { context: { apiVersion: API_VERSION, slot }, value };
    },
    sendTransaction([text, rawConfig]) {
      const config = configOf(rawConfig);
      const transaction = transactionOf(svm, text, config);
      if (!isSigned(transaction)) throw new RpcError(-32003, 'Transaction signature verification failure');
      if (!config.skipPreflight) {
        const tried = svm.simulate(transaction, { sigVerify: true, replaceRecentBlockhash: false });
        if (tried.err !== null) {
          const reason = typeof tried.err === 'string' ? tried.err : JSON.stringify(tried.err);
          throw new RpcError(-32002, `Transaction simulation failed: ${reason}`, trial(tried));
        }
      }
      return svm.send(transaction);
    },
    getSignatureStatuses([signatures]) {
      if (!Array.isArray(signatures)) throw invalid('Invalid params: invalid type, expected a sequence.');
      if (signatures.length > MAX_SIGNATURES) throw invalid(`Too many inputs provided; max ${MAX_SIGNATURES}`);
      const value = signatures.map((signature) => {
        const found = svm.status(signature);
        if (!found) return null;
        const { slot, err } = found;
        return {
          confirmationStatus: 'finalized', confirmations: null, err, slot, status: err === null ? { Ok: null } : { Err: err },
        };
      });
      return { context: { apiVersion: API_VERSION, slot: svm.slot() }, value };
    },
  };
}
