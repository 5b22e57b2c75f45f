import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';

export interface Page {
  readonly names: readonly string[];
  /** Token of the next page; `null` on the last one. */
  readonly next: string | null;
}

const toToken = (name: string): string => Buffer.from(name).toString('base64url');

/**
 * Returns the requested page of names, or an error message. A token contains the last name of its page, so names that
 * are added or removed between two pages cause no gaps.
 */
export function pageOf(names: readonly string[], query: URLSearchParams): Page | string {
  const size = query.get('pageSize');
  if (size !== null && !/^[1-9]\d{0,8}$/.test(size))
    return 'pageSize is not valid; expected a positive integer';
  const token = query.get('pageToken') ?? '';
  const last = Buffer.from(token, 'base64url').toString();
  if (toToken(last) !== token) return 'pageToken is not valid; use the token of the previous page';
  const sorted = [...names].sort(compareByteOrder);
  const rest = token === '' ? sorted : sorted.filter((name) => compareByteOrder(name, last) > 0);
  const page = rest.slice(0, size === null ? rest.length : Number(size));
  const end = page.at(-1);
  return { names: page, next: page.length < rest.length && end ? toToken(end) : null };
}
