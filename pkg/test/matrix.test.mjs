// The fault matrix of tests/faults on the package, in Node and in a page. The Rust core runs the same
// table natively.

import { test } from "node:test";
import * as payroute from "payroute";
import { runMatrix } from "../../tests/faults/run.mjs";
import { TABLE } from "../../tests/faults/server.mjs";
import { absent, executable, openChromium } from "./support/chromium.mjs";
import { matrixInPage, withEndpoints } from "./support/matrix.mjs";

test("every fault does in Node what the table says", () =>
  withEndpoints(async (ready) => ({ problems: await runMatrix(payroute, TABLE, ready, "node") })));

test("every fault does in Chromium what the table says", { skip: executable ? false : absent }, () => matrixInPage(openChromium, "chromium"));
