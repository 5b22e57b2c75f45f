const NS_PER_UNIT: ReadonlyMap<string, bigint> = new Map(
  (
    [
      ['ns nsec nanos', 1n],
      ['us usec micros', 1_000n],
      ['ms msec millis', 1_000_000n],
      ['s sec secs second seconds', 1_000_000_000n],
      ['m min mins minute minutes', 60_000_000_000n],
      ['h hr hrs hour hours', 3_600_000_000_000n],
      ['d day days', 86_400_000_000_000n],
      ['w week weeks', 604_800_000_000_000n],
      ['M month months', 2_630_016_000_000_000n],
      ['y year years', 31_557_600_000_000_000n],
    ] as const
  ).flatMap(([names, ns]) => names.split(' ').map((name) => [name, ns] as const)),
);

const SPAN = /(\d{1,20})\s*([a-zA-Z]+)\s*/y;

/**
 * Parses a duration such as `1h 30m` or `2days` to nanoseconds. Returns `undefined` for invalid
 * text.
 * Source: processing-engine, "Duration grammar".
 */
export function parseDuration(text: string): bigint | undefined {
  let totalNs = 0n;
  let end = 0;
  while (end < text.length) {
    SPAN.lastIndex = end;
    const span = SPAN.exec(text);
    const unitNs = NS_PER_UNIT.get(span?.[2] ?? '');
    if (span === null || unitNs === undefined) return undefined;
    totalNs += BigInt(span[1] as string) * unitNs; // the group is part of every match
    end = SPAN.lastIndex;
  }
  return end === 0 ? undefined : totalNs;
}

/** Unit, its nanoseconds, and whether the name is a word with a plural. */
const PARTS: readonly (readonly [name: string, ns: bigint, isWord: boolean])[] = [
  ['year', 31_557_600_000_000_000n, true],
  ['month', 2_630_016_000_000_000n, true],
  ['day', 86_400_000_000_000n, true],
  ['h', 3_600_000_000_000n, false],
  ['m', 60_000_000_000n, false],
  ['s', 1_000_000_000n, false],
  ['ms', 1_000_000n, false],
  ['us', 1_000n, false],
  ['ns', 1n, false],
];

/**
 * Formats a duration as `1year 2months 3days 4h 5m 6s 7ms 8us 9ns`, without the parts that are
 * zero. Returns `0s` for zero.
 */
export function formatDuration(durationNs: bigint): string {
  const parts: string[] = [];
  let restNs = durationNs;
  for (const [name, ns, isWord] of PARTS) {
    const count = restNs / ns;
    restNs %= ns;
    if (count > 0n) parts.push(`${count}${name}${isWord && count > 1n ? 's' : ''}`);
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}
