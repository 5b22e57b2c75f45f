import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { chunkTexts, columnTexts, NestedTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';
import { isPair, PART_LENGTH, partsOf } from './nested/nested-text.js';
import type { TextBytes } from './text-bytes.js';

/** Column widths depend on all rows, so the table is kept in memory up to this size. */
const MAX_TABLE_SIZE_BYTES = 256 * 1024 * 1024;

/** Measured overhead of a cell: string and array. Also counted for empty cells. */
const CELL_SIZE_BYTES = 48;

/** An ASCII table; `++` twice for a result without rows. Source: tsdb-http, "pretty". */
export const PRETTY: TextFormat = { contentType: 'text/plain; charset=utf-8', open };

function open({ columns }: ResultHead, out: TextBytes): Encoder {
  const writers = columnTexts(columns);
  const nested = new NestedTexts(columns);
  const names = columns.map(({ name }) => name);
  const widths = names.map(textWidth);
  const rows: string[][] = [];
  let tableSizeBytes = 0;
  const keep = (cells: string[], cellWidths?: readonly number[]): void => {
    for (const [index, cell] of cells.entries()) {
      tableSizeBytes += cell.length + CELL_SIZE_BYTES;
      widths[index] = Math.max(widths[index] ?? 0, cellWidths?.[index] ?? textWidth(cell));
    }
    rows.push(cells);
  };
  const checkSize = (): void => {
    if (tableSizeBytes <= MAX_TABLE_SIZE_BYTES) return;
    throw tsdbError(
      'execution_error',
      `the result exceeds ${MAX_TABLE_SIZE_BYTES} bytes in the 'pretty' format; use 'csv' or 'jsonl', or add a LIMIT clause`,
    );
  };
  function* inSteps(chunk: ResultChunk): Steps<void> {
    const texts = chunkTexts(chunk, writers);
    for (let row = 0; row < chunk.rowCount; row++) {
      const cells: string[] = [];
      const cellWidths: number[] = [];
      for (const [index, column] of texts.entries()) {
        const parts = yield* nested.cell(chunk, index, row);
        const cell = parts?.join('') ?? column[row] ?? '';
        cells.push(cell);
        cellWidths.push(yield* wideTextWidth(cell));
      }
      keep(cells, cellWidths);
      checkSize();
      yield;
    }
  }
  return {
    begin: () => undefined,
    chunk(chunk) {
      if (nested.hasAny) return inSteps(chunk);
      const texts = chunkTexts(chunk, writers);
      for (let row = 0; row < chunk.rowCount; row++) keep(texts.map((column) => column[row] ?? ''));
      checkSize();
      return undefined;
    },
    *deferredRows() {
      if (rows.length === 0) return;
      // Rows of this width would take too long for one step.
      const isWide = widths.reduce((sum, width) => sum + width, 0) > PART_LENGTH;
      if (isWide) return yield* putWideTable(rows, names, widths, out);
      const rule = drawRule(widths);
      yield out.text(`${rule}\n${drawRow(names, widths)}\n${rule}\n`);
      for (const row of rows) yield out.text(`${drawRow(row, widths)}\n`);
      out.text(`${rule}\n`);
    },
    end: () => {
      if (rows.length === 0) out.text('++\n++\n');
    },
  };
}

function drawRule(widths: readonly number[]): string {
  return `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
}

/** Draws a row. A cell with newlines makes the row several lines high. */
function drawRow(cells: readonly string[], widths: readonly number[]): string {
  const lines = linesOf(cells).map((texts) => {
    const parts = texts.map((text, column) => {
      return ` ${text}${' '.repeat((widths[column] ?? 0) - lineWidth(text))} `;
    });
    return `|${parts.join('|')}|`;
  });
  return lines.join('\n');
}

/** Returns the text of every cell for each line of a row. */
function linesOf(cells: readonly string[]): readonly (readonly string[])[] {
  const linesOfCells = cells.map((cell) => (cell.includes('\n') ? cell.split('\n') : [cell]));
  const height = linesOfCells.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, index) =>
    linesOfCells.map((cellLines) => cellLines[index] ?? ''),
  );
}

/** Writes the same table in short parts. */
function* putWideTable(
  rows: readonly (readonly string[])[],
  names: readonly string[],
  widths: readonly number[],
  out: TextBytes,
): Steps<void> {
  yield* putWideRule(widths, out);
  yield* putWideRow(names, widths, out);
  yield* putWideRule(widths, out);
  for (const row of rows) yield* putWideRow(row, widths, out);
  yield* putWideRule(widths, out);
}

function* putWideRule(widths: readonly number[], out: TextBytes): Steps<void> {
  for (const width of widths) {
    out.text('+');
    yield* putRepeated('-', width + 2, out);
  }
  out.text('+\n');
}

function* putWideRow(
  cells: readonly string[],
  widths: readonly number[],
  out: TextBytes,
): Steps<void> {
  for (const texts of linesOf(cells)) {
    for (const [column, text] of texts.entries()) {
      out.text('| ');
      for (const part of partsOf(text)) {
        out.text(part);
        yield;
      }
      const width = yield* wideTextWidth(text);
      yield* putRepeated(' ', (widths[column] ?? 0) - width + 1, out);
    }
    out.text('|\n');
  }
}

function* putRepeated(character: string, count: number, out: TextBytes): Steps<void> {
  for (let rest = count; rest > 0; rest -= PART_LENGTH) {
    out.text(character.repeat(Math.min(rest, PART_LENGTH)));
    yield;
  }
}

function textWidth(text: string): number {
  if (!text.includes('\n')) return lineWidth(text);
  return text.split('\n').reduce((most, line) => Math.max(most, lineWidth(line)), 0);
}

/** Computes the width in steps. */
function* wideTextWidth(text: string): Steps<number> {
  let most = 0;
  let width = 0;
  for (const part of partsOf(text)) {
    const [first = '', ...others] = part.split('\n');
    width += lineWidth(first);
    for (const line of others) {
      most = Math.max(most, width);
      width = lineWidth(line);
    }
    yield;
  }
  return Math.max(most, width);
}

/** Counts code points; fast for ASCII text. */
function lineWidth(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let width = 0;
  for (let i = 0; i < text.length; i += isPair(text, i) ? 2 : 1) width++;
  return width;
}
