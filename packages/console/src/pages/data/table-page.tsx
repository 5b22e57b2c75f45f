import { type Result, resultRunner } from '@plinth/console-core/api/result-runner.js';
import { fetchTable, type Table, type TableColumn } from '@plinth/console-core/api/tsdb.js';
import { plotQuery, sampleQuery } from '@plinth/console-core/lib/query/plot-query.js';
import {
  absoluteRange,
  type RangeText,
  rangeOfTable,
} from '@plinth/console-core/lib/time/time-range.js';
import { bytesText, countText, retentionText } from '@plinth/console-core/lib/units.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { CopyButton } from '../../components/controls/copy-button.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { Fact } from '../../components/controls/fact.js';
import { Icon } from '../../components/controls/icon.js';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import { ResultGrid } from '../../components/grid/result-grid.js';
import { extentText } from './extent-text.js';
import { PublishedCard } from './published-card.js';
import { ConversionList } from './schema/conversion-list.js';
import { ConvertDialog } from './schema/convert-dialog.js';
import { RenameDialog } from './schema/rename-dialog.js';
import { TableFiles } from './table-files.js';
import './table-page.css';

const NUMERIC = new Set(['float64', 'int64', 'uint64']);
const KIND_TEXTS: Readonly<Record<string, string>> = {
  tag: 'tag (string, part of the series key)',
  time: 'timestamp in nanoseconds',
  float64: 'floating-point number',
  int64: 'integer',
  uint64: 'unsigned integer',
  utf8: 'string',
  bool: 'boolean',
};

/** Shows the columns, the newest rows and the files of one table. */
export function TablePage() {
  const { db = '', table: name = '' } = useParams({ strict: false }) as Record<string, string>;
  const page = useQuery({
    queryKey: ['tsdb', 'table', db, name],
    queryFn: () => fetchTable(db, name),
  });
  const table = page.data?.tables.find((each) => each.name === name);
  const [renaming, setRenaming] = useState<{ readonly column?: string } | undefined>();
  const navigate = useNavigate();
  const client = useQueryClient();
  const onRenamed = async (newName: string): Promise<void> => {
    setRenaming(undefined);
    const isColumn = renaming?.column !== undefined;
    toast(isColumn ? `Column ${renaming.column} renamed` : `Table ${name} renamed`);
    if (isColumn) await client.invalidateQueries({ queryKey: ['tsdb'] });
    else await navigate({ to: '/data/$db/$table', params: { db, table: newName } });
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>
          <Link to="/data">Databases</Link> <span className="soft">›</span>{' '}
          <Link to="/data/$db" params={{ db }}>
            {db}
          </Link>{' '}
          <span className="soft">›</span> {name}
        </h1>
        <CopyButton text={name} label="Copy name" />
        <span className="row end">
          {db !== '_internal' && table && (
            <button type="button" className="button" onClick={() => setRenaming({})}>
              <Icon name="edit" size={14} /> Rename
            </button>
          )}
          <Link
            to="/explore"
            search={{ db, q: sampleQuery(name), view: 'table' }}
            className="button"
          >
            <Icon name="explore" size={14} /> Query
          </Link>
        </span>
      </header>
      <QueryProblem of={page} />
      {page.isSuccess && table === undefined && <p className="card empty soft">Table not found.</p>}
      {table && (
        <TableContent db={db} table={table} onRename={(column) => setRenaming({ column })} />
      )}
      {renaming && (
        <RenameDialog
          db={db}
          table={name}
          column={renaming.column}
          onClose={() => setRenaming(undefined)}
          onRenamed={(newName) => void onRenamed(newName)}
        />
      )}
    </div>
  );
}

function TableContent(props: {
  readonly db: string;
  readonly table: Table;
  readonly onRename: (column: string) => void;
}) {
  const { db, table, onRename } = props;
  const [converting, setConverting] = useState<TableColumn | undefined>();
  const client = useQueryClient();
  const order = (kind: string): number => (kind === 'tag' ? 0 : kind === 'time' ? 2 : 1);
  const columns = [...table.columns].sort((a, b) => order(a.kind) - order(b.kind));
  return (
    <>
      <dl className="facts card">
        <Fact name="Rows" value={countText(table.row_count)} />
        <Fact name="Series" value={countText(table.series_count)} />
        <Fact name="Files" value={`${table.segment_count} · ${bytesText(table.size_bytes)}`} />
        <Fact name="Rows in memory" value={countText(table.buffered_row_count)} />
        <Fact name="Time range (UTC)" value={extentText(table)} />
        <Fact name="Series key" value={table.series_key.join(', ') || 'no tags'} />
        {table.retention_ns !== null && (
          <Fact name="Retention" value={retentionText(table.retention_ns)} />
        )}
      </dl>
      <section className="stack" aria-labelledby="columns-title">
        <h2 id="columns-title">Columns</h2>
        <DataTable
          label="Columns"
          rows={columns}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Column', cell: ({ name }) => <code>{name}</code> },
            { title: 'Kind', cell: ({ kind }) => kind },
            { title: 'Description', className: 'soft', cell: ({ kind }) => KIND_TEXTS[kind] },
            {
              ...ACTIONS,
              cell: (column) => (
                <>
                  {db !== '_internal' && column.kind !== 'time' && (
                    <>
                      <button
                        type="button"
                        className="button small quiet"
                        aria-label={`Rename ${column.name}`}
                        onClick={() => onRename(column.name)}
                      >
                        Rename
                      </button>
                      <button
                        type="button"
                        className="button small quiet"
                        aria-label={`Convert ${column.name}`}
                        onClick={() => setConverting(column)}
                      >
                        Convert
                      </button>
                    </>
                  )}
                  {NUMERIC.has(column.kind) && (
                    <Link
                      to="/explore"
                      search={{
                        db,
                        view: 'line',
                        q: plotQuery(
                          { table: table.name, field: column.name, tags: table.series_key },
                          'sql',
                        ),
                        ...rangeOf(table),
                      }}
                      aria-label={`Plot ${column.name}`}
                    >
                      Plot
                    </Link>
                  )}
                </>
              ),
            },
          ]}
        />
        <ConversionList db={db} table={table.name} />
        {converting && (
          <ConvertDialog
            db={db}
            table={table.name}
            column={converting}
            onClose={() => {
              setConverting(undefined);
              void client.invalidateQueries({ queryKey: ['tsdb', 'conversions'] });
            }}
          />
        )}
      </section>
      <section className="stack" aria-labelledby="sample-title">
        <h2 id="sample-title">Newest rows</h2>
        <NewestRows db={db} table={table.name} />
      </section>
      <PublishedCard db={db} table={table.name} />
      <TableFiles db={db} table={table.name} />
    </>
  );
}

function NewestRows({ db, table }: { readonly db: string; readonly table: string }) {
  const [result, setResult] = useState<Result | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const controller = new AbortController();
    const text = sampleQuery(table).replace('LIMIT 100', 'LIMIT 50');
    resultRunner
      .run({ db, lang: 'sql', text }, { signal: controller.signal, onProgress: () => undefined })
      .then(setResult)
      .catch((failure: unknown) => controller.signal.aborted || setError(failure));
    return () => controller.abort();
  }, [db, table]);
  if (error !== undefined) return <ProblemNote error={error} />;
  return <div className="newest-rows card">{result && <ResultGrid frame={result.frame} />}</div>;
}

/** Plots a table without recent rows over its own time range. */
function rangeOf(table: Table): Partial<RangeText> {
  const range = rangeOfTable(table);
  const isRecent = range !== undefined && Date.now() - range.toMs < 3_600_000;
  return range === undefined || isRecent ? {} : absoluteRange(range);
}
