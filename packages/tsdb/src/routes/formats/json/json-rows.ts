import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { ROW_STYLE } from '../cell-text.js';
import type { Encoder, ResultHead, TextFormat } from '../encoder.js';
import { EncodedText, type TextBytes } from '../text-bytes.js';
import { JsonCells, putInSteps } from './json-cells.js';
import type { JsonColumn } from './json-values.js';

/** Creates both row formats, which share their prepared columns. Source: tsdb-http, "Row shape". */
export function createRowFormats(): { readonly rows: TextFormat; readonly lines: TextFormat } {
  const members = new KnownMembers();
  return {
    /** `[{"host":"a"},…]`, without NULL columns. */
    rows: {
      contentType: 'application/json',
      open: (head, out) => openRows(members.of(head.columns), ROWS, out),
    },
    /** The same objects, one per line. */
    lines: {
      contentType: 'application/jsonl',
      open: (head, out) => openRows(members.of(head.columns), LINES, out),
    },
  };
}

interface Frame {
  readonly begin: string;
  readonly between: string;
  readonly after: string;
  readonly end: string;
}

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

const ROWS: Frame = { begin: '[', between: ',', after: '', end: ']' };
const LINES: Frame = { begin: '', between: '', after: '\n', end: '' };

/**
 * Caches prepared columns. A repeated statement has the same column objects, so entries live as
 * long as the statement.
 */
class KnownMembers {
  readonly #byColumns = new WeakMap<ResultHead['columns'], readonly JsonColumn[]>();

  of(columns: ResultHead['columns']): readonly JsonColumn[] {
    let members = this.#byColumns.get(columns);
    if (members === undefined) {
      const textOfNull = new EncodedText('');
      members = columns.map(({ name, type }) => {
        const textBefore = new EncodedText(`,${JSON.stringify(name)}:`);
        return { type, style: ROW_STYLE, textBefore, textOfNull };
      });
      this.#byColumns.set(columns, members);
    }
    return members;
  }
}

function openRows(members: readonly JsonColumn[], frame: Frame, out: TextBytes): Encoder {
  const cells = new JsonCells(members, out);
  let isFirst = true;
  function* inSteps(chunk: ResultChunk): Steps<void> {
    const writers = cells.inSteps(chunk);
    for (let row = 0; row < chunk.rowCount; row++) {
      if (!isFirst) out.ascii(frame.between);
      isFirst = false;
      yield* putInSteps(writers, row, [OPEN_BRACE, CLOSE_BRACE], out);
      out.ascii(frame.after);
      yield;
    }
  }
  return {
    begin: () => out.ascii(frame.begin),
    chunk(chunk) {
      if (cells.isNested) return inSteps(chunk);
      const writers = cells.of(chunk);
      for (let row = 0; row < chunk.rowCount; row++) {
        if (!isFirst) out.ascii(frame.between);
        isFirst = false;
        const start = out.size;
        // Each member starts with a comma; the brace replaces the first comma.
        for (const write of writers) write(row);
        if (out.size === start) out.byte(OPEN_BRACE);
        else out.setByte(start, OPEN_BRACE);
        out.byte(CLOSE_BRACE);
        out.ascii(frame.after);
        if (row === 0) out.expect(chunk.rowCount - 1, start);
      }
      return undefined;
    },
    end: () => out.ascii(frame.end),
  };
}
