import {
  deleteContinuousQuery,
  fetchContinuousQueries,
} from '@plinth/console-core/api/processing.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { useOfDatabases } from '../../components/controls/database-choice.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';

/** The runs change the list. */
const REFRESH_MS = 5000;

/** Lists the continuous queries and rollups of the database in the address, or of all databases. */
export function ContinuousQueries() {
  const [going, setGoing] = useState<{ readonly db: string; readonly name: string } | undefined>();
  const { db, rows: queries } = useOfDatabases(
    'continuous-queries',
    fetchContinuousQueries,
    REFRESH_MS,
  );
  const { changed } = useChanges('tsdb', 'continuous-queries');
  return (
    <section className="stack" aria-labelledby="queries-title">
      <h2 id="queries-title">Continuous queries and rollups</h2>
      <QueryProblem of={queries} />
      <DataTable
        label="Continuous queries and rollups"
        rows={queries.data}
        keyOf={({ db: own, name }) => `${own} ${name}`}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          { title: 'Database', cell: ({ db: own }) => own },
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
            cell: ({ db: own, name }) => (
              <button
                type="button"
                className="button small quiet"
                aria-label={`Delete ${name}`}
                onClick={() => setGoing({ db: own, name })}
              >
                Delete
              </button>
            ),
          },
        ]}
        empty={
          <>
            {db === '' ? 'No continuous queries yet.' : `${db} has no continuous queries.`} A
            continuous query aggregates each time interval and writes the results to a table. Create
            one with CREATE CONTINUOUS QUERY.
          </>
        }
      />
      {going !== undefined && (
        <ConfirmDelete
          what="continuous query"
          name={going.name}
          loss="A run in progress is canceled. The written rows are kept."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteContinuousQuery(going.db, going.name);
            await changed(`${going.name} deleted`);
          }}
        />
      )}
    </section>
  );
}
