// The little HTTP both servers need: a loopback listener on a free port, and a
// request body read up to a limit. Knows nothing of what is served.
import { createServer } from 'node:http';

export async function listen(handler) {
  const server = createServer((request, response) => {
    handler(request, response).catch((error) => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise((ready, failed) => server.once('error', failed).listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${server.address().port}`;
}

// Undefined means the body was over the limit.
export async function readBody(request, limit) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  return size <= limit ? Buffer.concat(chunks).toString('utf8') : undefined;
}

export function send(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(body);
}
