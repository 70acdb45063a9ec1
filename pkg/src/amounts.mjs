// @ts-check
// Amounts as people and programs want them. Atomic units are strings of digits everywhere else.

/** @param {string} amount */
export function amountToBigInt(amount) {
  if (typeof amount !== "string" || !/^[0-9]{1,78}$/.test(amount)) {
    throw new TypeError("an amount is a string of 1 to 78 digits");
  }
  return BigInt(amount);
}

/**
 * @param {string | bigint} amount
 * @param {number} decimals
 */
export function formatAmount(amount, decimals) {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 77) {
    throw new RangeError("decimals is a whole number from 0 to 77");
  }
  const value = typeof amount === "bigint" ? amount : amountToBigInt(amount);
  if (value < 0n) throw new RangeError("an amount is not negative");
  const digits = value.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
