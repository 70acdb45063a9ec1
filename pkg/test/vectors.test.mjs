// The vectors in tests/vectors, which the Rust core runs too. Data in, data out.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { createSelector, init, parsePaymentRequired, rank } from "payroute";
import { withReadable402 } from "payroute/x402";
import initVectors, { replayHealth } from "../wasm/vectors/core.js";

const FOLDER = new URL("../../tests/vectors/", import.meta.url);
/** How many vectors there are in all: both runners state it, so that one which only one side runs
 * cannot go unnoticed. */
const VECTORS = 82;

const runners = {
  async decoding({ text, headers, body }) {
    try {
      const parsed = await parsePaymentRequired(text ?? new Response(body, { headers }));
      const { x402Version, carrier, notes, extensions, requirements } = parsed;
      const advertised = extensions.length === 0 ? {} : { extensions };
      return { x402Version, carrier, notes, ...advertised, entries: requirements.map(entry) };
    } catch (error) {
      return { error: error.code };
    }
  },

  cascade({ candidates, preferNetworks }) {
    return rank(candidates, { preferNetworks }).map(({ requirementIndex, decidedBy }) => [requirementIndex, decidedBy ?? null]);
  },

  async screening({ config, accepts }) {
    try {
      const selector = await createSelector(config);
      await selector.select({ x402Version: 2, accepts });
      return "selected";
    } catch ({ code, candidates }) {
      const byIndex = candidates && [...candidates].sort((a, b) => a.requirementIndex - b.requirementIndex);
      return { code, reasons: byIndex?.map(({ rejectionReasons }) => rejectionReasons) ?? null };
    }
  },

  health(input) {
    return JSON.parse(replayHealth(JSON.stringify(input)));
  },
};

/** What a stock client reads in a 402: the canonical header, or without one a body of version 1. */
async function readByClients(response) {
  const header = response.headers.get("payment-required");
  if (header === null) return JSON.parse(await response.text());
  return JSON.parse(Buffer.from(header, "base64").toString());
}

test("withReadable402 lets stock clients read what every decoding vector has", async () => {
  for (const { id, input: { text, headers, body }, expected } of JSON.parse(readFileSync(new URL("decoding.json", FOLDER)))) {
    // What a vector has as a header's value alone is one.
    const isValue = text !== undefined && /^[A-Za-z0-9+/_=-]+$/.test(text);
    const given = () => new Response(isValue ? "" : (text ?? body), { status: 402, headers: isValue ? { "payment-required": text } : headers });
    const response = given();
    const readable = await withReadable402(async () => response)("https://shop.example/");
    if (expected.error) {
      assert.equal(readable, response, id);
      continue;
    }
    const { x402Version, accepts } = await readByClients(readable);
    assert.equal(x402Version, expected.x402Version, id);
    const { requirements } = await parsePaymentRequired(JSON.stringify({ x402Version, accepts }));
    assert.deepEqual(requirements.map(entry), expected.entries, id);
    const own = await parsePaymentRequired(given());
    assert.deepEqual(accepts, own.requirements.map(({ requirement }) => requirement), id);
  }
});

function entry({ terms, malformed }) {
  if (malformed) return { malformed: malformed.field };
  const { amount, network } = terms;
  return network === undefined ? { amount } : { amount, network };
}

const { fetch } = globalThis;
before(async () => {
  await init();
  await initVectors({ module_or_path: readFileSync(new URL("../wasm/vectors/core_bg.wasm", import.meta.url)) });
  // Answers nobody: screening is what happens before.
  globalThis.fetch = () => Promise.reject(new TypeError("nobody is there"));
});
after(() => {
  globalThis.fetch = fetch;
});

const files = readdirSync(FOLDER).map((name) => [name.replace(/\.json$/, ""), JSON.parse(readFileSync(new URL(name, FOLDER)))]);

test("every vector is run", () => {
  assert.deepEqual(files.map(([name]) => name).sort(), Object.keys(runners).sort());
  assert.equal(files.flatMap(([, vectors]) => vectors).length, VECTORS);
});

for (const [name, vectors] of files) {
  test(name, async () => {
    for (const { id, input, expected } of vectors) {
      assert.deepEqual(await runners[name](input), expected, id);
    }
  });
}
