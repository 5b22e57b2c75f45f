import { queryRows } from '@plinth/console-core/api/tsdb.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';

const SHOWN_COUNT = 20;

interface RefusedRow {
  readonly time: string;
  readonly protocol: string;
  readonly reason: string;
  readonly line_number: number;
  readonly line: string;
  readonly message: string;
  readonly sender?: string | null;
  readonly address?: string | null;
}

/** The latest rows that the server refused to write. Shows nothing if there are none. */
export function RefusedWrites({ db }: { readonly db: string }) {
  const refused = useQuery({
    queryKey: ['tsdb', 'refused-writes', db],
    queryFn: () =>
      queryRows<RefusedRow>({
        db,
        lang: 'sql',
        text: `SELECT * FROM system.refused_writes ORDER BY time DESC LIMIT ${SHOWN_COUNT}`,
      }),
  });
  const rows = refused.data ?? [];
  if (rows.length === 0) return <QueryProblem of={refused} />;
  return (
    <section className="stack" aria-labelledby="refused-title">
      <h2 id="refused-title">Rejected rows</h2>
      <p className="hint">
        This list contains the latest {SHOWN_COUNT} rows since the server started. Query{' '}
        <code>system.refused_writes</code> for more.
      </p>
      <DataTable
        label="Rejected rows"
        rows={rows}
        keyOf={(row) => `${row.time} ${row.protocol} ${row.line_number} ${row.message}`}
        columns={[
          { title: 'Time (UTC)', className: 'nowrap', cell: ({ time }) => timeText(time) },
          { title: 'Reason', className: 'nowrap', cell: ({ reason }) => reason },
          { title: 'Message', className: 'wide', cell: ({ message }) => message },
          { title: 'Row', className: 'wide', cell: ({ line }) => <code>{line}</code> },
          { title: 'Protocol', className: 'nowrap', cell: ({ protocol }) => protocol },
          {
            title: 'Sender',
            cell: ({ sender, address }) => [sender, address].filter(Boolean).join(' at '),
          },
        ]}
      />
    </section>
  );
}
