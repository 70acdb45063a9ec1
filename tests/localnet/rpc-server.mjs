// Serves a table of methods as JSON-RPC 2.0 over HTTP, singles and batches, with
// the refusals of Agave's server. Knows no method and nothing of Solana itself.
import { randomUUID } from 'node:crypto';
import { listen, readBody, send } from './http.mjs';
import { RpcError } from './rpc-error.mjs';

const BODY_LIMIT = 50 * 1024;
const CORS = { 'access-control-allow-origin': '*' };
const PREFLIGHT = {
  ...CORS,
  'access-control-allow-methods': 'OPTIONS, GET, POST',
  'access-control-allow-headers': 'content-type',
};

// A bigint becomes a bare JSON number: u64::MAX does not fit in a double, and
// this Node has no JSON.rawJSON. The tag is random so no echoed id can forge it.
const TAG = randomUUID();
const TAGGED = new RegExp(`"${TAG}:(\\d+)"`, 'g');
function stringify(value) {
  const tag = (_, item) => (typeof item === 'bigint' ? `${TAG}:${item}` : item);
  return JSON.stringify(value, tag).replace(TAGGED, '$1');
}

const failure = (id, body) => ({ jsonrpc: '2.0', error: body, id });
const INVALID_REQUEST = { code: -32600, message: 'Invalid request' };
const PARSE_ERROR = { code: -32700, message: 'Parse error' };
const METHOD_NOT_FOUND = { code: -32601, message: 'Method not found' };

const isId = (id) => id === null || typeof id === 'string' || (Number.isSafeInteger(id) && id >= 0);

function answer(methods, call) {
  const isObject = typeof call === 'object' && call !== null && !Array.isArray(call);
  if (!isObject || ('id' in call && !isId(call.id))) return failure(null, INVALID_REQUEST);
  const { id = null, jsonrpc, method, params = [] } = call;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return failure(id, INVALID_REQUEST);
  if (typeof params !== 'object' || params === null) return failure(id, INVALID_REQUEST);
  if (!('id' in call)) return undefined;
  if (!Object.hasOwn(methods, method)) return failure(id, METHOD_NOT_FOUND);
  try {
    if (!Array.isArray(params)) throw new RpcError(-32602, 'Invalid params: expected an array.');
    return { jsonrpc: '2.0', result: methods[method](params), id };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.body);
    console.error(error);
    return failure(id, { code: -32603, message: 'Internal error' });
  }
}

function answerText(methods, text) {
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch {
    return failure(null, PARSE_ERROR);
  }
  if (!Array.isArray(parsed)) return answer(methods, parsed);
  if (parsed.length === 0) return failure(null, INVALID_REQUEST);
  const replies = parsed.map((call) => answer(methods, call)).filter((reply) => reply !== undefined);
  return replies.length > 0 ? replies : undefined;
}

export function startRpcServer(methods) {
  return listen(async (request, response) => {
    if (request.method === 'OPTIONS') return send(response, 200, '', PREFLIGHT);
    if (request.method === 'GET' && request.url === '/health') return send(response, 200, 'ok', CORS);
    if (request.method !== 'POST') return send(response, 405, '', CORS);
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return send(response, 415, '', CORS);
    }
    const text = await readBody(request, BODY_LIMIT);
    if (text === undefined) return send(response, 413, '', CORS);
    const reply = answerText(methods, text);
    return send(response, 200, reply === undefined ? '' : stringify(reply), CORS);
  });
}
