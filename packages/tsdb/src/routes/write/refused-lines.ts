import type { WriteOutcome } from '@plinth/tsdb-model/engine.js';
import type { RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import { v2Code } from '../to-wire.js';
import type { WriteApi, WriteTarget } from './write-target.js';

const PARTIAL = 'partial write of line protocol occurred';
const FAILED = 'write of line protocol failed';
/** Maximum bytes of a line in InfluxDB 3 error messages. */
const INFLUXDB3_LINE_BYTES = 20;

export interface RefusalResponse {
  readonly status: 400 | 422;
  readonly body: unknown;
}

/**
 * Responds to a write in which lines were refused. Source: tsdb-http, "Line failures", "v2 error
 * body".
 */
export function refusedLinesResponse(
  outcome: WriteOutcome,
  options: { readonly api: WriteApi; readonly target: WriteTarget; readonly isInfluxdb3: boolean },
): RefusalResponse {
  const { acceptPartial } = options.target;
  const isOverLimit = acceptPartial && outcome.refused.some((line) => line.reason === 'limit');
  const status = isOverLimit ? 422 : 400;
  const body = options.isInfluxdb3
    ? influxdb3Body(outcome.refused, acceptPartial)
    : documentedBody(outcome, acceptPartial);
  if (options.api !== 'v2') return { status, body };
  const v2Fields = { code: v2Code(status), message: v2Message(body.error, outcome, options) };
  // 3.x clients treat a body with `data` as a response of the native endpoint.
  return { status, body: options.isInfluxdb3 ? v2Fields : { ...v2Fields, ...body } };
}

function v2Message(
  error: string,
  { refused: [first] }: WriteOutcome,
  { isInfluxdb3 }: { readonly isInfluxdb3: boolean },
): string {
  if (first === undefined) return error;
  return isInfluxdb3
    ? `write buffer error: line protocol parse failed: ${first.message}`
    : `${error}: line ${first.lineNumber}: ${first.message}`;
}

function documentedBody({ writtenCount, refused }: WriteOutcome, acceptPartial: boolean) {
  return {
    error: acceptPartial && writtenCount > 0 ? PARTIAL : FAILED,
    data: refused.map(({ originalLine, lineNumber, message }) => ({
      original_line: originalLine,
      line_number: lineNumber,
      error_message: message,
    })),
  };
}

function influxdb3Body(refused: readonly RefusedLine[], acceptPartial: boolean) {
  const data = refused.map(({ originalLine, lineNumber, message }) => ({
    error_message: message,
    line_number: lineNumber,
    original_line: cutToBytes(originalLine, INFLUXDB3_LINE_BYTES),
  }));
  return acceptPartial
    ? { error: PARTIAL, data }
    : { error: 'line protocol parsing error', data: data[0] ?? {} };
}

/** Truncates a text to at most `sizeBytes` bytes of UTF-8, without splitting a character. */
function cutToBytes(text: string, sizeBytes: number): string {
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > sizeBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
