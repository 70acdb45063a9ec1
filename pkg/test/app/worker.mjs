import { createSelector } from "payroute";

export default {
  async fetch(request) {
    const { config, paymentRequired } = await request.json();
    try {
      const selector = await createSelector(config);
      const { requirement, candidates } = await selector.select(paymentRequired);
      return Response.json({ same: requirement === paymentRequired.accepts[0], balance: candidates[0].balance });
    } catch (error) {
      return Response.json({ error: String(error), code: error.code, explanation: error.explain?.() }, { status: 500 });
    }
  },
};
