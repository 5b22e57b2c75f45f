import { fetchRejections, type RejectionCount } from '@plinth/console-core/api/limits.js';
import { limitName } from '@plinth/console-core/lib/limit-steps.js';
import { countOf, countText, secondsText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { ACTIONS, DataTable, type TableColumn } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';

const REFRESH_MS = 5000;
const SHOWN_COUNT = 20;

/** The exceeded limits, those with the most rejected requests first. */
const limitsText = ({ limits }: RejectionCount): string =>
  Object.entries(limits)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${limitName(kind)} ${countText(count)}`)
    .join(', ');

/** Lists the callers whose requests were rejected most often, and the limits that they exceeded. */
export function RejectedCallers(props: {
  readonly callerColumn: TableColumn<{ readonly identity: string }>;
}) {
  const id = useId();
  const found = useQuery({
    queryKey: ['limits', 'rejected'],
    queryFn: () => fetchRejections(SHOWN_COUNT),
    refetchInterval: REFRESH_MS,
  });
  const { rejected, identities = 0, other_requests: others = 0 } = found.data ?? {};
  return (
    <section className="stack" aria-labelledby={id}>
      <div className="row wrap">
        <h2 id={id}>Rejected requests</h2>
        <span className="soft small">on this node, refreshed every 5 s</span>
      </div>
      <QueryProblem of={found} />
      <DataTable
        label="Rejected requests"
        rows={rejected}
        keyOf={({ identity }) => identity}
        columns={[
          props.callerColumn,
          { title: 'This hour', className: 'num', cell: ({ current }) => countText(current) },
          {
            title: 'Previous hour',
            className: 'num',
            cell: ({ previous }) => countText(previous),
          },
          { title: 'Exceeded limits', cell: limitsText },
          { title: 'Last (UTC)', className: 'nowrap', cell: ({ last }) => secondsText(last) },
          {
            ...ACTIONS,
            cell: ({ identity }) => (
              <Link
                to="/limits/simulate"
                search={{ identity }}
                className="button small"
                aria-label={`Simulate a request from ${identity}`}
              >
                Simulate
              </Link>
            ),
          },
        ]}
        empty="No rejected requests in this hour or the previous hour."
      />
      {(identities > SHOWN_COUNT || others > 0) && (
        <p className="hint soft">
          {identities > SHOWN_COUNT &&
            `Showing ${SHOWN_COUNT} of ${countOf(identities, 'caller')}. `}
          {others > 0 &&
            `Not shown: ${countOf(others, 'request')} from callers removed from the list.`}
        </p>
      )}
    </section>
  );
}

/** The rejected requests of one caller in a sentence. */
export function RejectionText({ counts }: { readonly counts: RejectionCount }) {
  const { current, previous } = counts;
  return (
    <p>
      <span className={current > 0 ? 'chip warn' : 'chip'}>
        {countOf(current, 'request')} rejected in this hour
      </span>{' '}
      <span className="soft small">
        {countText(previous)} in the previous hour · {limitsText(counts)}
      </span>
    </p>
  );
}
