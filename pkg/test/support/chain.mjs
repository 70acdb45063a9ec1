// The EVM chain of tests/faults, over text.

import { answer as answerTo } from "../../../tests/faults/chain.mjs";

/** Answers a JSON-RPC body; `chain` says what is out of the ordinary. */
export function answer(body, chain) {
  return JSON.stringify(answerTo("evm", JSON.parse(body), chain));
}
