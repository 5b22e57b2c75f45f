const UNIT_SEC: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** Seconds of `30d`, `12h` or `1d 6h`; `undefined`: it is no duration. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+)\s*([smhdw])\s*/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== text.trim() + trailing(text)) {
    return undefined;
  }
  return parts.reduce(
    (sum, [, amount, unit = 's']) => sum + Number(amount) * (UNIT_SEC[unit] ?? 0),
    0,
  );
}

const trailing = (text: string): string => text.slice(text.trimEnd().length);
