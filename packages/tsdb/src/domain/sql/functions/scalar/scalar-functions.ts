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
import { fixedOffsetNs, MAX_CACHED_ZONES } from '../../../../model/time/time-zone.js';
import { parseTimestamp } from '../../bind/types/parse-timestamp.js';
import { TEXT_ROOM_BYTES } from '../../emit/text-room.js';
import { formatTime } from '../time/chrono-format.js';
import { parseByFormats } from '../time/time-conversion.js';

/** Names of digest algorithms in the runtime's cryptography; BLAKE3 is the one that it lacks. */
const NODE_DIGEST: Readonly<Record<string, string>> = {
  sha224: 'sha224',
  sha384: 'sha384',
  sha512: 'sha512',
  blake2s: 'blake2s256',
  blake2b: 'blake2b512',
};

/** Bytes that one call may digest: it has up to 2,048 rows, and nothing else runs meanwhile. BLAKE3 is not the runtime's. */
const MAX_DIGESTED_BYTES = 32 * 1024 * 1024;
const MAX_DIGESTED_HERE_BYTES = 1024 * 1024;
/** Characters of formats that one call may write by. */
const MAX_FORMATTED_LENGTH = 1024 * 1024;
/** Characters of formats times those of the texts read by them: each item of a format may look at all of its text. */
const MAX_PARSED = 16 * 1024 * 1024;
/** Characters of the one text times characters of the other, in all rows of a call: some 20 ms. */
const MAX_COMPARED = 4 * 1024 * 1024;

/**
 * Functions that the engine's SQL cannot express, run on the main thread chunk by chunk (about 0.4 µs per row
 * and function): only what is rare in queries belongs here. A NULL argument gives NULL without a call.
 */
export function scalarFunctions(): readonly DuckDBScalarFunction[] {
  return [
    define('plinth_has_room', [BIGINT, BIGINT], BOOLEAN, ([sizeBytes, sharers], work) => {
      const most = Math.floor(TEXT_ROOM_BYTES / Number(sharers));
      work.count(
        Number(sizeBytes),
        most,
        'bytes of texts and lists made into others by each of the functions',
      );
      return true;
    }),
    define('plinth_has_answer_room', [BIGINT, BIGINT], BOOLEAN, ([sizeBytes, most], work) => {
      work.count(
        Number(sizeBytes),
        Number(most),
        'bytes in texts or lists of each column (tsdb.query_memory_bytes sets how many)',
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
        const cost = length * ((text as string).length + 1); // An empty text has its formats read all the same.
        work.count(cost, MAX_PARSED, 'characters of times multiplied by those of their formats');
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
      const cost = (one.length + 1) * (other.length + 1); // One against an empty text has its characters counted.
      work.count(cost, MAX_COMPARED, 'pairs of characters compared');
      return levenshtein([...one], [...other]);
    }),
  ];
}

/** What functions of rows may take of the main thread before it does something else: up to a thousand calls come in one go. */
const MAX_TURN_MS = 1000;
let turnMs = 0;
let isOwnCall = false;

/** @throws when the main thread has done nothing else for too long, whoever asked for it. */
function startOfCall(): number {
  if (!isOwnCall) {
    isOwnCall = true;
    turnMs = 0;
    setImmediate(() => {
      isOwnCall = false;
    });
  }
  if (turnMs <= MAX_TURN_MS) return performance.now();
  throw new Error(
    `Resources exhausted: functions that are computed row by row outside of the engine took all of ${MAX_TURN_MS} ms: ask for fewer rows, or again when fewer ask`,
  );
}

/** What one call of a function does: all of its rows in one go. */
class Work {
  #count = 0;
  readonly #zones = new Set<string>();

  /** Throws when the zones are more than those whose rules are kept: finding the rules of one takes up to a millisecond. */
  addZone(name: string): void {
    if (this.#zones.has(name) || fixedOffsetNs(name) !== undefined) return;
    this.#zones.add(name);
    this.count(1, MAX_CACHED_ZONES, 'time zones');
  }

  /** Throws when it has become too much. */
  count(amount: number, most: number, what: string): void {
    this.#count += amount;
    if (this.#count <= most) return;
    throw new Error(
      `Resources exhausted: more than ${most} ${what} in up to 2048 rows that are computed together: ask for fewer rows or shorter texts`,
    );
  }
}

/** `compute` receives values of the declared types, so its casts are safe; what it throws fails the query. */
function define(
  name: string,
  parameterTypes: readonly DuckDBType[],
  returnType: DuckDBType,
  compute: (args: DuckDBValue[], work: Work) => DuckDBValue,
  varArgsType?: DuckDBType,
): DuckDBScalarFunction {
  // They count and compute nothing: a thousand calls are less than a second.
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
      if (startMs !== undefined) turnMs += performance.now() - startMs;
    },
  });
}

function columnsOf(input: DuckDBDataChunk) {
  return Array.from({ length: input.columnCount }, (_, index) => input.getColumnVector(index));
}

/** Insertions, deletions and substitutions of characters between two texts, one row of the table at a time. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  // Of the row before, overwritten from the left.
  const row = Uint32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    let diagonal = row[0] as number; // b.length + 1 of them, and so below
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
