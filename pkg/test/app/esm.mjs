import * as payroute from "payroute";
import { select } from "./select.cjs";
await select(payroute);
