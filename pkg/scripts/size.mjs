// What each part of the module costs: `npm run size` after `npm run build`. Compiles once more, keeps the
// names of functions, and adds up their bytes by the module of the core, or the library, that they are of.
// `make bench` prints the same as rows of its table.

import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { compile, optimize } from "./module.mjs";

/** What parts of the core are called here, by its modules. */
const PARTS = {
  "asking endpoints": ["probe", "transport", "runtime"],
  "schemes and screening": ["scheme"],
  configuration: ["config", "config_error", "chain"],
  "reading 402s": ["payment"],
  health: ["health"],
  "ranking and answers": ["ranking", "error", "selector", "util", "json"],
  "payments under way": ["hold"],
};

/** Reads numbers and names from a module's bytes. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  text() {
    const length = this.number();
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }
}

function* sections(bytes) {
  for (let reader = new Reader(bytes, 8); reader.at < bytes.length; ) {
    const id = bytes[reader.at++];
    const length = reader.number();
    yield { id, start: reader.at, length };
    reader.at += length;
  }
}

/** How many functions are imported: names count them, code does not. */
function importedFunctions(bytes, start) {
  const reader = new Reader(bytes, start);
  let functions = 0;
  for (let left = reader.number(); left > 0; left--) {
    reader.text();
    reader.text();
    const kind = bytes[reader.at++];
    if (kind === 0) {
      functions++;
      reader.number();
    } else if (kind === 1) {
      reader.at++;
      limits(reader);
    } else if (kind === 2) {
      limits(reader);
    } else {
      reader.at += 2;
    }
  }
  return functions;
}

function limits(reader) {
  const bounded = reader.number() & 1;
  reader.number();
  if (bounded) reader.number();
}

function functionNames(bytes, start, length) {
  const reader = new Reader(bytes, start);
  const names = new Map();
  if (reader.text() !== "name") return names;
  while (reader.at < start + length) {
    const kind = bytes[reader.at++];
    const end = reader.number() + reader.at;
    if (kind === 1) for (let left = reader.number(); left > 0; left--) names.set(reader.number(), reader.text());
    reader.at = end;
  }
  return names;
}

/** What the bindings export to the glue, by the names of their classes and functions. */
const EXPORTED = /^(selector|payment|answered|hold|healthindex)_|^(rank|keyNames|decode|bodyLimit)$|^__wbg_\w+_free$|shim$/;

function part(name) {
  if (/^<?payroute_bindings\[/.test(name) || EXPORTED.test(name)) return "bindings";
  const own = /\bpayroute\[[0-9a-f]+\]::(\w+)/.exec(name);
  if (own) return Object.keys(PARTS).find((part) => PARTS[part].includes(own[1])) ?? "the rest of the core";
  if (/payroute_bindings\[/.test(name)) return "bindings";
  if (name.startsWith("__wbindgen_")) return "JavaScript's side";
  const library = /(\w+)\[[0-9a-f]{8,}\]::/.exec(name)?.[1];
  if (["core", "alloc", "std", "dlmalloc", "compiler_builtins", "__rustc", undefined].includes(library)) return "standard library";
  return /wasm_bindgen|js_sys|web_sys/.test(library) ? "JavaScript's side" : library;
}

function named() {
  const out = mkdtempSync(join(tmpdir(), "payroute-size-"));
  // Names of functions say which crate they are of, generic ones too.
  compile(out, [], { RUSTFLAGS: "-Csymbol-mangling-version=v0" });
  const file = join(out, "core_bg.wasm");
  optimize(file, ["-g"]);
  const bytes = readFileSync(file);
  rmSync(out, { recursive: true });
  return bytes;
}

/** KB of 1,000 bytes, gzip -9. */
export function gzipKb(bytes) {
  return gzipSync(bytes, { level: 9, memLevel: 9 }).length / 1_000;
}

/**
 * What the module is made of, the largest part first.
 * @returns {{ name: string, bytes: number, kb: number }[]} `kb` is about what the part has compressed
 */
export function parts() {
  const bytes = named();
  const all = [...sections(bytes)];
  const section = (id) => all.find((section) => section.id === id);
  const content = ({ start, length }) => bytes.subarray(start, start + length);
  const [code, data] = [section(10), section(11)];
  const names = new Map(all.filter(({ id }) => id === 0).flatMap(({ start, length }) => [...functionNames(bytes, start, length)]));
  const sizes = new Map([["data", data.length]]);
  const reader = new Reader(bytes, code.start);
  const first = importedFunctions(bytes, section(2).start);
  for (let index = first, end = first + reader.number(); index < end; index++) {
    const size = reader.number();
    reader.at += size;
    const name = part(names.get(index) ?? "");
    sizes.set(name, (sizes.get(name) ?? 0) + size);
  }
  // Compressed as a whole; a part has the share of the code that it has uncompressed.
  const ratio = gzipKb(content(code)) / code.length;
  return [...sizes]
    .sort(([, a], [, b]) => b - a)
    .map(([name, size]) => ({ name, bytes: size, kb: name === "data" ? gzipKb(content(data)) : size * ratio }));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log("| part | bytes | about KB gzip |\n|---|---|---|");
  for (const { name, bytes, kb } of parts()) console.log(`| ${name} | ${bytes.toLocaleString("en")} | ${kb.toFixed(1)} |`);
}
