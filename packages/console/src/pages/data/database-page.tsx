import { deleteTable, fetchTables, type Table } from '@plinth/console-core/api/tsdb.js';
import { sampleQuery } from '@plinth/console-core/lib/query/plot-query.js';
import { bytesText, countOf, countText } from '@plinth/console-core/lib/units.js';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { ShowMore } from '../../components/controls/show-more.js';
import { toast } from '../../components/controls/toasts.js';
import { SearchBox } from '../../components/search/search-fields.js';
import { extentText } from './extent-text.js';
import { RefusedWrites } from './refused-writes.js';
import { WriteDrawer } from './write/write-drawer.js';

const PAGE_SIZE = 200;

/** The tables of one database. */
export function DatabasePage() {
  const { db = '' } = useParams({ strict: false }) as { readonly db?: string };
  const { find = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const client = useQueryClient();
  const [going, setGoing] = useState<Table | undefined>();
  const [isWriting, setIsWriting] = useState(false);
  const pages = useInfiniteQuery({
    queryKey: ['tsdb', 'tables', db, find],
    queryFn: ({ pageParam }) =>
      fetchTables({ db, find, limit: PAGE_SIZE, ...(pageParam !== '' && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: (before) => before,
  });
  const tables = pages.data?.pages.flatMap((page) => page.tables) ?? [];
  const total = pages.data?.pages[0]?.table_count ?? 0;
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>
          <Link to="/data">Databases</Link> <span className="soft">›</span> {db}
        </h1>
        <SearchBox label="Find table" placeholder="Find table" />
        <span className="row end">
          {db !== '_internal' && (
            <button type="button" className="button" onClick={() => setIsWriting(true)}>
              <Icon name="edit" size={14} /> Write
            </button>
          )}
          <Link to="/explore" search={{ db }} className="button">
            <Icon name="explore" size={14} /> Explore
          </Link>
        </span>
      </header>
      <QueryProblem of={pages} />
      {pages.isSuccess && tables.length === 0 && (
        <div className="card empty">
          <p className="soft">
            {find === ''
              ? 'No tables yet. The first line written to a table creates it.'
              : `No tables match “${find}”.`}
          </p>
          {find === '' && db !== '_internal' && (
            <button type="button" className="button primary" onClick={() => setIsWriting(true)}>
              Write a line
            </button>
          )}
        </div>
      )}
      <DataTable
        label="Tables"
        rows={tables}
        keyOf={(table) => table.name}
        columns={[
          {
            title: 'Table',
            cell: (table) => (
              <Link to="/data/$db/$table" params={{ db, table: table.name }}>
                {table.name}
              </Link>
            ),
          },
          {
            title: 'Columns',
            className: 'num',
            cell: (table) => countText(table.columns.length),
          },
          { title: 'Series', className: 'num', cell: (table) => countText(table.series_count) },
          { title: 'Rows', className: 'num', cell: (table) => countText(table.row_count) },
          {
            title: 'In memory',
            className: 'num',
            cell: (table) => countText(table.buffered_row_count),
          },
          { title: 'Size', className: 'num', cell: (table) => bytesText(table.size_bytes) },
          { title: 'Time range (UTC)', className: 'nowrap', cell: (table) => extentText(table) },
          {
            ...ACTIONS,
            cell: (table) => (
              <MenuButton
                label={`Actions for ${table.name}`}
                className="small quiet"
                entries={[
                  {
                    id: 'query',
                    label: 'Query',
                    act: () =>
                      void navigate({
                        to: '/explore',
                        search: { db, q: sampleQuery(table.name), view: 'table' },
                      }),
                  },
                  ...(db === '_internal'
                    ? []
                    : [{ id: 'delete', label: 'Delete …', act: () => setGoing(table) }]),
                ]}
              >
                …
              </MenuButton>
            ),
          },
        ]}
      />
      {tables.length > 0 && (
        <p className="hint soft row" role="status">
          {tables.length === total
            ? `${countText(total)} ${total === 1 ? 'table' : 'tables'}`
            : `${countText(tables.length)} of ${countText(total)} tables`}
          <ShowMore pages={pages} />
        </p>
      )}
      <RefusedWrites db={db} />
      {going && (
        <ConfirmDelete
          what="table"
          name={going.name}
          loss={`${countOf(going.row_count, 'row')} in ${countText(going.series_count)} series will be hidden immediately.`}
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteTable(db, going.name);
            await client.invalidateQueries({ queryKey: ['tsdb'] });
            toast(`${going.name} deleted`);
          }}
        />
      )}
      {isWriting && <WriteDrawer db={db} onClose={() => setIsWriting(false)} />}
    </div>
  );
}
