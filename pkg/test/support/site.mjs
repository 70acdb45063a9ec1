// A static site on loopback with a strict content security policy.

import { createServer } from "node:http";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };

export const STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http://127.0.0.1:*";
export const WITHOUT_KEYWORD = STRICT.replace(" 'wasm-unsafe-eval'", "");

/** Lets the modules of an application that nothing built find the package where npm has put it. */
export function unbuilt(path, bytes) {
  return path.startsWith("/src/") && path.endsWith(".mjs") ? bytes.toString().replace('"payroute"', '"../node_modules/payroute/entrypoints/index.mjs"') : bytes;
}

/** Serves `folder`, and `setup()` as /setup.json. `change` may rewrite a file's bytes. */
export async function serve(folder, { setup, policy = STRICT, change = (_, bytes) => bytes }) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname).replace(/\/$/, "/index.html");
    const headers = { "content-security-policy": policy };
    if (path === "/setup.json") {
      response.writeHead(200, { ...headers, "content-type": "application/json" });
      return response.end(JSON.stringify(setup()));
    }
    const file = join(folder, path);
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404, headers).end();
    response.writeHead(200, { ...headers, "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    response.end(change(path, readFileSync(file)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
