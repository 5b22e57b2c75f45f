import { createHash } from 'node:crypto';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  blobValue,
  type DuckDBBlobValue,
  type DuckDBDataChunk,
  DuckDBScalarFunction,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api';
import { blake3 } from '@noble/hashes/blake3.js';
import { messageOf } from '@plinth/kernel';
import { fixedOffsetNs, MAX_CACHED_ZONES } from '@plinth/tsdb-model/time/time-zone.js';
import { parseTimestamp } from '../../bind/types/parse-timestamp.js';
import { STRING_BUDGET_BYTES } from '../../emit/string-budget.js';
import { formatTime } from '../time/chrono-format.js';
import { parseByFormats } from '../time/time-conversion.js';

/** Digest names in Node's crypto module, which lacks BLAKE3. */
const NODE_DIGEST: Readonly<Record<string, string>> = {
  sha224: 'sha224',
  sha384: 'sha384',
  sha512: 'sha512',
  blake2s: 'blake2s256',
  blake2b: 'blake2b512',
};

/**
 * Maximum bytes that one call may digest. A call has up to 2,048 rows and blocks the event loop.
 * BLAKE3 has a lower limit because it runs in JavaScript.
 */
const MAX_DIGESTED_BYTES = 32 * 1024 * 1024;
const MAX_DIGESTED_HERE_BYTES = 1024 * 1024;
/** Maximum total length of formats in one call. */
const MAX_FORMATTED_LENGTH = 1024 * 1024;
/**
 * Maximum product of format and text lengths in one call, since each format item may read its
 * complete text.
 */
const MAX_PARSED = 16 * 1024 * 1024;
/** Maximum product of the lengths of compared strings in one call, which takes about 20 ms. */
const MAX_COMPARED = 4 * 1024 * 1024;

/**
 * Functions that cannot be expressed in DuckDB SQL. They run on the main thread chunk by chunk at
 * about 0.4 µs per row and function, so only rarely used functions belong here. A NULL argument
 * gives NULL without a call.
 */
export function scalarFunctions(): readonly DuckDBScalarFunction[] {
  return [
    define('plinth_has_budget', [BIGINT, BIGINT], BOOLEAN, ([sizeBytes, producerCount], work) => {
      const most = Math.floor(STRING_BUDGET_BYTES / Number(producerCount));
      work.count(Number(sizeBytes), most, 'bytes of strings and lists per function');
      return true;
    }),
    define('plinth_has_result_budget', [BIGINT, BIGINT], BOOLEAN, ([sizeBytes, most], work) => {
      work.count(
        Number(sizeBytes),
        Number(most),
        'bytes of strings or lists per column (set by tsdb.query_memory_bytes)',
      );
      return true;
    }),
    define('plinth_to_char', [BIGINT, VARCHAR, VARCHAR], VARCHAR, ([ns, format, zone], work) => {
      work.count((format as string).length, MAX_FORMATTED_LENGTH, 'characters of formats');
      const text = formatTime(ns as bigint, format as string, (zone as string) || undefined);
      if (text === undefined)
        throw new Error(`Execution error: Invalid format string: '${format}'`);
      return text;
    }),
    define(
      'plinth_parse_time',
      [VARCHAR],
      BIGINT,
      ([text, ...formats], work) => {
        const length = formats.reduce<number>((sum, format) => sum + (format as string).length, 0);
        const cost = length * ((text as string).length + 1); // Formats are parsed even if the text is empty.
        work.count(cost, MAX_PARSED, 'characters of timestamps times characters of formats');
        return parseByFormats(text as string, formats as string[]);
      },
      VARCHAR,
    ),
    define('plinth_time_in_zone', [VARCHAR, VARCHAR], BIGINT, ([text, zone], work) => {
      return parseTimestamp(text as string, zone as string, (name) => work.addZone(name)) ?? null;
    }),
    define('plinth_digest', [BLOB, VARCHAR], BLOB, ([value, algorithm], work) => {
      const { bytes } = value as DuckDBBlobValue;
      const name = NODE_DIGEST[algorithm as string];
      const most = name === undefined ? MAX_DIGESTED_HERE_BYTES : MAX_DIGESTED_BYTES;
      work.count(bytes.length, most, `bytes for ${algorithm}`);
      return blobValue(
        name === undefined ? blake3(bytes) : createHash(name).update(bytes).digest(),
      );
    }),
    define('plinth_levenshtein_chars', [VARCHAR, VARCHAR], INTEGER, ([a, b], work) => {
      const [one, other] = [a as string, b as string];
      const cost = (one.length + 1) * (other.length + 1); // Characters are counted even if the other string is empty.
      work.count(cost, MAX_COMPARED, 'pairs of characters compared');
      return levenshtein([...one], [...other]);
    }),
  ];
}

/**
 * Maximum time that row functions may block the main thread. Up to a thousand calls arrive without
 * a break.
 */
const MAX_BLOCKING_MS = 1000;
let blockingMs = 0;
let isTickCounted = false;

/** @throws if row functions of any query have blocked the main thread for too long. */
function startOfCall(): number {
  if (!isTickCounted) {
    isTickCounted = true;
    blockingMs = 0;
    setImmediate(() => {
      isTickCounted = false;
    });
  }
  if (blockingMs <= MAX_BLOCKING_MS) return performance.now();
  throw new Error(
    `Resources exhausted: functions that run outside DuckDB exceeded their limit of ${MAX_BLOCKING_MS} ms; query fewer rows, or retry when fewer queries are running`,
  );
}

/** Work of one call, which processes all of its rows in one step. */
class Work {
  #count = 0;
  readonly #zones = new Set<string>();

  /**
   * Throws if the call uses more zones than are cached. Loading the rules of a zone takes up to a
   * millisecond.
   */
  addZone(name: string): void {
    if (this.#zones.has(name) || fixedOffsetNs(name) !== undefined) return;
    this.#zones.add(name);
    this.count(1, MAX_CACHED_ZONES, 'time zones');
  }

  /** Throws above `most`. */
  count(amount: number, most: number, what: string): void {
    this.#count += amount;
    if (this.#count <= most) return;
    throw new Error(
      `Resources exhausted: a batch of up to 2048 rows uses more than ${most} ${what}; query fewer rows or shorter strings`,
    );
  }
}

/**
 * `compute` receives values of the declared types, so its casts are safe. An error that it throws
 * fails the query.
 */
function define(
  name: string,
  parameterTypes: readonly DuckDBType[],
  returnType: DuckDBType,
  compute: (args: DuckDBValue[], work: Work) => DuckDBValue,
  varArgsType?: DuckDBType,
): DuckDBScalarFunction {
  // Functions with this prefix only count; a thousand calls take less than a second.
  const isLight = name.startsWith('plinth_has_');
  return DuckDBScalarFunction.create({
    name,
    parameterTypes,
    returnType,
    ...(varArgsType !== undefined && { varArgsType }),
    mainFunction: (info, input, output) => {
      const args = columnsOf(input);
      const work = new Work();
      let startMs: number | undefined;
      try {
        if (!isLight) startMs = startOfCall();
        for (let row = 0; row < input.rowCount; row++) {
          const values = args.map((column) => column.getItem(row));
          output.setItem(row, values.includes(null) ? null : compute(values, work));
        }
        output.flush();
      } catch (failure) {
        info.setError(messageOf(failure));
      }
      if (startMs !== undefined) blockingMs += performance.now() - startMs;
    },
  });
}

function columnsOf(input: DuckDBDataChunk) {
  return Array.from({ length: input.columnCount }, (_, index) => input.getColumnVector(index));
}

/** Returns the edit distance of two strings, keeping only one row of the table in memory. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  // The preceding row, overwritten from the left.
  const row = Uint32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    let diagonal = row[0] as number; // length is b.length + 1, also below
    row[0] = i + 1;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] as number;
      const substitution = diagonal + (a[i] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(substitution, above + 1, (row[j - 1] as number) + 1);
      diagonal = above;
    }
  }
  return row[b.length] as number;
}
