// A selection at the endpoint that the first argument names, in whichever module system, and the same
// one through a client that a challenge in a body reaches as a header.
exports.select = async ({ createSelector }, { routed, withReadable402 }) => {
  const { config, paymentRequired } = JSON.parse(process.argv[2]);
  const selector = await createSelector(config);
  const { requirement, candidates } = await selector.select(paymentRequired);
  const client = routed({ createPaymentPayload: async ({ accepts }) => ({ accepted: accepts[0] }) }, selector);
  const { accepted } = await client.createPaymentPayload(paymentRequired);
  const respond = async () => new Response(JSON.stringify(paymentRequired), { status: 402 });
  const { headers } = await withReadable402(respond)("https://shop.example");
  console.log(
    JSON.stringify({
      same: requirement === paymentRequired.accepts[0] && accepted === requirement,
      balance: candidates[0].balance,
      readable: JSON.parse(atob(headers.get("payment-required"))).accepts.length,
    }),
  );
};
