import { ROW_STYLE } from './cell-text.js';
import { chunkTexts, columnTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';

/** `[{"host":"a"},…]`, NULL columns left out. Source: tsdb-http, "Row shape". */
export const JSON_ROWS: TextFormat = {
  contentType: 'application/json',
  open: (head) => openRows(head, { begin: '[', between: ',', after: '', end: ']' }),
};

/** The same objects, one per line. */
export const JSON_LINES: TextFormat = {
  contentType: 'application/jsonl',
  open: (head) => openRows(head, { begin: '', between: '', after: '\n', end: '' }),
};

interface Frame {
  readonly begin: string;
  readonly between: string;
  readonly after: string;
  readonly end: string;
}

function openRows({ columns }: ResultHead, frame: Frame): Encoder {
  // No value has an empty text in JSON, so that it can stand for NULL.
  const writers = columnTexts(columns, { form: 'json', style: ROW_STYLE, ofNull: '' });
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  let isFirst = true;
  return {
    begin: () => frame.begin,
    chunk(chunk) {
      const texts = chunkTexts(chunk, writers);
      let out = '';
      for (let row = 0; row < chunk.rowCount; row++) {
        out += isFirst ? '{' : `${frame.between}{`;
        isFirst = false;
        let separator = '';
        for (let column = 0; column < keys.length; column++) {
          const text = texts[column]?.[row];
          if (text === '') continue;
          out += separator;
          out += keys[column];
          out += text;
          separator = ',';
        }
        out += `}${frame.after}`;
      }
      return out;
    },
    end: () => frame.end,
  };
}
