import { fetchCollections, searchRecords } from '@plinth/console-core/api/gamedata.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useDelayed } from '../../components/controls/use-delayed.js';
import { SearchBox } from '../../components/search/search-fields.js';
import { GameDataFrame } from './gamedata-frame.js';

const TYPING_MS = 200;

/** Lists the collections, and finds records in all of them. */
export function CollectionsPage() {
  return (
    <GameDataFrame tab="/gamedata">
      <Search />
      <Collections />
    </GameDataFrame>
  );
}

function Search() {
  const { q = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const searchText = useDelayed(q.trim(), TYPING_MS);
  const hits = useQuery({
    queryKey: ['gamedata', 'search', searchText],
    queryFn: () => searchRecords(searchText),
    enabled: searchText !== '',
    placeholderData: (before) => before,
  });
  return (
    <>
      <SearchBox
        label="Find record"
        placeholder="Find a published record in all collections"
        name="q"
      />
      <QueryProblem of={hits} />
      {searchText !== '' && (
        <DataTable
          label="Matching records"
          rows={hits.data}
          keyOf={({ kind, id }) => `${kind} ${id}`}
          onOpen={({ kind, id }) =>
            void navigate({ to: '/gamedata/$kind/$id', params: { kind, id } })
          }
          columns={[
            {
              title: 'Record',
              className: 'wide',
              cell: ({ kind, id, name }) => (
                <Link to="/gamedata/$kind/$id" params={{ kind, id }}>
                  {name ?? id}
                </Link>
              ),
            },
            { title: 'Collection', cell: ({ kind }) => kind },
            { title: 'Id', cell: ({ id }) => <code>{id}</code> },
          ]}
          empty="No records found."
        />
      )}
    </>
  );
}

function Collections() {
  const navigate = useNavigate();
  const collections = useQuery({
    queryKey: ['gamedata', 'collections'],
    queryFn: fetchCollections,
  });
  return (
    <>
      <QueryProblem of={collections} />
      <DataTable
        label="Collections"
        rows={collections.data}
        keyOf={({ key }) => key}
        onOpen={({ key }) => void navigate({ to: '/gamedata/$kind', params: { kind: key } })}
        columns={[
          {
            title: 'Collection',
            className: 'wide',
            cell: ({ key }) => (
              <Link to="/gamedata/$kind" params={{ kind: key }}>
                {key}
              </Link>
            ),
          },
          { title: 'Published', className: 'num', cell: ({ count }) => countText(count) },
          { title: 'Draft', className: 'num', cell: ({ draft }) => countText(draft) },
          {
            title: 'Changed',
            className: 'num',
            cell: ({ changed }) =>
              changed === 0 ? '–' : <span className="chip warn">{countText(changed)}</span>,
          },
        ]}
      />
    </>
  );
}
