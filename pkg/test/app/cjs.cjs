require("./select.cjs").select(require("payroute"));
