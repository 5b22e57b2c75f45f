/** What a server says of lines that it did not take. */
export interface Refusals {
  readonly lines: readonly { readonly line: number; readonly message: string }[];
  /** Where the list may have been cut: there are at least so many. */
  readonly isCut: boolean;
  /** None of the request's lines was taken. */
  readonly isWhole: boolean;
}

/** Lines that a server lists. Source: tsdb-http, "Line failures". */
const MAX_LISTED_COUNT = 1000;
const NOTHING_WRITTEN = 'write of line protocol failed';

/** The bad lines in an answer to a write; `undefined` when the answer is about something else. */
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
    return undefined; // Not ours: a proxy or another server answered.
  }
}
