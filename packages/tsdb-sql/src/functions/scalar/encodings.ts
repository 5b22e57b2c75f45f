import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isText } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../../bound-expr.js';
import type { FunctionCall, FunctionDefinition } from '../function-definition.js';
import { once } from '../lists/list-macros.js';
import {
  argAt,
  BINARY,
  badArguments,
  constantText,
  expectArgCount,
  scalar,
  textArg,
  UTF8,
} from '../signature.js';

/**
 * Maps an algorithm to the text that computes its digest, from BLOB to BLOB. DuckDB has two of
 * them; the others run in Node.
 */
const DIGESTS = new Map<string, (bytes: string) => string>([
  ['md5', (bytes) => `unhex(md5(${bytes}))`],
  ['sha256', (bytes) => `unhex(sha256(${bytes}))`],
  ...['sha224', 'sha384', 'sha512', 'blake2s', 'blake2b', 'blake3'].map(
    (name): [string, (bytes: string) => string] => [
      name,
      (bytes) => `plinth_digest(${bytes}, '${name}')`,
    ],
  ),
]);

/**
 * `base64` is encoded without padding and decoded with or without it. Source: query-languages,
 * "Strings"; DataFusion, scalar functions, "Binary String Functions".
 */
export const ENCODINGS: readonly FunctionDefinition[] = [
  scalar(['encode'], (call) => {
    expectArgCount(call, 2);
    const bytes = bytesOf(call).text;
    switch (encodingAt(call)) {
      case 'hex':
        return { text: `lower(hex(${bytes}))`, type: UTF8 };
      case 'base64':
        return { text: `rtrim(to_base64(${bytes}), '=')`, type: UTF8 };
      default:
        return { text: `to_base64(${bytes})`, type: UTF8 };
    }
  }),
  scalar(['decode'], (call) => {
    expectArgCount(call, 2);
    const text =
      argAt(call, 0).type.kind === 'binary'
        ? `decode(${argAt(call, 0).text})`
        : textArg(call, 0).text;
    const macro = encodingAt(call) === 'hex' ? 'plinth_decode_hex' : 'plinth_decode_base64';
    return { text: `${macro}(${text})`, type: BINARY };
  }),
  scalar(['digest'], (call) => {
    expectArgCount(call, 2);
    const name = constantText(call, 1, 'its algorithm').toLowerCase();
    const textOf = DIGESTS.get(name);
    if (textOf === undefined) {
      throw tsdbError(
        'plan_error',
        `Error during planning: There is no built-in digest algorithm named '${name}', ` +
          `currently supported algorithms are: ${[...DIGESTS.keys()].join(', ')}`,
      );
    }
    return { text: textOf(bytesOf(call).text), type: BINARY };
  }),
  scalar(['md5'], (call) => {
    expectArgCount(call, 1);
    return { text: `md5(${bytesOf(call).text})`, type: UTF8 };
  }),
  ...['sha224', 'sha256', 'sha384', 'sha512'].map((name) =>
    scalar([name], (call) => {
      expectArgCount(call, 1);
      const bytes = bytesOf(call).text;
      return { text: DIGESTS.get(name)?.(bytes) ?? '', type: BINARY };
    }),
  ),
];

export const ENCODING_MACROS: readonly string[] = [
  // DuckDB rejects TRY over expressions that may fail or are volatile; the result of `once` is
  // neither.
  `CREATE OR REPLACE MACRO plinth_decode_hex(s) AS ${once(
    ['s'],
    `CASE WHEN q.s IS NULL THEN NULL
     ELSE coalesce(try(unhex(q.s)), error('Execution error: Failed to decode value using hex')) END`,
  )}`,
  `CREATE OR REPLACE MACRO plinth_decode_base64(s) AS ${once(
    ['s'],
    `CASE WHEN q.s IS NULL THEN NULL
     ELSE coalesce(try(from_base64(rtrim(q.s, '=') || repeat('=', (4 - length(rtrim(q.s, '=')) % 4) % 4))),
       error('Execution error: Failed to decode value using base64')) END`,
  )}`,
];

function bytesOf(call: FunctionCall): Pick<BoundExpr, 'text'> {
  const arg = argAt(call, 0);
  if (arg.type.kind === 'binary') return arg;
  if (!isText(arg.type) && arg.type.kind !== 'null') throw badArguments(call);
  return { text: `encode(${textArg(call, 0).text})` };
}

function encodingAt(call: FunctionCall): 'hex' | 'base64' | 'base64pad' {
  const name = constantText(call, 1, 'its encoding').toLowerCase();
  if (name === 'hex' || name === 'base64' || name === 'base64pad') return name;
  throw tsdbError(
    'plan_error',
    `Error during planning: There is no built-in encoding named '${name}', currently supported encodings are: base64, base64pad, hex`,
  );
}
