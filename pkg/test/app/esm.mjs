import * as payroute from "payroute";
import * as x402 from "payroute/x402";
import { select } from "./select.cjs";
await select(payroute, x402);
