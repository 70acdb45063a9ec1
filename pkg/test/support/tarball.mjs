// The package as a stranger gets it: packed, and installed into an application of its own.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bringIn, putBack } from "../../scripts/documents.mjs";

export const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

function npm(args, cwd) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** Packs into `folder`; the tarball's path. Scripts would print into the JSON, so theirs is done here. */
export function pack(folder) {
  bringIn();
  try {
    const [{ filename }] = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], PACKAGE));
    return join(folder, filename);
  } finally {
    putBack();
  }
}

/** A fresh application with the tarball installed, outside the repository so that nothing else resolves. */
export function installed(extra = []) {
  const folder = mkdtempSync(join(tmpdir(), "payroute-app-"));
  const tarball = pack(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  npm(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", tarball, ...extra], folder);
  mkdirSync(join(folder, "src"));
  cpSync(join(PACKAGE, "test/app"), join(folder, "src"), { recursive: true });
  return { folder, tarball, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Every file below `folder` whose name ends in `ending`. */
export function filesBelow(folder, ending) {
  return readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(ending));
}
