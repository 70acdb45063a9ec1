// What the README points to, for the tarball: npm runs this before and after it packs. In the repository the
// README's links lead out of this folder (`../docs/health.md`); in the tarball the same files lie beside it.

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE, REPOSITORY } from "./module.mjs";

/** Each is listed in the `files` of package.json, and ignored by git here. */
const DOCUMENTS = ["docs", "GUIDE.md", "SECURITY.md"];
const README = join(PACKAGE, "README.md");

/** Copies the documents into this folder and lets the README point to the copies. */
export function bringIn() {
  for (const name of DOCUMENTS) cpSync(join(REPOSITORY, name), join(PACKAGE, name), { recursive: true });
  relink("../", "");
}

/** Undoes it. */
export function putBack() {
  relink("", "../");
  for (const name of DOCUMENTS) rmSync(join(PACKAGE, name), { recursive: true, force: true });
}

function relink(from, to) {
  const text = readFileSync(README, "utf8");
  const relinked = DOCUMENTS.reduce((text, name) => text.replaceAll(`](${from}${name}`, `](${to}${name}`), text);
  writeFileSync(README, relinked);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === "in") bringIn();
  else putBack();
}
