// The Solana RPC methods, parameters in and result out, in the shapes Agave
// gives them. Knows nothing of HTTP, of batches, or of how accounts came to be.
import { isAddress } from '@solana/kit';
import { RpcError } from './rpc-error.mjs';
import { SOLANA_GENESIS } from './world.mjs';

const API_VERSION = '2.3.0';
const MAX_KEYS = 100;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const COMMITMENTS = ['processed', 'confirmed', 'finalized'];

const invalid = (message) => new RpcError(-32602, message);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

function checkSlice(slice) {
  if (slice === undefined || slice === null) return undefined;
  if (!isCount(slice.offset) || !isCount(slice.length)) {
    throw invalid('Invalid params: dataSlice needs offset and length.');
  }
  return slice;
}

function checkContext(config, slot) {
  const { commitment, minContextSlot } = config;
  if (commitment !== undefined && !COMMITMENTS.includes(commitment)) {
    throw invalid(`Invalid params: unknown variant \`${commitment}\`.`);
  }
  if (minContextSlot === undefined || minContextSlot === null) return;
  if (!isCount(minContextSlot)) throw invalid('Invalid params: minContextSlot must be a slot.');
  if (BigInt(minContextSlot) > slot) {
    throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: Number(slot) });
  }
}

function configOf(value) {
  const config = value ?? {};
  if (typeof config !== 'object' || Array.isArray(config)) {
    throw invalid('Invalid params: expected a configuration object.');
  }
  return config;
}

function pubkey(text) {
  if (typeof text !== 'string') throw invalid('Invalid params: invalid type, expected a string.');
  if (!isAddress(text)) throw invalid('Invalid param: Invalid');
  return text;
}

function encodeAccount(account, slice) {
  if (!account.exists) return null;
  const data = Buffer.from(account.data);
  const part = slice ? data.subarray(slice.offset, slice.offset + slice.length) : data;
  return {
    data: [part.toString('base64'), 'base64'],
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
    if (config.encoding !== 'base64') throw invalid('Invalid params: encoding must be base64 here.');
    checkContext(config, slot);
    const slice = checkSlice(config.dataSlice);
    const accounts = addresses.map((address) => encodeAccount(svm.account(address), slice));
    return { context: { apiVersion: API_VERSION, slot }, value: describe(accounts) };
  };
  return {
    getHealth: () => 'ok',
    getGenesisHash: () => SOLANA_GENESIS,
    getSlot([config]) {
      const slot = svm.slot();
      checkContext(configOf(config), slot);
      return slot;
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
