import {
  deleteContinuousQuery,
  fetchContinuousQueries,
} from '@plinth/console-core/api/processing.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';

/** The runs change the list. */
const REFRESH_MS = 5000;

/** Lists the continuous queries and rollups of a database. */
export function ContinuousQueries({ db }: { readonly db: string }) {
  const [going, setGoing] = useState<string | undefined>();
  const queries = useQuery({
    queryKey: ['tsdb', 'continuous-queries', db],
    queryFn: () => fetchContinuousQueries(db),
    refetchInterval: REFRESH_MS,
  });
  const { changed } = useChanges('tsdb', 'continuous-queries');
  return (
    <section className="stack" aria-labelledby="queries-title">
      <h2 id="queries-title">Continuous queries and rollups</h2>
      <QueryProblem of={queries} />
      <DataTable
        label="Continuous queries and rollups"
        rows={queries.data}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          { title: 'Query', className: 'wide', cell: ({ query }) => <code>{query}</code> },
          { title: 'Interval', cell: ({ run_every }) => run_every },
          {
            title: 'Last run (UTC)',
            className: 'nowrap',
            cell: ({ last_run }) => (last_run ? timeText(last_run) : '–'),
          },
          {
            title: 'Error',
            cell: ({ last_error }) =>
              last_error === null ? '–' : <span className="chip bad">{last_error}</span>,
          },
          {
            ...ACTIONS,
            cell: ({ name }) => (
              <button
                type="button"
                className="button small quiet"
                aria-label={`Delete ${name}`}
                onClick={() => setGoing(name)}
              >
                Delete
              </button>
            ),
          },
        ]}
        empty={
          <>
            {db} has no continuous queries. A continuous query aggregates each time interval and
            writes the results to a table. Create one with CREATE CONTINUOUS QUERY.
          </>
        }
      />
      {going !== undefined && (
        <ConfirmDelete
          what="continuous query"
          name={going}
          loss="A run in progress is canceled. The written rows are kept."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteContinuousQuery(db, going);
            await changed(`${going} deleted`);
          }}
        />
      )}
    </section>
  );
}
