import { cellText, type Frame, isNull } from '@plinth/console-core/lib/frame/frame.js';
import { columnWindow, rowWindow, scrollTopOf } from '@plinth/console-core/lib/frame/windowing.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { copyText } from '../controls/copy-button.js';
import type { MenuEntry } from '../controls/menu-button.js';
import { toast } from '../controls/toasts.js';
import { isNumberColumn, shownColumns, typeWord, widthOf } from './grid-columns.js';
import { GridMenu } from './grid-menu.js';
import './result-grid.css';

const ROW_HEIGHT = 27;
const HEAD_HEIGHT = 46;
const SPARE_ROW_COUNT = 6;
const NUMBER_WIDTH = 62;
/** The row index of the header, which the arrow keys reach like any other row. */
const HEAD = -1;

/** A cell by its row and column in the frame; `row` is absent for the header. */
export interface GridPlace {
  readonly column: number;
  readonly row?: number;
}

export interface GridOptions {
  /** The row index for each position; absent for the order of the result. */
  readonly order?: Uint32Array | undefined;
  readonly sorted?: { readonly column: string; readonly isDescending: boolean } | undefined;
  readonly hidden?: ReadonlySet<string>;
  /** Menu entries of a cell or column, in addition to copying. */
  readonly actionsOf?: (place: GridPlace) => readonly MenuEntry[];
  /** Whether a row is new since the last refresh. */
  readonly isNew?: ((row: number) => boolean) | undefined;
  /** Results of the same origin keep the scroll position. */
  readonly origin?: string;
  /** Reports whether the user has scrolled down or opened a menu, so that live updates can pause. */
  readonly onReading?: (isReading: boolean) => void;
}

const NONE: ReadonlySet<string> = new Set();

/** A result as a virtual grid: only visible rows and columns are rendered. Values keep all their digits. */
export function ResultGrid(props: GridOptions & { readonly frame: Frame }) {
  const { frame, order, sorted, hidden = NONE, actionsOf, isNew, origin, onReading } = props;
  const box = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLElement | null>(null);
  const [view, setView] = useState({ top: 0, left: 0, width: 0, height: 0 });
  const [active, setActive] = useState({ row: 0, column: 0 });
  const [menu, setMenu] = useState<GridPlace | undefined>();
  /** A click on the active cell opens its menu. */
  const isChosen = useRef(false);
  const id = useId();
  const columns = useMemo(() => shownColumns(frame, hidden), [frame, hidden]);
  const widths = useMemo(() => {
    const rowAt = (place: number): number => order?.[place] ?? place;
    return columns.map((index) => widthOf(frame, index, rowAt));
  }, [frame, columns, order]);
  const ends = useMemo(() => {
    let end = NUMBER_WIDTH;
    return widths.map((width) => {
      end += width;
      return end;
    });
  }, [widths]);
  const isEmpty = columns.length === 0 || frame.rowCount === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an empty result has no box.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const updateWindow = () =>
      setView({
        top: element.scrollTop,
        left: element.scrollLeft,
        width: element.clientWidth,
        height: element.clientHeight - HEAD_HEIGHT,
      });
    const observer = new ResizeObserver(updateWindow);
    observer.observe(element);
    element.addEventListener('scroll', updateWindow, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', updateWindow);
    };
  }, [isEmpty]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new result or sort order scrolls to the top.
  useEffect(() => {
    box.current?.scrollTo({ top: 0 });
    setActive(({ column }) => ({ row: 0, column }));
    isChosen.current = false;
  }, [origin ?? frame, order === undefined, sorted?.column, sorted?.isDescending]);
  useEffect(() => onReading?.(view.top > 0 || menu !== undefined), [view.top, menu, onReading]);
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
  const rowAt = (place: number): number => order?.[place] ?? place;
  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(actionsOf ? HEAD : 0, Math.min(frame.rowCount - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    setActive(next);
    const element = box.current;
    if (element === null) return;
    element.scrollTop = scrollTopOf(Math.max(0, next.row), {
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
  const textAt = ({ row, column }: GridPlace): string => {
    const found = frame.columns[column];
    if (found === undefined) return '';
    return row === undefined ? found.name : cellText(found, row);
  };
  const placeOf = (row: number, column: number): GridPlace => ({
    column: columns[column] ?? 0,
    ...(row !== HEAD && { row: rowAt(row) }),
  });
  const cellId = (row: number, column: number): string => `${id}-${row}-${column}`;
  const copy = (place: GridPlace): void =>
    void copyText(textAt(place)).then(() =>
      toast(place.row === undefined ? 'Name copied' : 'Cell copied'),
    );
  const openMenu = (row: number, column: number, element: HTMLElement | null) => {
    if (actionsOf === undefined || element === null) return;
    anchor.current = element;
    setMenu(placeOf(row, column));
  };
  const onCellClick = (row: number, column: number, element: HTMLElement) => {
    const isSame = active.row === row && active.column === column;
    if (row === HEAD || (isChosen.current && isSame)) openMenu(row, column, element);
    isChosen.current = true;
    setActive({ row, column });
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
      PageUp: [Math.max(0, row - page), column],
      Home: isFar ? [0, 0] : [row, 0],
      End: isFar ? [frame.rowCount - 1, columns.length - 1] : [row, columns.length - 1],
    };
    const place = places[event.key];
    if (place !== undefined) {
      event.preventDefault();
      move(...place);
    } else if (event.key === 'Enter' && !isFar) {
      event.preventDefault();
      openMenu(row, column, document.getElementById(cellId(row, column)));
    } else if (event.key === 'c' && !isFar) {
      copy(placeOf(row, column));
    }
  };
  if (isEmpty) {
    return (
      <p className="empty soft">
        {frame.rowCount === 0 ? 'The result has no rows.' : 'All columns are hidden.'}
      </p>
    );
  }
  return (
    <div
      ref={box}
      className="grid"
      role="grid"
      data-result
      aria-label={`Result, ${countOf(frame.rowCount, 'row')}`}
      aria-rowcount={frame.rowCount + 1}
      aria-colcount={columns.length}
      aria-activedescendant={cellId(active.row, active.column)}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div
        className="grid-space"
        role="presentation"
        style={{ height: rows.totalHeight + HEAD_HEIGHT, width: ends.at(-1) }}
      >
        <div className="grid-head" role="row" aria-rowindex={1} style={{ height: HEAD_HEIGHT }}>
          {visible.map(({ index, place, width, left }) => {
            const name = frame.columns[index]?.name;
            const isSorted = sorted !== undefined && sorted.column === name;
            return (
              <div
                key={place}
                id={cellId(HEAD, place)}
                role="columnheader"
                aria-colindex={place + 1}
                aria-sort={
                  isSorted ? (sorted.isDescending ? 'descending' : 'ascending') : undefined
                }
                aria-haspopup={actionsOf && 'menu'}
                className={`grid-cell ${isNumberColumn(frame, index) ? 'grid-number' : ''} ${active.row === HEAD && active.column === place ? 'grid-active' : ''}`}
                style={{ left, width }}
                title={name}
                onClick={actionsOf && ((event) => onCellClick(HEAD, place, event.currentTarget))}
              >
                <span className="grid-name">
                  {name}
                  {isSorted && (sorted.isDescending ? ' ↓' : ' ↑')}
                </span>
                <span className="grid-type">{typeWord(frame, index)}</span>
              </div>
            );
          })}
        </div>
        {Array.from({ length: Math.max(0, rows.last - rows.first) }, (_, offset) => {
          const row = rows.first + offset;
          const source = rowAt(row);
          return (
            <div
              key={row}
              role="row"
              aria-rowindex={row + 2}
              className={`grid-row ${isNew?.(source) ? 'grid-new' : ''}`}
              style={{ top: HEAD_HEIGHT + rows.top + offset * ROW_HEIGHT, height: ROW_HEIGHT }}
            >
              <span className="grid-row-number" aria-hidden="true" style={{ width: NUMBER_WIDTH }}>
                {row + 1}
              </span>
              {visible.map(({ index, place, width, left }) => {
                const column = frame.columns[index];
                if (column === undefined) return null;
                const isActive = active.row === row && active.column === place;
                const isAbsent = isNull(column, source);
                const text = isAbsent ? 'null' : cellText(column, source);
                return (
                  <div
                    key={place}
                    id={cellId(row, place)}
                    role="gridcell"
                    aria-colindex={place + 1}
                    aria-selected={isActive}
                    className={`grid-cell ${isNumberColumn(frame, index) ? 'grid-number' : ''} ${isAbsent ? 'grid-null' : ''} ${isActive ? 'grid-active' : ''}`}
                    style={{ left, width }}
                    title={text.length > 40 ? text : undefined}
                    onClick={(event) => onCellClick(row, place, event.currentTarget)}
                  >
                    {text}
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
      {menu && actionsOf && (
        <GridMenu
          anchor={anchor}
          label={menu.row === undefined ? `Column ${textAt(menu)}` : 'Cell'}
          entries={[
            ...actionsOf(menu),
            {
              id: 'copy',
              label: menu.row === undefined ? 'Copy name' : 'Copy value',
              act: () => copy(menu),
            },
          ]}
          onClose={() => setMenu(undefined)}
        />
      )}
    </div>
  );
}
