import { ROW_STYLE } from './cell-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';
import { JsonCells, type JsonColumn } from './json-cells.js';
import { Piece, type TextBytes } from './text-bytes.js';

/** `[{"host":"a"},…]`, NULL columns left out. Source: tsdb-http, "Row shape". */
export const JSON_ROWS: TextFormat = {
  contentType: 'application/json',
  open: (head, out) => openRows(head, { begin: '[', between: ',', after: '', end: ']' }, out),
};

/** The same objects, one per line. */
export const JSON_LINES: TextFormat = {
  contentType: 'application/jsonl',
  open: (head, out) => openRows(head, { begin: '', between: '', after: '\n', end: '' }, out),
};

interface Frame {
  readonly begin: string;
  readonly between: string;
  readonly after: string;
  readonly end: string;
}

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The columns of a statement that is asked again are the same ones; they are kept as long as the statement is. */
const MEMBERS = new WeakMap<ResultHead['columns'], readonly JsonColumn[]>();

function membersOf(columns: ResultHead['columns']): readonly JsonColumn[] {
  let members = MEMBERS.get(columns);
  if (members === undefined) {
    const ofNull = new Piece('');
    members = columns.map(({ name, type }) => {
      const lead = new Piece(`,${JSON.stringify(name)}:`);
      return { type, style: ROW_STYLE, lead, ofNull };
    });
    MEMBERS.set(columns, members);
  }
  return members;
}

function openRows({ columns }: ResultHead, frame: Frame, out: TextBytes): Encoder {
  const cells = new JsonCells(membersOf(columns), out);
  let isFirst = true;
  return {
    begin: () => out.ascii(frame.begin),
    chunk(chunk) {
      const writers = cells.of(chunk);
      for (let row = 0; row < chunk.rowCount; row++) {
        if (!isFirst) out.ascii(frame.between);
        isFirst = false;
        const start = out.size;
        // Each member begins with a comma; the brace takes the place of the first.
        for (const write of writers) write(row);
        if (out.size === start) out.byte(OPEN_BRACE);
        else out.setByte(start, OPEN_BRACE);
        out.byte(CLOSE_BRACE);
        out.ascii(frame.after);
        if (row === 0) out.expect(chunk.rowCount - 1, start);
      }
    },
    end: () => out.ascii(frame.end),
  };
}
