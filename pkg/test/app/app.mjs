// What a wallet does, on one page: select, show what is missing, or what was chosen. Built by every
// bundler and loaded plainly.

import { InsufficientLiquidityError, PayrouteError, createSelector, formatAmount } from "payroute";

async function run() {
  const { config, paymentRequired } = await (await fetch("/setup.json")).json();
  const selector = await createSelector(config);
  try {
    const { requirement, candidates } = await selector.select(paymentRequired);
    const [{ networkName, balance, decimals, symbol }] = candidates;
    show("chosen", [`${networkName}: holds ${formatAmount(balance, decimals)} ${symbol}`]);
    show("same", [String(paymentRequired.accepts.includes(requirement))]);
  } catch (error) {
    if (!(error instanceof InsufficientLiquidityError)) throw error;
    show("deficits", error.deficits.map(({ text }) => text));
  }
}

function show(id, lines) {
  const list = document.createElement("ul");
  list.id = id;
  for (const line of lines) list.append(Object.assign(document.createElement("li"), { textContent: line }));
  document.body.append(list);
}

run()
  .catch((error) => show("error", [PayrouteError.is(error) ? error.code : "unknown", String(error)]))
  .finally(() => document.body.setAttribute("data-done", ""));
