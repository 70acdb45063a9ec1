// @ts-check
// Endpoints that are not URLs: each provider and function gets a name, and the configuration for the core
// holds the name.

import { ConfigurationError } from "./errors.mjs";
import { Unwritable, isPlain, join, write } from "./json.mjs";

/** @typedef {import("../index.d.ts").Eip1193Provider | import("../index.d.ts").RpcFunction} Provider */

/** Makes names of this process differ from those in a snapshot of another, where `provider-1` may be another
 * provider. */
const run = Math.random().toString(36).slice(2, 10);

/** A provider has one name in the whole process, so that selectors that share a health index agree on it. */
/** @type {WeakMap<object, string>} */
const names = new WeakMap();
let named = 0;

/** @param {Provider} provider */
function nameOf(provider) {
  let name = names.get(provider);
  if (name === undefined) {
    named += 1;
    name = `provider-${named}`;
    names.set(provider, name);
  }
  return name;
}

/**
 * The configuration as text, and the providers that it names.
 * @param {unknown} config
 * @returns {{ text: string, providers: Map<string, Provider> }}
 */
export function writeConfig(config) {
  /** @type {Map<string, Provider>} */
  const providers = new Map();
  try {
    return { text: write(withNames(config, providers), { root: "", skipUndefined: true }), providers };
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    const path = error.path === "" ? "." : error.path;
    throw new ConfigurationError(`${path}: ${error.problem}`, path);
  }
}

/**
 * @param {unknown} config
 * @param {Map<string, Provider>} providers
 */
function withNames(config, providers) {
  return mapField(config, "networks", (networks) =>
    mapAll(networks, (network, name) =>
      mapField(network, "rpc", (rpc) =>
        Array.isArray(rpc)
          ? rpc.map((endpoint, index) => namedEndpoint(endpoint, `${join("networks", name)}.rpc[${index}]`, providers))
          : rpc,
      ),
    ),
  );
}

/**
 * @param {unknown} endpoint
 * @param {string} path
 * @param {Map<string, Provider>} providers
 */
function namedEndpoint(endpoint, path, providers) {
  if (typeof endpoint === "function") {
    return register(/** @type {Provider} */ (endpoint), providers);
  }
  if (!isRecord(endpoint)) return endpoint;
  if (typeof endpoint.request === "function" && !("provider" in endpoint)) {
    throw new ConfigurationError(`${path}: is a provider; accepted is { provider } around it`, path, "{ provider } around it");
  }
  const { provider, ...options } = endpoint;
  if (provider === undefined) return endpoint;
  if (!isProvider(provider)) {
    const accepted = "an object with a request method, or a function";
    throw new ConfigurationError(`${path}.provider: is neither a provider nor a function; accepted is ${accepted}`, `${path}.provider`, accepted);
  }
  if (options.label === undefined) delete options.label;
  return { ...register(provider, providers), ...options };
}

/**
 * @param {Provider} provider
 * @param {Map<string, Provider>} providers
 */
function register(provider, providers) {
  const shown = nameOf(provider);
  const name = `${shown}-${run}`;
  providers.set(name, provider);
  return { provider: name, label: shown };
}

/**
 * @param {unknown} value
 * @returns {value is Provider}
 */
function isProvider(value) {
  return typeof value === "function" || (isRecord(value) && typeof value.request === "function");
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy of `record` with one field changed; anything else as it is.
 * @param {unknown} record
 * @param {string} field
 * @param {(value: unknown) => unknown} change
 */
function mapField(record, field, change) {
  return isRecord(record) && record[field] !== undefined
    ? mapAll(record, (value, key) => (key === field ? change(value) : value))
    : record;
}

/**
 * @param {unknown} record
 * @param {(value: unknown, key: string) => unknown} change
 */
function mapAll(record, change) {
  // A copy would lose what the object inherits. `write` refuses such an object and says why.
  if (!isRecord(record) || !isPlain(record)) return record;
  // Without a prototype, `__proto__` is a key like any other.
  const copy = Object.create(null);
  for (const key of Object.keys(record)) copy[key] = change(record[key], key);
  return copy;
}
