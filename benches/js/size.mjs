// What the module weighs, as a whole and by part. Ratios are a part's share of all parts; the module is
// compressed as a whole, so what a part has compressed is an estimate.

import { readFileSync } from "node:fs";
import { gzipKb, parts } from "../../pkg/scripts/size.mjs";
import { row } from "./figures.mjs";

const bytesOf = (bytes) => `${bytes.toLocaleString("en")} B`;

const shipped = readFileSync(new URL("../../pkg/wasm/core_bg.wasm", import.meta.url));
row("module size: as shipped", bytesOf(shipped.length), "", undefined, `${gzipKb(shipped).toFixed(1)} KB gzip`);

const all = parts();
const sum = all.reduce((sum, { bytes }) => sum + bytes, 0);
for (const { name, bytes, kb } of all) {
  row(`module size: ${name}`, bytesOf(bytes), `all parts ${bytesOf(sum)}`, bytes / sum, `about ${kb.toFixed(1)} KB gzip`);
}
