// Figures and the one form of a row.

export function median(values) {
  return percentile(values, 0.5);
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export async function time(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** One row of the table that `make bench` prints: what was done, what it took, what stood beside it. */
export function row(what, figure, beside, ratio, remark) {
  console.log(`| ${what} | ${figure} | ${beside} | ${ratio === undefined ? "" : ratio.toFixed(3)} | ${remark ?? ""} |`);
}
