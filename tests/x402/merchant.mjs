// Starts chains, facilitator and merchant, prints the one line that tells where they
// are, and ends with its stdin, on SIGTERM or on SIGINT.
import { startWorld } from './world.mjs';

const port = process.argv[2] === undefined ? undefined : Number(process.argv[2]);
if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
  console.error('usage: node merchant.mjs [port of the merchant]');
  process.exit(2);
}

const { net, article, facilitator, stop } = await startWorld({ port });
const end = () => stop().then(() => process.exit(0));
process.stdin.on('end', end).on('error', end).resume();
process.on('SIGTERM', end);
process.on('SIGINT', end);
// The localnet's own line, with the two addresses more.
const { controlUrl, control: _, stop: __, ...facts } = net;
console.log(JSON.stringify({ article, facilitator, ...facts, control: controlUrl }));
