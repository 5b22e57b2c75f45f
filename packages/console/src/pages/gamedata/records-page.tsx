import { fetchRecords } from '@plinth/console-core/api/gamedata.js';
import { recordName } from '@plinth/console-core/lib/form/record-fields.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable } from '../../components/controls/data-table.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { SearchBox } from '../../components/search/search-fields.js';
import { SignedIn } from './gamedata-frame.js';
import { NewRecord } from './record-editor.js';
import { useEditor } from './use-editor.js';
import { useOpenChanges } from './use-open-changes.js';

const PAGE_COUNT = 200;

/** Lists the records of a collection, including unpublished ones. */
export function RecordsPage() {
  const { kind = '' } = useParams({ strict: false }) as Record<string, string>;
  const { create = '' } = useSearch({ strict: false }) as Record<string, string>;
  const { missing } = useEditor();
  const isCreating = create === '1';
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/gamedata">Game data</Link>
        </nav>
        <h1 tabIndex={-1}>{kind}</h1>
        {isCreating ? (
          <span className="soft">new record</span>
        ) : (
          <Link
            to="/gamedata/$kind"
            params={{ kind }}
            search={{ create: '1' }}
            className="button end"
            disabled={missing('write') !== undefined}
            title={missing('write')}
          >
            <Icon name="plus" size={14} /> Create record
          </Link>
        )}
      </header>
      <SignedIn>
        {isCreating ? <NewRecord key={kind} kind={kind} /> : <Records key={kind} kind={kind} />}
      </SignedIn>
    </div>
  );
}

function Records({ kind }: { readonly kind: string }) {
  const { find = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const [shownCount, setShownCount] = useState(PAGE_COUNT);
  const records = useQuery({
    queryKey: ['gamedata', 'records', kind],
    queryFn: () => fetchRecords(kind),
  });
  const { open } = useOpenChanges();
  const changed = new Set(open.filter(({ type }) => type === kind).map(({ id }) => id));
  const searchText = find.toLowerCase();
  const fitting = (records.data ?? []).filter((record) =>
    `${record.id} ${recordName(record)}`.toLowerCase().includes(searchText),
  );
  return (
    <>
      <div className="row wrap">
        <SearchBox label="Find record" placeholder="Name or id" />
        {records.data && (
          <span className="soft small" role="status">
            {countText(fitting.length)} of {countOf(records.data.length, 'record')}
          </span>
        )}
      </div>
      <QueryProblem of={records} />
      <DataTable
        label="Records"
        rows={records.data && fitting.slice(0, shownCount)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/gamedata/$kind/$id', params: { kind, id } })}
        columns={[
          {
            title: 'Record',
            className: 'wide',
            cell: (record) => (
              <Link to="/gamedata/$kind/$id" params={{ kind, id: record.id }}>
                {recordName(record)}
              </Link>
            ),
          },
          { title: 'Id', cell: ({ id }) => <code>{id}</code> },
          {
            title: 'Draft',
            cell: ({ id }) => changed.has(id) && <span className="chip warn">● changed</span>,
          },
        ]}
        empty="No records found."
      />
      {fitting.length > shownCount && (
        <button
          type="button"
          className="button small"
          onClick={() => setShownCount(shownCount + PAGE_COUNT)}
        >
          Show more ({countText(fitting.length - shownCount)})
        </button>
      )}
    </>
  );
}
