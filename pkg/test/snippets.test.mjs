// Every TypeScript example of the documentation compiles, each as a module of its own.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { PACKAGE } from "./support/tarball.mjs";

const REFERENCE = readdirSync(join(PACKAGE, "../docs")).filter((name) => name.endsWith(".md"));
const DOCUMENTS = {
  package: "README.md",
  readme: "../README.md",
  guide: "../GUIDE.md",
  ...Object.fromEntries(REFERENCE.map((name) => [`docs-${name}`, `../docs/${name}`])),
};

function snippets(path) {
  const text = readFileSync(join(PACKAGE, path), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]);
}

test("the examples of the documentation compile", () => {
  const folder = join(PACKAGE, ".work/snippets");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  let count = 0;
  for (const [name, path] of Object.entries(DOCUMENTS)) {
    for (const [index, snippet] of snippets(path).entries()) {
      writeFileSync(join(folder, `${name}-${index + 1}.mts`), `${snippet}\nexport {};\n`);
      count += 1;
    }
  }
  assert.ok(count >= 12, `only ${count} examples were found`);
  copyFileSync(join(PACKAGE, "test/types/snippets.d.ts"), join(folder, "ambient.d.mts"));
  const settings = { extends: join(PACKAGE, "test/types/tsconfig.json"), files: [], include: ["./*.mts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  try {
    execFileSync(process.execPath, [join(PACKAGE, "node_modules/typescript/bin/tsc"), "-p", folder], { encoding: "utf8" });
  } catch (error) {
    assert.fail(`${dirname(folder)}: ${error.stdout}`);
  }
});
