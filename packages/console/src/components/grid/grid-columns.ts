import { cellText, type Frame, isNumeric } from '@plinth/console-core/lib/frame/frame.js';

const SAMPLED_ROW_COUNT = 60;
const CHAR_WIDTH = 7.7;
const HEAD_CHAR_WIDTH = 8.8;
const MIN_WIDTH = 70;
const MAX_WIDTH = 420;

/** Returns the visible columns: the time column first, then the others in the order of the result. */
export function shownColumns(
  { columns, timeIndex }: Frame,
  hidden: ReadonlySet<string>,
): readonly number[] {
  const all = columns.map((_, index) => index);
  const ordered =
    timeIndex === undefined ? all : [timeIndex, ...all.filter((index) => index !== timeIndex)];
  return ordered.filter((index) => !hidden.has(columns[index]?.name ?? ''));
}

export const isNumberColumn = (frame: Frame, index: number): boolean => {
  const column = frame.columns[index];
  return column !== undefined && isNumeric(column);
};

export function typeWord(frame: Frame, index: number): string {
  const column = frame.columns[index];
  switch (column?.kind) {
    case 'time':
      return 'time, UTC';
    case 'words':
    case 'text':
      return column.typeName === 'Bool' ? 'bool' : 'text';
    case 'integer':
      return column.typeName.toLowerCase();
    default:
      return column?.typeName.toLowerCase() ?? '';
  }
}

/** Returns a width for the first values, and for the name with the sort arrow. */
export function widthOf(frame: Frame, index: number, rowAt: (place: number) => number): number {
  const column = frame.columns[index];
  if (column === undefined) return MIN_WIDTH;
  const head = Math.max(
    (column.name.length + 2) * HEAD_CHAR_WIDTH,
    typeWord(frame, index).length * 7,
  );
  let length = 0;
  for (let row = 0; row < Math.min(frame.rowCount, SAMPLED_ROW_COUNT); row++) {
    length = Math.max(length, cellText(column, rowAt(row)).length);
  }
  return Math.max(
    MIN_WIDTH,
    Math.min(MAX_WIDTH, Math.ceil(Math.max(head, length * CHAR_WIDTH)) + 26),
  );
}
