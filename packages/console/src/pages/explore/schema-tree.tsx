import { type Database, fetchTables, type Table } from '@plinth/console-core/api/tsdb.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { Icon } from '../../components/controls/icon.js';
import { useDelayed } from '../../components/controls/use-delayed.js';
import { rowMark, useRovingRows } from '../../components/grid/use-roving-rows.js';
import { useSearchParams } from '../../components/search/use-search-params.js';

const ROW_HEIGHT = 28;
const MAX_TABLE_COUNT = 1000;
const FIND_AFTER_MS = 150;

type OnPlot = (table: string, field: string, tags: readonly string[]) => void;

type Row =
  | { readonly kind: 'table'; readonly table: Table; readonly isOpen: boolean }
  | {
      readonly kind: 'column';
      readonly table: Table;
      readonly name: string;
      readonly type: string;
    };

/** The tables and columns of the selected database; only visible rows are rendered. */
export function SchemaTree(props: {
  readonly databases: readonly Database[] | undefined;
  readonly db: string;
  readonly onDatabase: (name: string) => void;
  readonly onInsert: (name: string) => void;
  readonly onPlot: OnPlot;
}) {
  const { databases, db, onDatabase, onInsert, onPlot } = props;
  const [typed, setTyped] = useState('');
  const find = useDelayed(typed, FIND_AFTER_MS);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const page = useQuery({
    queryKey: ['tsdb', 'schema', db, find, MAX_TABLE_COUNT],
    queryFn: () => fetchTables({ db, find, limit: MAX_TABLE_COUNT }),
    enabled: db !== '',
    staleTime: 60_000,
    placeholderData: (before, query) => (query?.queryKey[2] === db ? before : undefined),
  });
  const tables = page.data?.tables ?? [];
  const rows = useMemo(() => rowsOf(tables, open), [tables, open]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const toggle = (name: string) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  const items = virtual.getVirtualItems();
  const roving = useRovingRows({
    count: rows.length,
    rendered: [items[0]?.index ?? 0, items.at(-1)?.index ?? 0],
    scrollTo: (row) => virtual.scrollToIndex(row),
  });
  const total = page.data?.table_count ?? 0;
  return (
    <aside className="schema" aria-label="Schema">
      <div className="schema-head">
        <DatabaseSelect databases={databases} onDatabase={onDatabase} />
        <input
          className="input"
          data-find
          aria-label="Find table"
          placeholder="Find table   /"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <div className="schema-list" ref={box}>
        <ul
          aria-label="Tables"
          style={{ height: virtual.getTotalSize() }}
          ref={roving.box}
          onKeyDown={roving.onKeyDown}
          onFocus={roving.onFocus}
        >
          {items.map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <li
                  key={row.kind === 'table' ? row.table.name : `${row.table.name}\0${row.name}`}
                  className="schema-row"
                  {...rowMark(index)}
                  style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
                >
                  {row.kind === 'table' ? (
                    <TableRow
                      {...{ row, onInsert, onPlot }}
                      tabIndex={roving.tabIndexOf(index)}
                      onToggle={toggle}
                    />
                  ) : (
                    <ColumnRow {...{ row, onInsert, onPlot }} tabIndex={roving.tabIndexOf(index)} />
                  )}
                </li>
              )
            );
          })}
        </ul>
      </div>
      <p className="schema-foot hint soft" role="status">
        {page.isError
          ? String(page.error.message)
          : total === tables.length
            ? `${countText(total)} ${total === 1 ? 'table' : 'tables'}`
            : `${countText(tables.length)} of ${countText(total)} tables; use Find for the others`}
      </p>
    </aside>
  );
}

function DatabaseSelect(props: {
  readonly databases: readonly Database[] | undefined;
  readonly onDatabase: (name: string) => void;
}) {
  const { databases, onDatabase } = props;
  const [{ db = '' }] = useSearchParams();
  return (
    <select
      className="input"
      aria-label="Database"
      value={db}
      onChange={(event) => onDatabase(event.target.value)}
    >
      {db === '' && <option value="">no database</option>}
      {databases?.every(({ name }) => name !== db) && db !== '' && (
        <option value={db}>{db} (not found)</option>
      )}
      {databases?.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function TableRow(props: {
  readonly row: Row & { kind: 'table' };
  readonly tabIndex: number;
  readonly onToggle: (name: string) => void;
  readonly onInsert: (name: string) => void;
  readonly onPlot: OnPlot;
}) {
  const { row, onToggle, onInsert, onPlot } = props;
  const { table, isOpen } = row;
  const field = numericFields(table)[0];
  return (
    <>
      <button
        type="button"
        className="schema-name"
        tabIndex={props.tabIndex}
        aria-expanded={isOpen}
        title={`${table.name}, ${countText(table.row_count)} rows`}
        onClick={() => onToggle(table.name)}
      >
        <Icon name={isOpen ? 'down' : 'right'} size={12} />
        <span className="schema-text">{table.name}</span>
      </button>
      <button
        type="button"
        className="schema-act"
        tabIndex={-1}
        aria-label={`Insert ${table.name} into the query`}
        title="Insert into the query"
        onClick={() => onInsert(table.name)}
      >
        <Icon name="plus" size={12} />
      </button>
      {field !== undefined && (
        <PlotButton {...{ table, field, onPlot }} label={`Plot ${field} of ${table.name}`} />
      )}
    </>
  );
}

function ColumnRow(props: {
  readonly row: Row & { kind: 'column' };
  readonly tabIndex: number;
  readonly onInsert: (name: string) => void;
  readonly onPlot: OnPlot;
}) {
  const { row, onInsert, onPlot } = props;
  const { table, name, type } = row;
  const isNumber = numericFields(table).includes(name);
  return (
    <>
      <button
        type="button"
        className="schema-name schema-column"
        tabIndex={props.tabIndex}
        title={`Insert ${name} into the query`}
        onClick={() => onInsert(name)}
      >
        <Icon name={type === 'tag' ? 'tag' : type === 'time' ? 'clock' : 'table'} size={12} />
        <span className="schema-text">{name}</span>
        <span className="schema-type">{type}</span>
      </button>
      {isNumber && <PlotButton {...{ table, onPlot }} field={name} label={`Plot ${name}`} />}
    </>
  );
}

function PlotButton(props: {
  readonly table: Table;
  readonly field: string;
  readonly label: string;
  readonly onPlot: OnPlot;
}) {
  const { table, field, label, onPlot } = props;
  return (
    <button
      type="button"
      className="schema-act"
      tabIndex={-1}
      aria-label={label}
      title={`Plot ${field}`}
      onClick={() => onPlot(table.name, field, table.series_key)}
    >
      <Icon name="explore" size={13} />
    </button>
  );
}

const numericFields = ({ columns }: Table): readonly string[] =>
  columns.flatMap(({ name, kind }) =>
    kind === 'float64' || kind === 'int64' || kind === 'uint64' ? [name] : [],
  );

function rowsOf(tables: readonly Table[], open: ReadonlySet<string>): readonly Row[] {
  return tables.flatMap((table): Row[] => {
    const isOpen = open.has(table.name) || tables.length === 1;
    const head: Row = { kind: 'table', table, isOpen };
    if (!isOpen) return [head];
    const columns = [...table.columns].sort((a, b) => orderOf(a.kind) - orderOf(b.kind));
    return [
      head,
      ...columns.map(({ name, kind }): Row => ({ kind: 'column', table, name, type: kind })),
    ];
  });
}

/** Returns the tags, then fields, then the time. */
const orderOf = (kind: string): number => (kind === 'tag' ? 0 : kind === 'time' ? 2 : 1);
