// An application on a port of the loopback, a free one unless it is named.
import { once } from 'node:events';

export async function listen(app, port = 0) {
  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
