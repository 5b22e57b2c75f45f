import { fetchStorage, flushStorage, type Storage } from '@plinth/console-core/api/storage.js';
import { fetchTables } from '@plinth/console-core/api/tsdb.js';
import {
  bytesText,
  countOf,
  countText,
  durationText,
  millisText,
} from '@plinth/console-core/lib/units.js';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { DataTable } from '../../components/controls/data-table.js';
import { DatabaseChoice, useDatabase } from '../../components/controls/database-choice.js';
import { Fact } from '../../components/controls/fact.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { ShowMore } from '../../components/controls/show-more.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';
import { extentText } from './extent-text.js';
import { TableFiles } from './table-files.js';
import { useStorageJobs } from './use-storage-jobs.js';

const STORAGE = ['tsdb', 'storage'];
const PAGE_SIZE = 200;

/** Shows how many rows are in memory, in the log and in files, and the state of flushes and compaction. */
export function StoragePage() {
  const { table = '' } = useSearch({ strict: false }) as Record<string, string>;
  const { db, names } = useDatabase();
  const { refetchInterval, statusText } = useStorageJobs();
  const storage = useQuery({ queryKey: STORAGE, queryFn: () => fetchStorage(), refetchInterval });
  const { act } = useChanges('tsdb');
  const flush = () => act(flushStorage, 'Flush started');
  const { data } = storage;
  const isFlushing = data !== undefined && data.flush.running !== null;
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Storage</h1>
        <DatabaseChoice path="/storage" db={db} names={names} />
        {refetchInterval !== false && <span className="soft small">{statusText}</span>}
        <button
          type="button"
          className="button primary end"
          disabled={data === undefined || isFlushing || data.buffered_bytes === 0}
          title={data?.buffered_bytes === 0 ? 'All rows are already in files' : undefined}
          onClick={() => void flush()}
        >
          {isFlushing ? 'Flushing …' : 'Flush now'}
        </button>
      </header>
      <SectionTabs section="/data" />
      <QueryProblem of={storage} />
      {data && <State storage={data} />}
      {db !== '' && <Tables db={db} chosen={table} refetchInterval={refetchInterval} />}
      {db !== '' && table !== '' && <TableFiles key={table} db={db} table={table} />}
    </div>
  );
}

function State({ storage }: { readonly storage: Storage }) {
  const { flush, compaction, obstacle } = storage;
  const failed = compaction.last_failure;
  return (
    <>
      {obstacle !== null && <p className="note bad">Writes are rejected: {obstacle}</p>}
      {flush.last?.error && <p className="note bad">The last flush failed: {flush.last.error}</p>}
      {failed && (
        <p className="note warn">
          Files of {failed.db}.{failed.table} could not be merged at {clock(failed.failed_at)}:{' '}
          {failed.error}
        </p>
      )}
      <dl className="facts card">
        <Fact name="In memory, all databases" value={memoryText(storage)} />
        <Fact
          name="Log"
          value={`${bytesText(storage.log_bytes)} in ${countText(storage.log_file_count)} ${storage.log_file_count === 1 ? 'file' : 'files'}`}
        />
        <Fact name="Flush" value={flushText(storage)} />
        <Fact name="Compaction" value={compactionText(storage)} />
        <Fact name="Merges since startup" value={countText(compaction.merge_count)} />
      </dl>
    </>
  );
}

/** Returns the time of day in UTC. */
const clock = (time: string): string => time.slice(11, 19);

function memoryText({ buffered_bytes, buffered_ms }: Storage): string {
  if (buffered_bytes === 0) return 'none';
  return `${bytesText(buffered_bytes)}, oldest ${durationText(buffered_ms / 1000)}`;
}

function flushText({ flush: { running, last } }: Storage): string {
  if (running !== null)
    return `table ${countText(Math.min(running.done_count + 1, running.table_count))} of ${countText(running.table_count)}`;
  if (last === null) return 'none since startup';
  return `${clock(last.ended_at)} UTC, in ${millisText(last.duration_ms)}`;
}

function compactionText({ compaction: { running, waiting } }: Storage): string {
  const behind = waiting.length === 0 ? '' : `, ${countText(waiting.length)} pending`;
  if (running === null) return waiting.length === 0 ? 'idle' : `starting${behind}`;
  return `${countOf(running.file_count, 'file')} in ${running.db}.${running.table}${behind}`;
}

function Tables(props: {
  readonly db: string;
  readonly chosen: string;
  readonly refetchInterval: number | false;
}) {
  const { db, chosen, refetchInterval } = props;
  const pages = useInfiniteQuery({
    queryKey: ['tsdb', 'tables', db, ''],
    queryFn: ({ pageParam }) =>
      fetchTables({ db, limit: PAGE_SIZE, ...(pageParam !== '' && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: (before) => before,
    refetchInterval,
  });
  const tables = pages.data?.pages.flatMap((page) => page.tables) ?? [];
  const total = pages.data?.pages[0]?.table_count ?? 0;
  return (
    <section className="stack" aria-labelledby="tables-title">
      <h2 id="tables-title">Tables</h2>
      <QueryProblem of={pages} />
      <DataTable
        label="Tables"
        rows={pages.isSuccess ? tables : undefined}
        empty={<>{db} has no tables yet. The first write creates one.</>}
        keyOf={(table) => table.name}
        columns={[
          {
            title: 'Table',
            cell: (table) => (
              <Link to="/storage" search={{ db, table: table.name }}>
                {table.name}
              </Link>
            ),
          },
          { title: 'Files', className: 'num', cell: (table) => countText(table.segment_count) },
          {
            title: 'Size',
            className: 'num nowrap',
            cell: (table) => bytesText(table.size_bytes),
          },
          { title: 'Rows', className: 'num', cell: (table) => countText(table.row_count) },
          {
            title: 'In memory',
            className: 'num',
            cell: (table) => countText(table.buffered_row_count),
          },
          { title: 'Time range (UTC)', className: 'nowrap', cell: (table) => extentText(table) },
        ]}
      />
      {tables.length > 0 && (
        <p className="hint soft row">
          {countText(tables.length)} of {countText(total)} {total === 1 ? 'table' : 'tables'}.
          {chosen === '' && ' Select a table to see its files.'}
          <ShowMore pages={pages} />
        </p>
      )}
    </section>
  );
}
