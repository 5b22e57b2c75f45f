import { listedTypes } from '@plinth/kernel';

/** Supported content codings, in order of preference. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number] | 'identity';

/** Returns false only when `Accept` excludes JSON. */
export function acceptsType(header: string | undefined, type: string): boolean {
  if (header === undefined || header === '' || header === '*/*') return true;
  const [main] = type.split('/');
  let best: { specificity: number; weight: number } | undefined;
  for (const { type: range, weight } of listedTypes(header)) {
    const specificity = range === type ? 2 : range === `${main}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (specificity === -1) continue;
    if (best === undefined || specificity > best.specificity) best = { specificity, weight };
  }
  return best !== undefined && best.weight > 0;
}
