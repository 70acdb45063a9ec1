// Prints the fault matrix into tests/README.md, between its marks. With `--check` it only says whether
// the table there is this one.

import { readFileSync, writeFileSync } from "node:fs";
import { TABLE } from "./server.mjs";

const README = new URL("../README.md", import.meta.url);
const [BEGIN, END] = ["<!-- fault table: `make fault-table` -->", "<!-- end of the fault table -->"];
const NAMES = { native: "native", node: "Node", webkit: "WebKitGTK", evm: "EVM", svm: "Solana" };

const HEADINGS = ["an endpoint that …", "is taken for", "class", "health, alone", "health, with a second", "alone", "with a second"];

function line({ fault, families, is, waits }) {
  const cells = (show) => {
    if (typeof is === "string") return show(TABLE.outcomes[is]);
    const told = Object.entries(is).map(([where, outcome]) => [NAMES[where] ?? "elsewhere", show(TABLE.outcomes[outcome])]);
    const words = [...new Set(told.map(([, text]) => text))];
    const places = (text) => told.flatMap(([where, said]) => (said === text ? [where] : [])).join(", ");
    return words.length === 1 ? words[0] : words.map((text) => `${places(text)}: ${text}`).join("; ");
  };
  const wait = waits === undefined || waits[0] === 0 ? "" : ` up to ${waits[1] / 1_000} s`;
  return [
    fault + (families === undefined ? "" : ` (${families.map((family) => NAMES[family])})`),
    cells(({ says }) => says),
    cells(({ class: kind = "–" }) => kind),
    cells(({ health, alone = health }) => alone + (alone === "throttled" ? wait : "")),
    cells(({ health }) => health + (health === "throttled" ? wait : "")),
    cells(({ says }) => (says === "answers" ? "a balance" : "`balances-unavailable`")),
    cells(({ says, final }) => (says === "answers" ? "the first tells" : final ? "`balances-unavailable`" : "the second tells")),
  ];
}

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = [row(HEADINGS), row(HEADINGS.map(() => "---")), ...TABLE.rows.map((each) => row(line(each)))].join("\n");

const text = readFileSync(README, "utf8");
const [before, rest = ""] = text.split(BEGIN);
const [, after] = rest.split(END);
if (after === undefined) throw new Error(`tests/README.md lacks the marks ${BEGIN} and ${END}`);
const written = `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
if (process.argv.includes("--check")) {
  if (written !== text) {
    console.error("tests/README.md has another fault table than tests/faults/table.json; `make fault-table` writes it");
    process.exitCode = 1;
  }
} else {
  writeFileSync(README, written);
}
