import { OpenApi, type QueryParameter } from '@plinth/kernel';
import { Type } from 'typebox';
import { BUCKET, DB, FAILED, RP } from './elements.js';

const { answer, json, oneOf, parameter, ref, text } = OpenApi;

const LONG_UNITS = ['second', 'millisecond', 'microsecond', 'nanosecond'];
const UNITS = [...LONG_UNITS, 's', 'ms', 'us', 'u', 'ns', 'n'];
const COMMON_WRITE = [
  parameter('accept_partial', Type.Boolean({ description: 'false: all lines or none' })),
  parameter('no_sync', Type.Boolean({ description: 'true: answer before the rows are durable' })),
];
const NATIVE_WRITE = [
  parameter('precision', oneOf(['auto', ...UNITS], { default: 'auto' })),
  ...COMMON_WRITE,
];
const LEGACY_WRITE = [
  parameter('precision', oneOf(UNITS, { default: 'nanosecond' })),
  ...COMMON_WRITE,
];

/** Paths that take line protocol. */
export function writePaths(): Readonly<Record<string, object>> {
  return {
    '/api/v3/write_lp': { post: write('Write line protocol', [DB, ...NATIVE_WRITE]) },
    '/api/v2/write': { post: write('Write line protocol (v2)', [BUCKET, ...LEGACY_WRITE]) },
    '/write': { post: write('Write line protocol (v1)', [DB, RP, ...LEGACY_WRITE]) },
  };
}

function write(summary: string, parameters: readonly QueryParameter[]): object {
  return {
    summary,
    parameters,
    requestBody: {
      required: true,
      description: 'line protocol; may be sent with Content-Encoding: gzip',
      content: text,
    },
    responses: {
      '204': answer('every line is written'),
      ...FAILED,
      '400': answer('lines were refused; with accept_partial the others are written', {
        'application/json': { schema: { anyOf: [ref('RefusedLines'), ref('Error')] } },
      }),
      '413': answer('the body is too large', json(ref('Error'))),
      '422': answer('a limit of databases, tables or columns', json(ref('Error'))),
      '503': answer('too much is waiting to be stored; see Retry-After', json(ref('Error'))),
    },
  };
}
