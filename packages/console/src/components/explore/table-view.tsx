import { type Result, resultRunner } from '@plinth/console-core/api/result-runner.js';
import { cellText, type Frame, isNull } from '@plinth/console-core/lib/frame/frame.js';
import type { ColumnValue, FilterEdit } from '@plinth/console-core/lib/query/add-condition.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useEffect, useMemo, useState } from 'react';
import { CopyButton } from '../controls/copy-button.js';
import { Dialog } from '../controls/dialog.js';
import { MenuButton, type MenuEntry } from '../controls/menu-button.js';
import { type GridPlace, ResultGrid } from '../grid/result-grid.js';

const LONG_TEXT = 40;
const MAX_LISTED = 50;

/** The table's part of the address: `sort=usage` or `sort=-usage`, `hidden=["host"]`. */
export interface TableSearch {
  readonly sort?: string;
  readonly hidden?: string;
}

/** The result as a table with sorting, hidden columns and filters on values. */
export function TableView(props: {
  readonly result: Result;
  /** The query text; new results of the same query keep the scroll position. */
  readonly origin: string;
  readonly search: TableSearch;
  readonly onChange: (change: Readonly<Record<string, string>>) => void;
  /** The query with a condition on a value; `undefined` when the value cannot be filtered. */
  readonly filtered: (columnValue: ColumnValue, isOut: boolean) => FilterEdit | undefined;
  readonly onFilter: (edit: FilterEdit) => void;
  /** Rows after this time are highlighted as new. */
  readonly newAfter: bigint | undefined;
  readonly onReading: (isReading: boolean) => void;
}) {
  const { result, origin, search, onChange, filtered, onFilter, newAfter, onReading } = props;
  const [shown, setShown] = useState<GridPlace | undefined>();
  const hidden = useMemo(() => readHidden(search.hidden), [search.hidden]);
  const sorted = readSort(search.sort, result.frame);
  const { frame, order } = useOrdered(result.frame, sorted);
  const times = frame.timeIndex === undefined ? undefined : frame.columns[frame.timeIndex];
  const isNew =
    newAfter === undefined || times?.kind !== 'time'
      ? undefined
      : (row: number): boolean => (times.values[row] ?? 0n) > newAfter;
  const present = frame.columns.map(({ name }) => name).filter((name) => hidden.has(name));
  const hide = (names: Iterable<string>): void => {
    const list = [...names];
    onChange({ hidden: list.length === 0 ? '' : JSON.stringify(list) });
  };
  const actionsOf = (place: GridPlace): readonly MenuEntry[] => {
    const column = frame.columns[place.column];
    if (column === undefined) return [];
    const { row } = place;
    const { name } = column;
    if (row === undefined) {
      const sort = (text: string) => () => onChange({ sort: text });
      return [
        { id: 'up', label: 'Sort ascending', act: sort(name) },
        { id: 'down', label: 'Sort descending', act: sort(`-${name}`) },
        ...(sorted?.column === name
          ? [{ id: 'unsorted', label: 'Original order', act: sort('') }]
          : []),
        { id: 'hide', label: 'Hide column', act: () => hide([...hidden, name]) },
      ];
    }
    const text = isNull(column, row) ? null : cellText(column, row);
    const filter = (isOut: boolean): readonly MenuEntry[] => {
      const edit = filtered({ column: name, text }, isOut);
      if (edit === undefined) return [];
      const isEdited = edit.kind === 'edited';
      const filterLabel = isOut ? 'Filter out value' : 'Filter for value';
      return [
        {
          id: isOut ? 'out' : 'for',
          label: isEdited ? filterLabel : `${filterLabel}: copy condition`,
          hint: isEdited ? short(edit.added) : edit.why,
          act: () => onFilter(edit),
        },
      ];
    };
    return [
      ...filter(false),
      ...filter(true),
      ...(text !== null && text.length > LONG_TEXT
        ? [{ id: 'full', label: 'Show full value', act: () => setShown(place) }]
        : []),
    ];
  };
  const fullText = shown && textOf(frame, shown);
  return (
    <>
      {(sorted !== undefined || present.length > 0) && (
        <div className="table-notes">
          {sorted !== undefined && (
            <span className="chip">
              {order === undefined ? 'sorting' : 'sorted'} by {sorted.column}
              {frame.isCut ? ' (loaded rows only)' : ''}
              <button
                type="button"
                className="chip-end"
                aria-label={`Stop sorting by ${sorted.column}`}
                onClick={() => onChange({ sort: '' })}
              >
                ✕
              </button>
            </span>
          )}
          {present.length > 0 && (
            <MenuButton
              label={`${countText(present.length)} of ${countText(frame.columns.length)} columns hidden`}
              className="small"
              entries={[
                { id: 'all', label: 'Show all columns', act: () => hide([]) },
                ...present.slice(0, MAX_LISTED).map((name, index) => ({
                  id: `column-${index}`,
                  label: `Show ${name}`,
                  act: () => hide([...hidden].filter((each) => each !== name)),
                })),
              ]}
            >
              {countText(present.length)} of {countText(frame.columns.length)} columns hidden
            </MenuButton>
          )}
        </div>
      )}
      <div className="result-grid">
        <ResultGrid {...{ frame, order, sorted, hidden, actionsOf, isNew, origin, onReading }} />
      </div>
      {fullText !== undefined && (
        <Dialog title="Value" isOpen isDrawer onClose={() => setShown(undefined)}>
          <CopyButton text={fullText} label="Copy value" showsLabel />
          <pre className="whole-value">{fullText}</pre>
        </Dialog>
      )}
    </>
  );
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

function textOf({ columns }: Frame, { column, row }: GridPlace): string | undefined {
  const found = columns[column];
  return found === undefined || row === undefined ? undefined : cellText(found, row);
}

function readHidden(text = ''): ReadonlySet<string> {
  try {
    const names: unknown = JSON.parse(text === '' ? '[]' : text);
    return new Set(Array.isArray(names) ? names.map(String) : []);
  } catch {
    return new Set(); // The user has edited the address.
  }
}

function readSort(text: string | undefined, { columns }: Frame) {
  if (text === undefined || text === '') return undefined;
  const isThere = (name: string): boolean => columns.some((column) => column.name === name);
  if (isThere(text)) return { column: text, isDescending: false };
  const column = text.slice(1);
  return text.startsWith('-') && isThere(column) ? { column, isDescending: true } : undefined;
}

interface Ordered {
  readonly frame: Frame;
  readonly order: Uint32Array | undefined;
}

/**
 * Returns the rows sorted by a column in the worker. Until the sort completes, the previous rows
 * are returned.
 */
function useOrdered(
  frame: Frame,
  sorted: { readonly column: string; readonly isDescending: boolean } | undefined,
): Ordered {
  const [found, setFound] = useState<Ordered | undefined>();
  const { column: name, isDescending } = sorted ?? {};
  useEffect(() => {
    const column = frame.columns.find((each) => each.name === name);
    if (column === undefined || isDescending === undefined) {
      setFound(undefined);
      return;
    }
    let isGone = false;
    void resultRunner
      .sort(column, frame.rowCount, isDescending)
      .then((order) => !isGone && setFound({ frame, order }));
    return () => {
      isGone = true;
    };
  }, [frame, name, isDescending]);
  return sorted !== undefined && found !== undefined ? found : { frame, order: undefined };
}
