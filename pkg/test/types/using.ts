// Compiled, never run: what the types offer where the compiler knows `using`.

import { type Hold, type Selector, createSelector } from "payroute";

export async function pay(settle: (terms: object) => Promise<boolean>): Promise<void> {
  using selector = await createSelector({});
  const selection = await selector.select("eyJ9");
  await using hold = selection.hold();
  if (await settle(selection.requirement)) hold.settle();
  else hold.release();
}

export function end(selector: Selector, hold: Hold): void {
  selector[Symbol.dispose]();
  const both: Disposable & AsyncDisposable = hold;
  both[Symbol.dispose]();
  // @ts-expect-error a selection is not ended
  using _ = selector.select("eyJ9");
}
