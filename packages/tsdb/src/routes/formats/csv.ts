import { chunkTexts, columnTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';
import type { TextBytes } from './text-bytes.js';

/** Header line, then one line per row; the header stands alone when there are no rows. Source: tsdb-http, "csv". */
export const CSV: TextFormat = csvWith(quoteCsv);

/** As CSV, but an empty text is `""`, and so no NULL: what a table exports it can import. */
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
  return {
    begin: () => target.text(`${columns.map(({ name }) => quoteCsv(name)).join(',')}\n`),
    chunk(chunk) {
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
    },
    end: () => undefined,
  };
}

/** Quotes only what RFC 4180 demands. */
export function quoteCsv(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
