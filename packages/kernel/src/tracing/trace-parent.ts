/** The client span that a request belongs to. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const LENGTH_00 = 55;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const ALL_ZERO = /^0+$/;
const SAMPLED = 1;

/**
 * Parses the header; `undefined` when it is missing or invalid. Source: W3C Trace Context, "traceparent
 * Header Field Values".
 */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  if (text === undefined) return undefined;
  const [, version, traceId, spanId, flags] = FORM.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === 'ff' || (version === '00' && text.length !== LENGTH_00)) return undefined;
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & SAMPLED) !== 0 };
}
