import { Memo } from '@plinth/kernel';

/** The codings we have, the preferred one first. */
const CODINGS = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof CODINGS)[number];

/** Headers come in few spellings; reading each once is enough. */
const MAX_KNOWN_HEADERS = 256;
const known = new Memo<string, Coding | null>({ maxCount: MAX_KNOWN_HEADERS });

/** Coding with the highest q-value, or `undefined` when the client takes none of ours. Source: RFC 9110, 12.5.3. */
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined) return 'identity';
  return known.of(header, read) ?? undefined;
}

function read(header: string): Coding | null {
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    if (name === '') continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const weight = q === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 0;
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight);
  }
  const any = weights.get('*');
  let best: Coding | null = null;
  let bestWeight = 0;
  for (const coding of CODINGS) {
    // Sending as it is stays allowed unless it is refused by name or by `*;q=0`; it is no client's first wish.
    const implied = coding === 'identity' ? (any === 0 ? 0 : 0.0001) : any;
    const weight = weights.get(coding) ?? implied ?? 0;
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}

/** False only when `Accept` rules JSON out altogether. */
export function acceptsType(header: string | undefined, type: string): boolean {
  if (header === undefined || header === '' || header === '*/*') return true;
  const [main] = type.split('/');
  let best: { specificity: number; weight: number } | undefined;
  for (const part of header.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const specificity = range === type ? 2 : range === `${main}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (specificity === -1) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const weight = q === undefined ? 1 : Number(q) || 0;
    if (best === undefined || specificity > best.specificity) best = { specificity, weight };
  }
  return best !== undefined && best.weight > 0;
}
