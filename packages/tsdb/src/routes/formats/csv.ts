import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { chunkTexts, columnTexts, NestedTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';
import type { TextBytes } from './text-bytes.js';

/**
 * A header line, then one line per row. Without rows, only the header is written. Source:
 * tsdb-http, "csv".
 */
export const CSV: TextFormat = csvWith(quoteCsv);

/**
 * Like CSV, but empty strings are written as `""` to distinguish them from NULL, so that exported
 * tables can be imported.
 */
export const CSV_EXACT: TextFormat = csvWith((text) => (text === '' ? '""' : quoteCsv(text)));

function csvWith(quote: (text: string) => string): TextFormat {
  return { contentType: 'text/csv', open: (head, target) => open(head, target, quote) };
}

function open(
  { columns }: ResultHead,
  target: TextBytes,
  quote: (text: string) => string,
): Encoder {
  const writers = columnTexts(columns, quote);
  const nested = new NestedTexts(columns);
  function* inSteps(chunk: ResultChunk): Steps<void> {
    const texts = chunkTexts(chunk, writers);
    for (let row = 0; row < chunk.rowCount; row++) {
      for (let column = 0; column < texts.length; column++) {
        if (column > 0) target.text(',');
        const parts = yield* nested.cell(chunk, column, row);
        if (parts === undefined) target.text(texts[column]?.[row] ?? '');
        else yield* putQuoted(parts, target);
      }
      target.text('\n');
      yield;
    }
  }
  return {
    begin: () => target.text(`${columns.map(({ name }) => quoteCsv(name)).join(',')}\n`),
    chunk(chunk) {
      if (nested.hasAny) return inSteps(chunk);
      const texts = chunkTexts(chunk, writers);
      let out = '';
      for (let row = 0; row < chunk.rowCount; row++) {
        for (let column = 0; column < texts.length; column++) {
          if (column > 0) out += ',';
          out += texts[column]?.[row];
        }
        out += '\n';
      }
      target.text(out);
      return undefined;
    },
    end: () => undefined,
  };
}

/** Quotes a value only if RFC 4180 requires it. */
export function quoteCsv(text: string): string {
  return needsQuotes(text) ? `"${doubled(text)}"` : text;
}

/** Like `quoteCsv`, for a value in parts. */
function* putQuoted(parts: readonly string[], target: TextBytes): Steps<void> {
  const isQuoted = parts.some(needsQuotes);
  if (isQuoted) target.text('"');
  for (const part of parts) {
    target.text(isQuoted ? doubled(part) : part);
    yield;
  }
  if (isQuoted) target.text('"');
}

const needsQuotes = (text: string): boolean => /[",\r\n]/.test(text);

const doubled = (text: string): string => text.replaceAll('"', '""');
