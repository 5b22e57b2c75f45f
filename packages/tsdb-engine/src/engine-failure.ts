import { asDiskFull, DiskFull } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import { OUT_OF_MEMORY } from '@plinth/tsdb-storage/duckdb/instance/memory-watch.js';
import { FAILED_ON_THE_WAY } from '@plinth/tsdb-storage/duckdb/stream-end.js';

/**
 * DuckDB errors, and the messages that InfluxDB clients receive for them. An error without an entry
 * concerns only DuckDB (generated names, files). The client then only receives the message that the
 * query failed, and `cause` contains the details. Constant expressions that fail (`SELECT 1/0`,
 * `'x'::INT`) are handled here as well. The real planner leaves expressions that it cannot fold to
 * execution, so they are execution errors, not planning errors.
 */
const WORDINGS: readonly (readonly [pattern: RegExp, words: string])[] = [
  // Raised by our own macros within DuckDB.
  [/^((?:Arrow error|Cast error|Execution error|Resources exhausted): .*)$/, '$1'],
  [
    /^Overflow in \w+ of \w+ \((.+)\)!?$/,
    'Arrow error: Arithmetic overflow: Overflow happened on: $1',
  ],
  [/^Overflow in division of (.+)$/, 'Arrow error: Arithmetic overflow: Overflow happened on: $1'],
  [/^Overflow on abs\((-?\d+)\)$/, 'Arrow error: Compute error: Int64Array overflow on abs($1)'],
  [/^Overflow .*?\((.*)\)!?$/, 'Arrow error: Arithmetic overflow: Overflow happened on: $1'],
  [/^lcm value is out of range$/, 'Arrow error: Compute error: Signed integer overflow in LCM'],
  [
    /^list_\w+: list dimensions must be equal.*$/,
    'Execution error: Both arrays must have the same length',
  ],
  [/^(?:Left|Right)-shift value.*$/, 'Arrow error: Arithmetic overflow: shift out of range'],
  [
    /^Type INT128 with value (-?\d+) can't be cast .*$/,
    'Arrow error: Arithmetic overflow: $1 is out of range',
  ],
  [
    /^Type \w+ with value (.+?) can't be cast .* destination type (\w+).*$/,
    "Cast error: Can't cast value $1 to type $2",
  ],
  [
    /^(?:Overflow.*|Cannot negate.*|.*value is out of range.*)$/,
    'Arrow error: Arithmetic overflow',
  ],
  [
    /^Could not convert string ['"](.*)['"] to (\w+(?:\([\d, ]+\))?).*$/,
    "Cast error: Cannot cast string '$1' to value of $2 type",
  ],
  [
    /^(?:invalid )?date field (?:format|value out of range): "(.*?)".*$/,
    "Cast error: Cannot cast string '$1' to value of Date32 type",
  ],
  [
    /^Could not cast value (\S+) to DECIMAL\((\d+),(\d+)\).*$/,
    'Arrow error: Invalid argument error: $1 is too large to store in a Decimal128 of precision $2',
  ],
  [
    /^More than one row returned by a subquery.*$/,
    'Execution error: Scalar subquery returned more than one row',
  ],
  [
    /^((?:missing|invalid|unexpected|bad|no argument for|trailing|pattern too large)[^:]*: .*)$/,
    'Execution error: Regular expression did not compile: $1',
  ],
  [/^trailing \\$/, 'Execution error: Regular expression did not compile: trailing \\'],
  [
    /^The map key list does not align with the map value list.*$/,
    'Execution error: map requires key and value lists to have the same length',
  ],
  [/^Map keys must be unique.*$/, 'Execution error: map key must be unique, duplicate key found'],
  [/^Map keys can not be NULL.*$/, 'Execution error: map key cannot be null'],
  [/^Invalid UTF8 Codepoint (-?\d+).*$/, 'Execution error: invalid Unicode scalar value: $1'],
  [
    /^LIMIT\/OFFSET cannot be negative.*$/,
    'Error during planning: LIMIT must be >= 0, a negative number was provided',
  ],
  [
    /^Slice step cannot be zero.*$/,
    'Execution error: array_slice got invalid stride: 0, it cannot be 0',
  ],
  [/^interval cannot be 0.*$/, "Execution error: Step value can't be 0"],
  [/^Invalid escape string.*$/, 'Execution error: Escape string must be empty or one character'],
  [/^Max expression depth limit.*$/, 'Resources exhausted: the query is nested too deeply'],
];

const UNREAD = 'External error: stored data could not be read';

type FailureKind = 'execution_error' | 'not_implemented' | 'query_out_of_memory' | 'query_failed';

/**
 * Errors for valid SQL that DuckDB does not support. Other DuckDB errors about a statement indicate
 * incorrect generated SQL or stale columns.
 */
const UNSUPPORTED = [
  /^Not implemented Error/,
  /^Serialization Error: Cannot copy Bound/,
  // A lambda in a subquery cannot refer to the outer tables.
  /^Binder Error: Referenced table "r\d+" not found!/,
  /^Binder Error: RANGE frames must have only one ORDER BY expression/,
  /^Binder Error: In a DISTINCT aggregate, ORDER BY expressions must appear in the argument list/,
  /^Binder Error: [^"\n]*\bnot supported\b/,
];

/** Errors whose message depends only on their kind. No row value caused them. */
const KINDS: readonly (readonly [pattern: RegExp, kind: FailureKind, words: string])[] = [
  [
    new RegExp(
      `(?:${OUT_OF_MEMORY.source}).*(?:max_temp_directory_size|temporary|offload|disk)`,
      'is',
    ),
    'query_out_of_memory',
    'Resources exhausted: the query exceeds the memory limit of the server, and the disk has no space for spilled data',
  ],
  [
    OUT_OF_MEMORY,
    'query_out_of_memory',
    'Resources exhausted: the query exceeds the memory limit of the server',
  ],
  [/^IO Error/, 'query_failed', UNREAD],
  [/^INTERRUPT/, 'query_failed', 'query cancelled'],
];

/** DuckDB writes results and spilled data to disk, and opens files. */
const NO_ROOM =
  /^IO Error: .*(?:No space left|Disk full|Disk quota exceeded|Too many open files)/is;

const ENGINE_KIND = /^(?:Invalid Input|Conversion|Out of Range|Binder|Syntax|Constraint) Error: /;

/** Errors without an entry above that only values can cause, in DuckDB's own wording. */
const VALUE_KINDS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^Out of Range Error: /, 'Arrow error: Arithmetic overflow: a value is out of range'],
  [
    /^Conversion Error: .*(?:timestamp|date|interval|out of range)/i,
    'Arrow error: Arithmetic overflow: a value is out of range',
  ],
  [/^Conversion Error: /, 'Arrow error: Cast error: a value cannot be cast'],
];

/** DuckDB's type names and the corresponding Arrow names. */
const ARROW_NAMES: ReadonlyMap<string, string> = new Map([
  ['INT8', 'Int8'],
  ['INT16', 'Int16'],
  ['INT32', 'Int32'],
  ['INT64', 'Int64'],
  ['UINT8', 'UInt8'],
  ['UINT16', 'UInt16'],
  ['UINT32', 'UInt32'],
  ['UINT64', 'UInt64'],
  ['FLOAT', 'Float32'],
  ['DOUBLE', 'Float64'],
  ['BOOL', 'Boolean'],
  ['BOOLEAN', 'Boolean'],
  ['DATE', 'Date32'],
]);

/** Returns the domain error for an error thrown by a running query. */
export function toQueryError(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return endOfQuery(signal);
  if (!(error instanceof Error)) return tsdbError('query_failed', FALLBACK);
  const full = NO_ROOM.test(error.message) ? new DiskFull(error) : asDiskFull(error);
  if (full !== undefined) return full;
  if (error.name !== 'Error') return error;
  const { kind, text } = classifyFailure(error.message);
  return tsdbError(kind, text, error);
}

const FALLBACK = 'Execution error: query execution failed';

/** Maximum length of a message, which may contain a row value. */
const MAX_LENGTH = 1000;

/** Whether corrupt files may be the cause: no value and no limit explains the failure. */
export function isCauseUnknown(failure: Error): boolean {
  return (
    tsdbError.is(failure, 'query_failed') &&
    [FALLBACK, UNREAD, FAILED_ON_THE_WAY].some((w) => failure.message.endsWith(w))
  );
}

/** Classifies a DuckDB message and returns the text for clients. */
export function classifyFailure(message: string): {
  readonly kind: FailureKind;
  readonly text: string;
} {
  // Checked before the kinds, because a value in the message may contain their patterns.
  const text = valueFailureText(message);
  if (text !== undefined) return { kind: 'execution_error', text };
  const found = KINDS.find(([pattern]) => pattern.test(message));
  if (found !== undefined) return { kind: found[1], text: found[2] };
  return UNSUPPORTED.some((pattern) => pattern.test(message))
    ? { kind: 'not_implemented', text: 'this combination of SQL clauses' }
    : { kind: 'query_failed', text: FALLBACK };
}

/** Returns `undefined` if no value caused the failure. */
function valueFailureText(message: string): string | undefined {
  const [whole = ''] = message.split('\n', 1);
  // The end names the type to which the value was converted.
  const line =
    whole.length <= MAX_LENGTH ? whole : `${whole.slice(0, MAX_LENGTH - 100)}…${whole.slice(-100)}`;
  const text = line.replace(ENGINE_KIND, '').replace(/ when casting from source column .*$/, '');
  for (const [pattern, replacement] of WORDINGS) {
    if (pattern.test(text)) return inArrowNames(text.replace(pattern, replacement));
  }
  return VALUE_KINDS.find(([pattern]) => pattern.test(line))?.[1];
}

function inArrowNames(text: string): string {
  return text
    .replace(/\b(?:to type|to value of) (\w+)/, (whole, name: string) =>
      whole.replace(name, ARROW_NAMES.get(name) ?? name),
    )
    .replace(/DECIMAL\((\d+),(\d+)\)/, 'Decimal128($1, $2)');
}
