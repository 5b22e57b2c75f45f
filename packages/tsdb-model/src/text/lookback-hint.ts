import { formatDuration, parseDuration } from '../time/duration.js';

/** Look-back of a hint without a duration. Prometheus looks back equally far by default. */
const DEFAULT_LOOKBACK_NS = 300_000_000_000n;
/** Maximum look-back; a statement over all data does not need one. */
export const MAX_LOOKBACK_NS = 366n * 86_400_000_000_000n;

const HINT = /^\/\*\+\s*lookback\b/i;
const COMPLETE_HINT = /^\/\*\+\s*lookback\s*(?:\(([^()]*)\)\s*)?\*\/$/i;

/** The look-back before the time range, or the reason why the hint is invalid. */
export type LookbackHint = { readonly ns: bigint } | { readonly problem: string };

/**
 * Reads a comment of a statement, with its delimiters. Returns `undefined` unless it is a look-back
 * hint.
 * Source: query-languages, "Look-back".
 */
export function lookbackHint(comment: string): LookbackHint | undefined {
  if (!HINT.test(comment)) return undefined;
  const complete = COMPLETE_HINT.exec(comment);
  if (complete !== null) {
    const [, distance] = complete;
    const ns = distance === undefined ? DEFAULT_LOOKBACK_NS : parseDuration(distance.trim());
    if (ns !== undefined && ns <= MAX_LOOKBACK_NS) return { ns };
  }
  return {
    problem:
      `invalid hint ${comment.slice(0, 60)}; use /*+ lookback(1h) */ with a duration of at most 366d, ` +
      'or lookback(0s) for no look-back',
  };
}

export function printLookbackHint(ns: bigint): string {
  return `/*+ lookback(${formatDuration(ns)}) */`;
}
