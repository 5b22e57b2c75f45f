/** The codings we have, the preferred one first. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number] | 'identity';

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
