import { createHash } from 'node:crypto';
import {
  BIGINT,
  BLOB,
  blobValue,
  type DuckDBBlobValue,
  type DuckDBDataChunk,
  DuckDBScalarFunction,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api';
import { blake3 } from './blake3.js';
import { formatTime } from './chrono-format.js';
import { parseByFormats } from './time-conversion.js';

/** Names of digest algorithms in the runtime's cryptography; BLAKE3 is the one that it lacks. */
const NODE_DIGEST: Readonly<Record<string, string>> = {
  sha224: 'sha224',
  sha384: 'sha384',
  sha512: 'sha512',
  blake2s: 'blake2s256',
  blake2b: 'blake2b512',
};

/**
 * Functions that the engine's SQL cannot express, run on the main thread chunk by chunk (about 0.4 µs per row
 * and function): only what is rare in queries belongs here. A NULL argument gives NULL without a call.
 */
export function scalarFunctions(): readonly DuckDBScalarFunction[] {
  return [
    define('plinth_to_char', [BIGINT, VARCHAR, VARCHAR], VARCHAR, ([ns, format, zone]) => {
      const text = formatTime(ns as bigint, format as string, (zone as string) || undefined);
      if (text === undefined)
        throw new Error(`Execution error: Invalid format string: '${format}'`);
      return text;
    }),
    define(
      'plinth_parse_time',
      [VARCHAR],
      BIGINT,
      ([text, ...formats]) => parseByFormats(text as string, formats as string[]),
      VARCHAR,
    ),
    define('plinth_digest', [BLOB, VARCHAR], BLOB, ([bytes, algorithm]) => {
      const name = NODE_DIGEST[algorithm as string];
      if (name === undefined) return blobValue(blake3((bytes as DuckDBBlobValue).bytes));
      return blobValue(
        createHash(name)
          .update((bytes as DuckDBBlobValue).bytes)
          .digest(),
      );
    }),
    define('plinth_levenshtein_chars', [VARCHAR, VARCHAR], INTEGER, ([a, b]) =>
      levenshtein([...(a as string)], [...(b as string)]),
    ),
  ];
}

/** `compute` receives values of the declared types, so its casts are safe; what it throws fails the query. */
function define(
  name: string,
  parameterTypes: readonly DuckDBType[],
  returnType: DuckDBType,
  compute: (args: DuckDBValue[]) => DuckDBValue,
  varArgsType?: DuckDBType,
): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name,
    parameterTypes,
    returnType,
    ...(varArgsType !== undefined && { varArgsType }),
    mainFunction: (info, input, output) => {
      const args = columnsOf(input);
      try {
        for (let row = 0; row < input.rowCount; row++) {
          const values = args.map((column) => column.getItem(row));
          output.setItem(row, values.includes(null) ? null : compute(values));
        }
        output.flush();
      } catch (failure) {
        info.setError(failure instanceof Error ? failure.message : String(failure));
      }
    },
  });
}

function columnsOf(input: DuckDBDataChunk) {
  return Array.from({ length: input.columnCount }, (_, index) => input.getColumnVector(index));
}

/** Insertions, deletions and substitutions of characters between two texts, one row of the table at a time. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, char] of a.entries()) {
    const current = [i + 1];
    for (const [j, other] of b.entries()) {
      const substitution = (previous[j] ?? 0) + (char === other ? 0 : 1);
      current.push(Math.min(substitution, (previous[j + 1] ?? 0) + 1, (current[j] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
