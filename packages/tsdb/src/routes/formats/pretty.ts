import { tsdbError } from '../../errors.js';
import { chunkTexts, columnTexts } from './column-text.js';
import type { Encoder, ResultHead, TextFormat } from './encoder.js';
import type { TextBytes } from './text-bytes.js';

/** The widths need all rows before the first can be written, so the table is kept in memory up to this size. */
const MAX_TABLE_SIZE_BYTES = 256 * 1024 * 1024;

/** What a cell takes beside its text: string and array, measured. Empty cells count as well. */
const CELL_SIZE_BYTES = 48;

/** ASCII table; `++` twice when there are no rows. Source: tsdb-http, "pretty". */
export const PRETTY: TextFormat = { contentType: 'text/plain; charset=utf-8', open };

function open({ columns }: ResultHead, out: TextBytes): Encoder {
  const writers = columnTexts(columns);
  const names = columns.map(({ name }) => name);
  const widths = names.map(textWidth);
  const rows: string[][] = [];
  let tableSizeBytes = 0;
  return {
    begin: () => undefined,
    chunk(chunk) {
      const texts = chunkTexts(chunk, writers);
      for (let row = 0; row < chunk.rowCount; row++) {
        const cells = texts.map((column) => column[row] ?? '');
        for (const [index, cell] of cells.entries()) {
          tableSizeBytes += cell.length + CELL_SIZE_BYTES;
          widths[index] = Math.max(widths[index] ?? 0, textWidth(cell));
        }
        rows.push(cells);
      }
      if (tableSizeBytes > MAX_TABLE_SIZE_BYTES) {
        throw tsdbError(
          'execution_error',
          'the result is too large for the format pretty; use csv, jsonl or a LIMIT',
        );
      }
    },
    *held() {
      if (rows.length === 0) return;
      const rule = drawRule(widths);
      yield out.text(`${rule}\n${drawRow(names, widths)}\n${rule}\n`);
      for (const row of rows) yield out.text(`${drawRow(row, widths)}\n`);
    },
    end: () => out.text(rows.length === 0 ? '++\n++\n' : `${drawRule(widths)}\n`),
  };
}

function drawRule(widths: readonly number[]): string {
  return `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
}

/** A cell with newlines makes the row as high as it has lines. */
function drawRow(cells: readonly string[], widths: readonly number[]): string {
  const linesOfCells = cells.map((cell) => (cell.includes('\n') ? cell.split('\n') : [cell]));
  const height = linesOfCells.reduce((most, { length }) => Math.max(most, length), 1);
  const lines: string[] = [];
  for (let index = 0; index < height; index++) {
    const parts = linesOfCells.map((cellLines, column) => {
      const text = cellLines[index] ?? '';
      return ` ${text}${' '.repeat((widths[column] ?? 0) - lineWidth(text))} `;
    });
    lines.push(`|${parts.join('|')}|`);
  }
  return lines.join('\n');
}

function textWidth(text: string): number {
  if (!text.includes('\n')) return lineWidth(text);
  return text.split('\n').reduce((most, line) => Math.max(most, lineWidth(line)), 0);
}

/** In code points; quick for what is all ASCII. */
function lineWidth(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  return /^[\x00-\x7f]*$/.test(text) ? text.length : [...text].length;
}
