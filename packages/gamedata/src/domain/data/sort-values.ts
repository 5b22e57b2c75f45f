import { compareText, normalText } from '../../model/normal-text.js';

/** A sort key: normalized text, a number, or null for an absent value. */
export type SortKeyValue = number | string | null;

/** Sorts nulls last in both directions. Source: gamedata, section 2.5. */
export function compareSortKeys(a: SortKeyValue, b: SortKeyValue, isDescending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order =
    typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b));
  return isDescending ? -order : order;
}

export function sortKeyOf(value: unknown): SortKeyValue {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return normalText(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (Array.isArray(value)) return value.length === 0 ? null : sortKeyOf(value[0]);
  return null;
}
