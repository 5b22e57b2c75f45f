import { SERIES_STYLE } from './cell-text.js';
import { chunkTexts, columnTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';

/** `{"results":[{"series":[{"name":…,"columns":[…],"values":[…]}]}]}`. Source: tsdb-http, "Series shape". */
export const JSON_SERIES: TextFormat = { contentType: 'application/json', open };

function open({ columns, tableName }: ResultHead): Encoder {
  const writers = columnTexts(columns, { form: 'json', style: SERIES_STYLE, ofNull: 'null' });
  const names = columns.map(({ name }) => name);
  let separator = '';
  return {
    begin: () =>
      `{"results":[{"series":[{"name":${JSON.stringify(tableName ?? 'result')},"columns":${JSON.stringify(names)},"values":[`,
    chunk(chunk) {
      const texts = chunkTexts(chunk, writers);
      let out = '';
      for (let row = 0; row < chunk.rowCount; row++) {
        out += separator;
        out += '[';
        for (let column = 0; column < texts.length; column++) {
          if (column > 0) out += ',';
          out += texts[column]?.[row];
        }
        out += ']';
        separator = ',';
      }
      return out;
    },
    end: () => ']}]}]}',
  };
}
