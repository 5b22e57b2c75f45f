import type { PublishedTable } from '../publish/published-table.js';

/**
 * Returns why a table does not contain all rows that were acknowledged until `nowNs`, after it was
 * published; `undefined` if it does.
 */
export function staleReason(
  table: Pick<PublishedTable, 'state' | 'history'> | undefined,
  { isCurrent, nowNs }: { readonly isCurrent: boolean; readonly nowNs: bigint },
): string | undefined {
  const { state, history } = table ?? {};
  if (state !== undefined && 'reason' in state) return state.reason;
  if (isCurrent) return undefined;
  if (history === undefined) return 'it has never been published';
  // Rows that were written after the query started do not make the table stale.
  if (BigInt(history.mergedThrough) >= nowNs) return undefined;
  return 'new rows, or new values of points, are not published yet';
}
