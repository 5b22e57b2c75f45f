const ROW_COUNT = 400;
const START_MS = 1_700_000_000_000;

/**
 * Returns lines of the usual forms: every field type, known and new series, two tables. `round`
 * makes bodies differ.
 */
export function warmUpBody(round: number): Uint8Array {
  const lines = Array.from({ length: ROW_COUNT }, (_, row) => {
    const n = round * ROW_COUNT + row;
    const timeNs = `${START_MS + n * 10}000000`;
    const tags = `host=host_${n % 50},region=region-${n % 5},rack=${n % 10}`;
    if (row % 4 === 3)
      return `b,${tags} text="text ${n}",flag=${n % 2 === 0},count=${n}i ${timeNs}`;
    const floats = `d=${(n % 1000) / 8},e=${(n % 997) / 100},f=-${n % 90}.5,g=${n}`;
    return `a,${tags} a=${n % 100}i,b=${n % 37}i,c=${n * 7919}i,${floats} ${timeNs}`;
  });
  return Buffer.from(lines.join('\n'));
}
