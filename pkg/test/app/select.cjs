// A selection at the endpoint that the first argument names, in whichever module system.
exports.select = async ({ createSelector }) => {
  const { config, paymentRequired } = JSON.parse(process.argv[2]);
  const selector = await createSelector(config);
  const { requirement, candidates } = await selector.select(paymentRequired);
  console.log(JSON.stringify({ same: requirement === paymentRequired.accepts[0], balance: candidates[0].balance }));
};
