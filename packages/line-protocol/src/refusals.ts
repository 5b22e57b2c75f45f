/** Line errors in a server's response to a write. */
export interface Refusals {
  readonly lines: readonly { readonly line: number; readonly message: string }[];
  /** The server may have truncated the list, so `lines` is a lower bound. */
  readonly isCut: boolean;
  /** No line of the request was written. */
  readonly isWhole: boolean;
}

/** Maximum number of lines that a server lists. Source: tsdb-http, "Line failures". */
const MAX_LISTED_COUNT = 1000;
const NOTHING_WRITTEN = 'write of line protocol failed';

/**
 * Reads the rejected lines from the response to a write; `undefined` if the response is about
 * something else.
 */
export function readRefusals(text: string): Refusals | undefined {
  const { error, data } = Object(parseJson(text)) as Record<string, unknown>;
  if (!Array.isArray(data) || data.length === 0) return undefined;
  const lines = data.map((item: unknown) => {
    const { line_number, error_message } = Object(item) as Record<string, unknown>;
    return { line: Number(line_number), message: String(error_message) };
  });
  return {
    lines,
    isCut: lines.length >= MAX_LISTED_COUNT,
    isWhole: error === NOTHING_WRITTEN,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not from this server: a proxy or another server sent the response.
  }
}
