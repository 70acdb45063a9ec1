// The ranked routes and what is short: the part that a wallet would take over as it is.

import { type Candidate } from "payroute";
import { html } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { App } from "../app";
import { millis, networkName, units, why } from "../words";
import { badge } from "./badge";

export function routes(app: App) {
  const { candidates } = app.state;
  if (candidates.length === 0) return "";
  return html`
    <section aria-labelledby="routes">
      <h2 id="routes">Routes, best first</h2>
      <ol class="routes">
        ${repeat(candidates, ({ requirementIndex }) => requirementIndex, (candidate) => route(app, candidate))}
      </ol>
    </section>
  `;
}

function route(app: App, candidate: Candidate) {
  const { state } = app;
  const wins = candidate.rank === 1 && candidate.viable;
  const name = candidate.networkName ?? candidate.network ?? "unknown network";
  return html`
    <li class=${wins ? "route wins" : candidate.viable ? "route" : "route out"}>
      <div class="row">
        <h3><span class="rank">${candidate.rank}</span> ${name}</h3>
        ${wins
          ? html`<button class="primary" ?disabled=${state.busy} @click=${() => app.pay()}>Pay ${units(candidate.amount, candidate)}</button>`
          : html`<span class="tag">${candidate.viable ? "could pay" : "cannot pay"}</span>`}
      </div>
      <dl>
        <div><dt>Price</dt><dd>${units(candidate.amount, candidate)}</dd></div>
        <div><dt>You have</dt><dd>${units(candidate.balance, candidate)}</dd></div>
        <div><dt>Fee</dt><dd>${units(candidate.fee, candidate)}</dd></div>
        <div>
          <dt>Health</dt>
          <dd>
            <meter min="0" max="1" low="0.4" high="0.7" optimum="1" .value=${candidate.healthScore} aria-label=${`health of the endpoint on ${name}`}></meter>
            ${candidate.healthScore.toFixed(4)}
          </dd>
        </div>
        <div><dt>Latency</dt><dd>${millis(candidate.latencyMs)}</dd></div>
        <div><dt>Circuit</dt><dd>${badge(candidate.circuit)}</dd></div>
      </dl>
      ${why(candidate).map((sentence) => html`<p class="why">${sentence}</p>`)}
    </li>
  `;
}

export function deficits(app: App) {
  const { deficits, busy } = app.state;
  if (deficits.length === 0) return "";
  return html`
    <section class="deficits" aria-labelledby="deficits">
      <h2 id="deficits">What is missing</h2>
      <ul>
        ${deficits.map(
          (deficit) => html`<li class="row">
            <span><strong>${units(deficit.shortfall, deficit)}</strong> on ${deficit.networkName}: it costs ${units(deficit.required, deficit)}, you have ${units(deficit.available, deficit)}.</span>
            <button ?disabled=${busy} @click=${() => app.fill(deficit.network, deficit.required)}>
              Top up <span class="unseen">on ${networkName(deficit.network)}</span>
            </button>
          </li>`,
        )}
      </ul>
    </section>
  `;
}
