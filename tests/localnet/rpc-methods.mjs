// The Solana RPC methods that read, parameters in and result out, in the shapes
// Agave gives them. Knows nothing of HTTP, of batches, or of how accounts came to be.
import { API_VERSION, checkContext, configOf, invalid, isCount, pubkey } from './rpc-params.mjs';
import { transactionMethods } from './rpc-transactions.mjs';
import { SOLANA_GENESIS } from './world.mjs';

const MAX_KEYS = 100;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const ENCODERS = { base64: (bytes) => bytes, 'base64+zstd': zstdStored };

function checkSlice(slice) {
  if (slice === undefined || slice === null) return undefined;
  if (!isCount(slice.offset) || !isCount(slice.length)) {
    throw invalid('Invalid params: dataSlice needs offset and length.');
  }
  return slice;
}

// A zstd frame that compresses nothing: Rust's client asks for this encoding, and
// Node 20 has no zstd. Blocks hold at most 128 KiB.
function zstdStored(bytes) {
  const most = 128 * 1024;
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  const frame = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]), size];
  for (let from = 0; from === 0 || from < bytes.length; from += most) {
    const block = bytes.subarray(from, from + most);
    const header = Buffer.alloc(3);
    header.writeUIntLE(block.length * 8 + Number(from + most >= bytes.length), 0, 3);
    frame.push(header, block);
  }
  return Buffer.concat(frame);
}

function encodeAccount(account, slice, encoding) {
  if (!account.exists) return null;
  const data = Buffer.from(account.data);
  const part = slice ? data.subarray(slice.offset, slice.offset + slice.length) : data;
  return {
    data: [ENCODERS[encoding](part).toString('base64'), encoding],
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: RENT_EXEMPT_EPOCH,
    space: data.length,
  };
}

export function rpcMethods(svm) {
  const readAccounts = (keys, rawConfig, describe) => {
    const slot = svm.slot();
    const config = configOf(rawConfig);
    const addresses = keys.map(pubkey);
    // Stricter than Agave, so that a client relying on a default is found out.
    const { encoding } = config;
    if (!Object.hasOwn(ENCODERS, String(encoding))) throw invalid('Invalid params: encoding must be base64 or base64+zstd here.');
    checkContext(config, slot);
    const slice = checkSlice(config.dataSlice);
    const accounts = addresses.map((address) => encodeAccount(svm.account(address), slice, encoding));
    return { context: { apiVersion: API_VERSION, slot }, value: describe(accounts) };
  };
  return {
    ...transactionMethods(svm),
    getHealth: () => 'ok',
    getGenesisHash: () => SOLANA_GENESIS,
    getSlot([config]) {
      const slot = svm.slot();
      checkContext(configOf(config), slot);
      return slot;
    },
    getBalance([key, rawConfig]) {
      const slot = svm.slot();
      const address = pubkey(key);
      checkContext(configOf(rawConfig), slot);
      const account = svm.account(address);
      return { context: { apiVersion: API_VERSION, slot }, value: account.exists ? account.lamports : 0 };
    },
    getAccountInfo([key, config]) {
      return readAccounts([key], config, ([account]) => account);
    },
    getMultipleAccounts([keys, config]) {
      if (!Array.isArray(keys)) throw invalid('Invalid params: invalid type, expected a sequence.');
      if (keys.length > MAX_KEYS) throw invalid(`Too many inputs provided; max ${MAX_KEYS}`);
      return readAccounts(keys, config, (accounts) => accounts);
    },
  };
}
