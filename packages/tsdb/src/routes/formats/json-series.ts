import { SERIES_STYLE } from './cell-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';
import { JsonCells } from './json-cells.js';
import { Piece, type TextBytes } from './text-bytes.js';

/** `{"results":[{"series":[{"name":…,"columns":[…],"values":[…]}]}]}`. Source: tsdb-http, "Series shape". */
export const JSON_SERIES: TextFormat = { contentType: 'application/json', open };

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

function open({ columns, tableName }: ResultHead, out: TextBytes): Encoder {
  const lead = new Piece(',');
  const ofNull = new Piece(',null');
  const cells = new JsonCells(
    columns.map(({ type }) => ({ type, style: SERIES_STYLE, lead, ofNull })),
    out,
  );
  const names = columns.map(({ name }) => name);
  let isFirst = true;
  return {
    begin: () =>
      out.text(
        `{"results":[{"series":[{"name":${JSON.stringify(tableName ?? 'result')},"columns":${JSON.stringify(names)},"values":[`,
      ),
    chunk(chunk) {
      const writers = cells.of(chunk);
      for (let row = 0; row < chunk.rowCount; row++) {
        if (!isFirst) out.byte(COMMA);
        isFirst = false;
        const start = out.size;
        // Each cell begins with a comma; the bracket takes the place of the first.
        for (const write of writers) write(row);
        if (out.size === start) out.byte(OPEN_BRACKET);
        else out.setByte(start, OPEN_BRACKET);
        out.byte(CLOSE_BRACKET);
        if (row === 0) out.expect(chunk.rowCount - 1, start);
      }
    },
    end: () => out.ascii(']}]}]}'),
  };
}
