import { useQuery } from '@tanstack/react-query';
import { cancelQuery, fetchQueries, type LoggedQuery } from '../../api/tsdb.js';
import { CopyButton } from '../../components/controls/copy-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TableWrap } from '../../components/controls/table-wrap.js';
import { toast } from '../../components/controls/toasts.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { useLiveState } from '../../components/live/use-live.js';
import { millisText, nanosText } from '../../lib/units.js';
import './queries.css';

const SHOWN_COUNT = 100;
/** The number of queries that the server keeps. */
const KEPT_COUNT = 1000;
const QUERIES = ['tsdb', 'queries'];

/** Lists the running queries and the most recent ones. */
export function QueriesPage() {
  const { refetchInterval, statusText } = useLiveState<readonly LoggedQuery[]>('queries', {
    queryKey: QUERIES,
    read: (data) => data.queries,
  });
  const queries = useQuery({
    queryKey: QUERIES,
    queryFn: () => fetchQueries({ limit: SHOWN_COUNT }),
    refetchInterval,
  });
  const all = queries.data ?? [];
  const running = all.filter((query) => query.running);
  const ended = all.filter((query) => !query.running);
  const { act } = useChanges(...QUERIES);
  const cancel = (id: string) => act(() => cancelQuery(id), 'Cancellation requested');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Queries</h1>
        <span className="soft small">this node, {statusText}</span>
      </header>
      <QueryProblem of={queries} />
      <section className="stack" aria-labelledby="running-title">
        <h2 id="running-title">Running {running.length > 0 && `(${running.length})`}</h2>
        {running.length === 0 ? (
          <p className="card empty soft">No queries are running.</p>
        ) : (
          <QueryTable queries={running} onCancel={(id) => void cancel(id)} />
        )}
      </section>
      <section className="stack" aria-labelledby="ended-title">
        <h2 id="ended-title">Recent</h2>
        {ended.length === 0 ? (
          <p className="card empty soft">No queries have finished since the server started.</p>
        ) : (
          <QueryTable queries={ended} />
        )}
      </section>
    </div>
  );
}

/** Live updates contain only the start of long statements. */
async function fullText({ id, text }: LoggedQuery): Promise<string> {
  try {
    const full = (await fetchQueries({ limit: KEPT_COUNT })).find((query) => query.id === id);
    if (full !== undefined) return full.text;
  } catch {
    // The error is reported below.
  }
  toast(
    'Only the beginning of the query was copied: the server no longer stores the full text',
    true,
  );
  return text;
}

const LOOKS: Readonly<Record<string, readonly [look: string, label: string]>> = {
  success: ['good', '✓ done'],
  fail: ['bad', '✕ failed'],
  cancel: ['warn', '– canceled'],
};

function QueryTable(props: {
  readonly queries: readonly LoggedQuery[];
  readonly onCancel?: (id: string) => void;
}) {
  const { queries, onCancel } = props;
  return (
    <TableWrap label="Queries">
      <thead>
        <tr>
          <th>Started (UTC)</th>
          <th>State</th>
          <th className="num">Duration</th>
          <th>Language</th>
          <th className="wide">Query</th>
          <th>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {queries.map((query) => {
          const { id, issued, phase, age_ms, language, is_cut: isCut = false } = query;
          const text = isCut ? `${query.text}…` : query.text;
          const [look, phaseLabel] = LOOKS[phase] ?? ['', phase.replaceAll('_', ' ')];
          return (
            <tr key={id}>
              <td className="nowrap">{nanosText(BigInt(issued)).slice(0, 19)}</td>
              <td>
                <span className={`chip ${look}`}>{phaseLabel}</span>
              </td>
              <td className="num nowrap">{millisText(age_ms)}</td>
              <td>{language}</td>
              <td className="wide">
                <code className="query-text" title={text}>
                  {text.replace(/\s+/g, ' ')}
                </code>
              </td>
              <td className="num nowrap">
                {onCancel ? (
                  <button
                    type="button"
                    className="button small danger"
                    onClick={() => onCancel(id)}
                  >
                    Cancel
                  </button>
                ) : (
                  <CopyButton text={isCut ? () => fullText(query) : text} label="Copy query" />
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </TableWrap>
  );
}
