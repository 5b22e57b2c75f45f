import { isUtf8 } from 'node:buffer';
import { acceptedTypes } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { ARROW_TYPE, type FormatName } from '../formats/index.js';
import { serdeError } from '../query-string.js';

/** `json` selects one of two shapes, depending on the compatibility profile. */
export type RequestedFormat = FormatName | 'json';

const BY_NAME: ReadonlyMap<string, RequestedFormat> = new Map([
  ['json', 'json'],
  ['json_series', 'json_series'],
  ['json_rows', 'json_rows'],
  ['jsonl', 'jsonl'],
  ['json_lines', 'jsonl'],
  ['csv', 'csv'],
  ['csv_exact', 'csv_exact'],
  ['pretty', 'pretty'],
  ['parquet', 'parquet'],
  ['arrow', 'arrow'],
]);

/** The names accepted in requests. */
export const FORMAT_NAMES: readonly string[] = [...BY_NAME.keys()];

const BY_MEDIA_TYPE: ReadonlyMap<string, RequestedFormat> = new Map([
  ['application/json', 'json'],
  ['application/json;shape=rows', 'json_rows'],
  ['application/json;shape=series', 'json_series'],
  ['application/jsonl', 'jsonl'],
  ['text/csv', 'csv'],
  ['text/plain', 'pretty'],
  ['application/vnd.apache.parquet', 'parquet'],
  [ARROW_TYPE, 'arrow'],
]);

/**
 * Returns the format that `Accept` selects. It is validated first, even if the request names a
 * format.
 * Source: tsdb-http, "Parameters".
 */
export function formatOfAccept(accept: string | undefined): RequestedFormat {
  if (accept === undefined || accept.includes('text/html') || accept.includes('*/*')) return 'json';
  // Header bytes arrive as one character each.
  if (!isUtf8(Buffer.from(accept, 'latin1'))) {
    throw tsdbError(
      'parameter_invalid',
      'the mime type specified was not valid UTF8: failed to convert header to a str',
    );
  }
  for (const { type, parameters } of acceptedTypes(accept)) {
    const shape = parameters.find((parameter) => parameter.startsWith('shape='));
    const format = BY_MEDIA_TYPE.get(shape === undefined ? type : `${type};${shape}`);
    if (format !== undefined) return format;
  }
  throw tsdbError('parameter_invalid', `invalid mime type (${accept})`);
}

/**
 * Returns the format for the parameter `format`. `failure` creates the error for the part of the
 * request that contains it.
 */
export function formatOfName(
  name: string,
  failure: (text: string) => TsdbError = serdeError,
): RequestedFormat {
  const format = BY_NAME.get(name);
  if (format !== undefined) return format;
  throw failure(
    `unknown variant \`${name}\`, expected one of \`parquet\`, \`csv\`, \`pretty\`, \`json\`, \`jsonl\``,
  );
}

export function resolveFormat(requested: RequestedFormat, isInfluxdb3: boolean): FormatName {
  if (requested !== 'json') return requested;
  return isInfluxdb3 ? 'json_rows' : 'json_series';
}
