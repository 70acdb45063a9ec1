// An x402 merchant: one paid article, behind the real middleware, offered on every
// network at prices that are given. Knows no chain and no facilitator's inside.
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import express from 'express';
import { listen } from './listen.mjs';

export const ARTICLE = { title: 'What the buyer paid for' };

// A page of another origin may pay: it must see the terms and the receipt.
function openToPages(request, response, next) {
  response.set({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'content-type, payment-signature, x-payment, access-control-expose-headers',
    'access-control-expose-headers': 'payment-required, payment-response',
  });
  if (request.method === 'OPTIONS') return response.sendStatus(204);
  return next();
}

// `offers`: { network, price, payTo }, in the order in which the merchant lists them.
export async function startShop(facilitator, offers, { port } = {}) {
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator }))
    .register('eip155:*', new ExactEvmScheme())
    .register('solana:*', new ExactSvmScheme());
  const accepts = offers.map((offer) => ({ scheme: 'exact', maxTimeoutSeconds: 60, ...offer }));
  const routes = { 'GET /article': { accepts, description: ARTICLE.title, mimeType: 'application/json' } };
  const app = express().use(openToPages).use(paymentMiddleware(routes, server));
  app.get('/article', (_, response) => response.json(ARTICLE));
  return listen(app, port);
}
