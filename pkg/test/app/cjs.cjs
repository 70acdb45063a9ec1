require("./select.cjs").select(require("payroute"), require("payroute/x402"));
