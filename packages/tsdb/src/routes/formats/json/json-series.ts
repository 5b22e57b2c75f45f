import { SERIES_STYLE } from '../cell-text.js';
import type { Encoder, ResultHead, TextFormat } from '../encoder.js';
import { EncodedText, type TextBytes } from '../text-bytes.js';
import { JsonCells, putLists, putListsInSteps } from './json-cells.js';

/** `{"results":[{"series":[{"name":…,"columns":[…],"values":[…]}]}]}`. Source: tsdb-http, "Series shape". */
export const JSON_SERIES: TextFormat = { contentType: 'application/json', open };

const COMMA = 44;

function open({ columns, tableName }: ResultHead, out: TextBytes): Encoder {
  const textBefore = new EncodedText(',');
  const textOfNull = new EncodedText(',null');
  const cells = new JsonCells(
    columns.map(({ type }) => ({ type, style: SERIES_STYLE, textBefore, textOfNull })),
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
      if (chunk.rowCount === 0) return undefined;
      if (!isFirst) out.byte(COMMA);
      isFirst = false;
      if (cells.isNested) return putListsInSteps(cells.inSteps(chunk), chunk.rowCount, out);
      putLists(cells.of(chunk), { from: 0, to: chunk.rowCount }, out);
      return undefined;
    },
    end: () => out.ascii(']}]}]}'),
  };
}
