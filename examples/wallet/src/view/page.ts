// The page as a whole: who, what is for sale, the routes, and the machinery beside them.

import { html } from "lit-html";
import type { App } from "../app";
import { networkName, shortened } from "../words";
import { endpoints } from "./endpoints";
import { events } from "./events";
import { purse } from "./purse";
import { deficits, routes } from "./routes";

export function page(app: App) {
  const { state } = app;
  return html`
    <header>
      <h1>payroute <small>every route of a payment, and why</small></h1>
      ${state.account === undefined
        ? html`<button class="primary" ?disabled=${state.busy} @click=${() => app.connect()}>Connect wallet</button>`
        : html`<p class="account" title=${state.account}>${shortened(state.account)}</p>`}
    </header>
    <main>
      <div class="column">
        ${merchant(app)}
        <p class="status" role="status" aria-live="polite">${state.status}</p>
        ${deficits(app)} ${routes(app)}
      </div>
      <div class="column side">${purse(app)} ${endpoints(app)} ${events(app)}</div>
    </main>
  `;
}

function merchant(app: App) {
  const { state } = app;
  const ready = state.account !== undefined && !state.busy;
  return html`
    <section aria-labelledby="merchant">
      <h2 id="merchant">The merchant</h2>
      <p>An article, for 0.05 USDC on any of ${Object.keys(state.world.networks).length} networks.</p>
      <div class="row">
        <button class="primary" ?disabled=${!ready} @click=${() => app.ask()}>Ask for the article</button>
        <label>
          Prefer
          <select ?disabled=${!ready} @change=${(change: Event) => app.prefer((change.target as HTMLSelectElement).value)}>
            <option value="" ?selected=${state.prefer === ""}>no network</option>
            ${Object.keys(state.world.networks).map(
              (network) => html`<option value=${network} ?selected=${state.prefer === network}>${networkName(network)}</option>`,
            )}
          </select>
        </label>
        <label>
          <input type="checkbox" .checked=${state.watching} @change=${(change: Event) => app.watch((change.target as HTMLInputElement).checked)} />
          look again every second
        </label>
      </div>
      ${state.receipt === undefined
        ? ""
        : html`<article class="receipt">
            <h3>${state.receipt.title}</h3>
            <p>Paid on ${networkName(state.receipt.network)}, transaction <code>${shortened(state.receipt.transaction)}</code></p>
          </article>`}
    </section>
  `;
}
