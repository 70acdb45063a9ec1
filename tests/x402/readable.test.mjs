// What withReadable402() makes of a challenge, read by the stock client and by
// payroute's own decoder. No payment, no chain.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { test } from 'node:test';
import { x402Client, x402HTTPClient } from '@x402/fetch';
import { parsePaymentRequired } from 'payroute';
import { withReadable402 } from 'payroute/x402';
import { BASE, SOLANA, evmOffer, headerValue, v2 } from '../../pkg/test/support/offers.mjs';
import { DISGUISES, disguise } from './disguises.mjs';

const stock = new x402HTTPClient(new x402Client());
const readable = (response, init) => withReadable402(async () => response)('https://shop.example/a', init);

// As @x402/fetch reads a 402: header first, else a body that is JSON.
async function stockReads(response) {
  const text = await response.clone().text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    // A header may do alone.
  }
  const challenge = stock.getPaymentRequiredResponse((name) => response.headers.get(name), body);
  assert.ok([1, 2].includes(challenge.x402Version) && Array.isArray(challenge.accepts), 'the client knows no such version');
  return challenge;
}

const name = 'USD₮0'; // Not Latin: what is not UTF-8 all the way comes out as something else.
const terms = v2({ ...evmOffer(BASE), extra: { name, version: '1', huge: 1e21, small: 1e-7, deep: [[{ a: null }]] } }, { ...evmOffer(), network: SOLANA });

for (const kind of Object.keys(DISGUISES)) {
  // A header holds bytes: bare JSON in one is ASCII, or would be garbled before anybody reads it.
  const offered = kind === 'as bare JSON' ? v2(evmOffer()) : terms;

  test(`terms ${kind} are read as the merchant wrote them`, async () => {
    await assert.rejects(stockReads(disguise(JSON.stringify(offered), kind)));
    const odd = disguise(JSON.stringify(offered), kind);
    const sent = await odd.clone().text();
    const response = await readable(odd);
    const challenge = await stockReads(response);
    assert.equal(challenge.x402Version, 2);
    assert.deepEqual(challenge.accepts, offered.accepts);
    if (kind !== 'as a bare list') assert.deepEqual(challenge.resource, offered.resource);
    assert.equal(response.status, 402);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.equal(response.bodyUsed, false);
    assert.equal(await response.text(), sent);
  });
}

const v1Body = { x402Version: 1, error: 'pay', accepts: [{ ...evmOffer(), network: 'base', maxAmountRequired: '50000' }] };
const in402 = (body, headers = {}) => new Response(body, { status: 402, headers });
const UNTOUCHED = {
  'an answer that is no 402': () => new Response(JSON.stringify(terms), { status: 200 }),
  'a canonical header': () => in402('<html>', { 'payment-required': headerValue(terms) }),
  'a canonical header of version 1': () => in402('<html>', { 'payment-required': headerValue(v1Body) }),
  'a header of a version that nobody knows': () => in402(JSON.stringify(terms), { 'payment-required': headerValue({ ...terms, x402Version: 3 }) }),
  'a header too long to look at': () => in402('', { 'payment-required': headerValue({ ...terms, note: 'x'.repeat(70_000) }) }),
  'a version 1 body': () => in402(JSON.stringify(v1Body)),
  'a page for people': () => in402('<html>pay'),
  'no body': () => in402(null),
  'a list of nothing': () => in402(JSON.stringify({ x402Version: 2, accepts: [] })),
  'entries that offer nothing': () => in402(JSON.stringify({ x402Version: 2, accepts: [null, 7, {}] })),
  'version 3 in the body': () => in402(JSON.stringify({ ...terms, x402Version: 3 })),
  'a version that is no version': () => in402(JSON.stringify({ ...terms, x402Version: [2] })),
  'a body that is not UTF-8': () => in402(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d)),
  'a body past the limit': () => in402(JSON.stringify({ ...terms, note: 'x'.repeat(1_048_576) })),
  'a body nested past reason': () => in402(`{"x402Version":2,"accepts":${'['.repeat(400_000)}`),
};

for (const [kind, make] of Object.entries(UNTOUCHED)) {
  test(`${kind} passes as the very object`, async () => {
    const response = make();
    const sent = await make().arrayBuffer();
    assert.equal(await readable(response), response);
    assert.equal(response.bodyUsed, false);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(sent));
  });
}

test('the first carrier that will do is the one, in the decoder\'s order', async () => {
  const [first, second] = ['1000', '2000'].map((amount) => v2(evmOffer(BASE, amount)));
  const broken = { 'payment-required': 'not/base64!' };
  for (const [kind, response, amount] of [
    ['body before the older header', in402(JSON.stringify(first), { 'x-payment-required': headerValue(second) }), '1000'],
    ['older header behind a broken one', in402('', { ...broken, 'x-payment-required': headerValue(second) }), '2000'],
    ['requirements header last', in402('', { 'x-payment-requirements': JSON.stringify(second) }), '2000'],
    ['a whole document before a list', in402(JSON.stringify(first), { 'payment-required': headerValue(second.accepts) }), '1000'],
    ['header before body', in402(JSON.stringify(second), { 'payment-required': JSON.stringify(first) }), '1000'],
  ]) {
    const { accepts } = await stockReads(await readable(response));
    assert.equal(accepts[0].amount, amount, kind);
  }
});

test('whatever the decoder reads in a response, the stock client now reads the same', async () => {
  const vectors = JSON.parse(readFileSync(new URL('../vectors/decoding.json', import.meta.url)));
  let read = 0;
  for (const { id, input: { text, headers, body } } of vectors) {
    const make = () => new Response(text ?? body, { status: 402, headers });
    const wanted = await parsePaymentRequired(make()).catch(() => undefined);
    if (wanted === undefined) continue;
    const response = await readable(make());
    const got = await parsePaymentRequired(await stockReads(response));
    assert.equal(got.x402Version, wanted.x402Version, id);
    assert.deepEqual(got.requirements.map(({ requirement }) => requirement), wanted.requirements.map(({ requirement }) => requirement), id);
    assert.deepEqual(got.requirements.map(({ terms: offer }) => offer), wanted.requirements.map(({ terms: offer }) => offer), id);
    read += 1;
  }
  assert.ok(read >= 10, `only ${read} vectors were read`);
});

// A server whose body never ends.
async function endless(headers, first) {
  const server = createServer((_, response) => response.writeHead(402, headers).write(first));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/article`, stop };
}

test('a body is not waited for where the header does, nor longer than the caller waits', async () => {
  const header = await endless({ 'payment-required': headerValue(terms) }, '{');
  const bare = await endless({}, '{');
  try {
    const response = await withReadable402(fetch)(header.url);
    assert.equal(response.bodyUsed, false);
    const caller = new AbortController();
    setTimeout(() => caller.abort(new Error('enough')), 50);
    const gone = await withReadable402(fetch)(new Request(bare.url, { signal: caller.signal }));
    await assert.rejects(gone.text());
  } finally {
    header.stop();
    bare.stop();
  }
});

test('a rewritten response still says where it came from', async () => {
  const server = createServer((_, response) => response.writeHead(402, { 'x-own': 'kept' }).end(JSON.stringify(terms)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/article`;
  const { url: from, redirected, type, headers } = await withReadable402(fetch)(url);
  assert.deepEqual([from, redirected, type, headers.get('x-own')], [url, false, 'basic', 'kept']);
  server.close();
});

test('fetch\'s own failures and arguments pass through', async () => {
  const failure = new TypeError('offline');
  await assert.rejects(withReadable402(() => Promise.reject(failure))('x'), (error) => error === failure);
  const seen = [];
  await withReadable402(async (...call) => {
    seen.push(...call);
    return new Response();
  })('a', { method: 'PUT' });
  assert.deepEqual(seen, ['a', { method: 'PUT' }]);
  assert.throws(() => withReadable402(undefined), { name: 'TypeError', message: /^fetch: / });
});

test('a host without streams keeps the body', async () => {
  const sent = JSON.stringify(terms);
  const plain = {
    status: 402, statusText: '', url: 'https://shop.example/a', redirected: false, type: 'default',
    headers: new Headers(), bodyUsed: false, clone: () => plain,
    arrayBuffer: async () => new TextEncoder().encode(sent).buffer, text: async () => sent,
  };
  const response = await readable(plain);
  assert.deepEqual((await stockReads(response)).accepts, terms.accepts);
  assert.equal(await response.text(), sent);
});

test('a host without streams keeps a body that was not read to its end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const hosts = {
    'one that is late': (sent) => ({ sent, late: true }),
    'one past the limit': (sent) => ({ sent: sent + ' '.repeat(1_048_576) }),
    'one that fails to be viewed': (sent) => ({ sent, fails: true }),
  };
  for (const [kind, make] of Object.entries(hosts)) {
    const { sent, late, fails } = make(JSON.stringify(v1Body));
    const view = { arrayBuffer: async () => (late ? new Promise(() => {}) : fails ? Promise.reject(new Error('no view')) : new TextEncoder().encode(sent).buffer) };
    const plain = {
      status: 402, statusText: '', url: 'https://shop.example/a', redirected: false, type: 'default',
      headers: new Headers({ 'x-payment-required': headerValue(terms) }), bodyUsed: false, clone: () => view,
      text: async () => (plain.bodyUsed = true, sent), json: async () => JSON.parse(await plain.text()),
    };
    const reading = readable(plain);
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(10_000);
    const response = await reading;
    assert.deepEqual(JSON.parse(Buffer.from(response.headers.get('payment-required'), 'base64')).accepts, terms.accepts, kind);
    assert.deepEqual([response.status, response.bodyUsed, response.url], [402, false, plain.url]);
    plain.clone = () => ({ ...plain, text: async () => 'the clone' });
    assert.equal(await response.clone().text(), 'the clone', kind);
    assert.deepEqual([await response.json(), response.bodyUsed], [v1Body, true], kind);
  }
});
