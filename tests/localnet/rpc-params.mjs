// What the Solana RPC methods have in common: reading their parameters, and the
// refusals Agave has for them. Knows no method.
import { isAddress } from '@solana/kit';
import { RpcError } from './rpc-error.mjs';

export const API_VERSION = '2.3.0';
const COMMITMENTS = ['processed', 'confirmed', 'finalized'];

export const invalid = (message) => new RpcError(-32602, message);
export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

export function checkContext(config, slot) {
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

export function configOf(value) {
  const config = value ?? {};
  if (typeof config !== 'object' || Array.isArray(config)) {
    throw invalid('Invalid params: expected a configuration object.');
  }
  return config;
}

export function pubkey(text) {
  if (typeof text !== 'string') throw invalid('Invalid params: invalid type, expected a string.');
  if (!isAddress(text)) throw invalid('Invalid param: Invalid');
  return text;
}
