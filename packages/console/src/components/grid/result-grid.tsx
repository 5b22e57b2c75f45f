import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { cellText, type Frame, isNull, isNumeric } from '../../lib/frame/frame.js';
import { columnWindow, rowWindow, scrollTopOf } from '../../lib/frame/windowing.js';
import { countText } from '../../lib/units.js';
import { copyText } from '../controls/copy-button.js';
import { toast } from '../controls/toasts.js';
import './result-grid.css';

const ROW_HEIGHT = 27;
const HEAD_HEIGHT = 46;
const SPARE_ROW_COUNT = 6;
const SAMPLED_ROW_COUNT = 60;
const CHAR_WIDTH = 7.7;
const HEAD_CHAR_WIDTH = 8.8;
const MIN_WIDTH = 70;
const MAX_WIDTH = 420;
const NUMBER_WIDTH = 62;

/** A result as rows, of which only those in sight are drawn; the same of columns. Values keep all their digits. */
export function ResultGrid({ frame }: { readonly frame: Frame }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, left: 0, width: 0, height: 0 });
  const [active, setActive] = useState({ row: 0, column: 0 });
  const id = useId();
  const columns = useMemo(() => ordered(frame), [frame]);
  const widths = useMemo(() => columns.map((index) => widthOf(frame, index)), [frame, columns]);
  const ends = useMemo(() => {
    let end = NUMBER_WIDTH;
    return widths.map((width) => {
      end += width;
      return end;
    });
  }, [widths]);
  const isEmpty = frame.columns.length === 0 || frame.rowCount === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an empty result has no box.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () =>
      setView({
        top: element.scrollTop,
        left: element.scrollLeft,
        width: element.clientWidth,
        height: element.clientHeight - HEAD_HEIGHT,
      });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [isEmpty]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another result begins at its top.
  useEffect(() => {
    box.current?.scrollTo(0, 0);
    setActive({ row: 0, column: 0 });
  }, [frame]);
  const rows = rowWindow({
    rowCount: frame.rowCount,
    rowHeight: ROW_HEIGHT,
    viewHeight: view.height,
    scrollTop: view.top,
    spare: SPARE_ROW_COUNT,
  });
  const shown = columnWindow(ends, view.left, view.width);
  const visible = columns.slice(shown.first, shown.last).map((index, offset) => {
    const place = shown.first + offset;
    const width = widths[place] ?? 0;
    return { index, place, width, left: (ends[place] ?? 0) - width };
  });
  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(0, Math.min(frame.rowCount - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    setActive(next);
    const element = box.current;
    if (element === null) return;
    element.scrollTop = scrollTopOf(next.row, {
      rowCount: frame.rowCount,
      rowHeight: ROW_HEIGHT,
      viewHeight: view.height,
      scrollTop: element.scrollTop,
    });
    const right = ends[next.column] ?? 0;
    const left = right - (widths[next.column] ?? 0);
    if (left - NUMBER_WIDTH < element.scrollLeft) element.scrollLeft = left - NUMBER_WIDTH;
    else if (right > element.scrollLeft + view.width) element.scrollLeft = right - view.width;
  };
  const textAt = (row: number, column: number): string => {
    const found = frame.columns[columns[column] ?? 0];
    return found === undefined ? '' : cellText(found, row);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const { row, column } = active;
    const page = Math.max(1, Math.floor(view.height / ROW_HEIGHT) - 1);
    const isFar = event.ctrlKey || event.metaKey;
    const places: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: isFar ? [0, 0] : [row, 0],
      End: isFar ? [frame.rowCount - 1, columns.length - 1] : [row, columns.length - 1],
    };
    const place = places[event.key];
    if (place !== undefined) {
      event.preventDefault();
      move(...place);
    } else if (event.key === 'c') {
      void copyText(textAt(row, column)).then(() => toast('Cell copied'));
    }
  };
  if (isEmpty) {
    return <p className="empty soft">The answer has no rows.</p>;
  }
  return (
    <div
      ref={box}
      className="grid"
      role="grid"
      aria-label={`Result, ${countText(frame.rowCount)} rows`}
      aria-rowcount={frame.rowCount + 1}
      aria-colcount={columns.length}
      aria-activedescendant={`${id}-${active.row}-${active.column}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div
        className="grid-space"
        role="presentation"
        style={{ height: rows.totalHeight + HEAD_HEIGHT, width: ends.at(-1) }}
      >
        <div className="grid-head" role="row" aria-rowindex={1} style={{ height: HEAD_HEIGHT }}>
          {visible.map(({ index, place, width, left }) => (
            <div
              key={place}
              role="columnheader"
              aria-colindex={place + 1}
              className={`grid-cell ${numeric(frame, index) ? 'grid-number' : ''}`}
              style={{ left, width }}
            >
              <span className="grid-name">{frame.columns[index]?.name}</span>
              <span className="grid-type">{typeWord(frame, index)}</span>
            </div>
          ))}
        </div>
        {Array.from({ length: Math.max(0, rows.last - rows.first) }, (_, offset) => {
          const row = rows.first + offset;
          return (
            <div
              key={row}
              role="row"
              aria-rowindex={row + 2}
              className="grid-row"
              style={{ top: HEAD_HEIGHT + rows.top + offset * ROW_HEIGHT, height: ROW_HEIGHT }}
            >
              <span className="grid-row-number" aria-hidden="true" style={{ width: NUMBER_WIDTH }}>
                {row + 1}
              </span>
              {visible.map(({ index, place, width, left }) => {
                const column = frame.columns[index];
                if (column === undefined) return null;
                const isActive = active.row === row && active.column === place;
                const isEmpty = isNull(column, row);
                const text = isEmpty ? 'null' : cellText(column, row);
                return (
                  <div
                    key={place}
                    id={`${id}-${row}-${place}`}
                    role="gridcell"
                    aria-colindex={place + 1}
                    aria-selected={isActive}
                    className={`grid-cell ${numeric(frame, index) ? 'grid-number' : ''} ${isEmpty ? 'grid-null' : ''}`}
                    style={{ left, width }}
                    title={text.length > 40 ? text : undefined}
                    onClick={() => setActive({ row, column: place })}
                  >
                    {text}
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Time first; the rest as the answer has it. */
function ordered({ columns, timeIndex }: Frame): readonly number[] {
  const all = columns.map((_, index) => index);
  if (timeIndex === undefined) return all;
  return [timeIndex, ...all.filter((index) => index !== timeIndex)];
}

const numeric = (frame: Frame, index: number): boolean => {
  const column = frame.columns[index];
  return column !== undefined && isNumeric(column);
};

function typeWord(frame: Frame, index: number): string {
  const column = frame.columns[index];
  switch (column?.kind) {
    case 'time':
      return 'time, UTC';
    case 'words':
    case 'text':
      return 'text';
    case 'integer':
      return column.typeName.toLowerCase();
    default:
      return column?.typeName.toLowerCase() ?? '';
  }
}

/** As wide as the longest of the first texts. */
function widthOf(frame: Frame, index: number): number {
  const column = frame.columns[index];
  if (column === undefined) return MIN_WIDTH;
  const head = Math.max(column.name.length * HEAD_CHAR_WIDTH, typeWord(frame, index).length * 7);
  let length = 0;
  for (let row = 0; row < Math.min(frame.rowCount, SAMPLED_ROW_COUNT); row++) {
    length = Math.max(length, cellText(column, row).length);
  }
  return Math.max(
    MIN_WIDTH,
    Math.min(MAX_WIDTH, Math.ceil(Math.max(head, length * CHAR_WIDTH)) + 26),
  );
}
