// @ts-check
// `using` and `await using` for the package's objects.

/**
 * Lets `using` and `await using` end objects of a class. Safari does not know the symbols; there, compiled `using`
 * looks for the registered ones.
 * @param {object} prototype
 * @param {() => void} end
 */
export function makeDisposable(prototype, end) {
  const define = (/** @type {symbol} */ key, /** @type {() => unknown} */ value) => {
    Object.defineProperty(prototype, key, { value, configurable: true, writable: true });
  };
  define(Symbol.dispose ?? Symbol.for("Symbol.dispose"), end);
  define(Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose"), async function () {
    // @ts-expect-error called on objects of the class
    end.call(this);
  });
}
