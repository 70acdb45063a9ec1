// The fault matrix as a program: opens every endpoint that the cases need, prints one line of JSON when
// all are ready, and ends when its standard input does.

import { once } from "node:events";
import { createServer } from "node:http";
import { FAMILIES } from "./chain.mjs";
import { TABLE, openEndpoint } from "./server.mjs";

/** Every row in every family, with the faulty endpoint alone and in front of a good one. */
const cases = [];
for (const row of TABLE.rows) {
  for (const family of row.families ?? Object.keys(FAMILIES)) {
    for (const providers of [1, 2]) cases.push({ id: `${row.id}/${family}/${providers}`, row: row.id, family, providers });
  }
}

/** The endpoint that is at fault, by case. */
const faulty = new Map();

/** New endpoints for a case; their URLs. */
async function open({ id, row, family, providers }) {
  const endpoints = [await openEndpoint(row, family)];
  if (providers === 2) endpoints.push(await openEndpoint("healthy", family));
  faulty.set(id, endpoints[0]);
  return endpoints.map(({ url }) => url);
}

for (const each of cases) each.rpc = await open(each);

/** With a case's id, `POST` mends its endpoint and `PUT` opens new ones. */
const control = createServer(async (request, response) => {
  const cors = { "access-control-allow-origin": "*", "access-control-allow-methods": "*" };
  if (request.method === "OPTIONS") return response.writeHead(204, cors).end();
  let id = "";
  for await (const chunk of request) id += chunk;
  const known = cases.find((each) => each.id === id);
  if (known === undefined) return response.writeHead(404, cors).end();
  if (request.method === "POST") await faulty.get(id).heal();
  response.writeHead(200, cors).end(JSON.stringify(request.method === "PUT" ? await open(known) : null));
});
control.listen(0, "127.0.0.1");
await once(control, "listening");
console.log(JSON.stringify({ control: `http://127.0.0.1:${control.address().port}/`, families: FAMILIES, cases }));

process.stdin.resume();
await once(process.stdin, "end");
process.exit();
