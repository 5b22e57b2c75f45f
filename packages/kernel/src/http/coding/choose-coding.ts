import { Memo } from '../../memo/memo.js';

/** Clients send few different headers, so parsed ones are cached. */
const MAX_KNOWN_HEADERS = 256;
const known = new Memo<string, ReadonlyMap<string, number>>({ maxCount: MAX_KNOWN_HEADERS });

/**
 * Returns the coding with the highest weight in `Accept-Encoding`, or `undefined` when the client
 * accepts none.
 * @param codings the supported codings, the preferred one first.
 * Source: RFC 9110, 12.5.3.
 */
export function chooseCoding<C extends string>(
  header: string | undefined,
  codings: readonly C[],
): C | 'identity' | undefined {
  if (header === undefined) return 'identity';
  const weights = known.of(header, read);
  const any = weights.get('*');
  let best: C | 'identity' | undefined;
  let bestWeight = 0;
  for (const coding of [...codings, 'identity'] as const) {
    // `identity` is acceptable unless excluded by name or by `*;q=0`, but with the lowest preference.
    const implied = coding === 'identity' ? (any === 0 ? 0 : 0.0001) : any;
    const weight = weights.get(coding) ?? implied ?? 0;
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}

function read(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    if (name === '') continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const weight = q === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 0;
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight);
  }
  return weights;
}
