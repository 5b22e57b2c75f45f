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
/** All that the server has. */
const KEPT_COUNT = 1000;
const QUERIES = ['tsdb', 'queries'];

/** Queries that run now, and the last ones. */
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
  const cancel = (id: string) => act(() => cancelQuery(id), 'The query was told to end');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Queries</h1>
        <span className="soft small">of this node, {statusText}</span>
      </header>
      <QueryProblem of={queries} />
      <section className="stack" aria-labelledby="running-title">
        <h2 id="running-title">Running {running.length > 0 && `(${running.length})`}</h2>
        {running.length === 0 ? (
          <p className="card empty soft">No query runs at the moment.</p>
        ) : (
          <QueryTable queries={running} onCancel={(id) => void cancel(id)} />
        )}
      </section>
      <section className="stack" aria-labelledby="ended-title">
        <h2 id="ended-title">Last ones</h2>
        {ended.length === 0 ? (
          <p className="card empty soft">None has ended since the start of the server.</p>
        ) : (
          <QueryTable queries={ended} />
        )}
      </section>
    </div>
  );
}

/** What comes by itself has the beginning of long statements. */
async function wholeText({ id, text }: LoggedQuery): Promise<string> {
  try {
    const whole = (await fetchQueries({ limit: KEPT_COUNT })).find((query) => query.id === id);
    if (whole !== undefined) return whole.text;
  } catch {
    // Said below.
  }
  toast('Only the beginning was copied: the server did not give the rest', true);
  return text;
}

const LOOKS: Readonly<Record<string, readonly [look: string, word: string]>> = {
  success: ['good', '✓ done'],
  fail: ['bad', '✕ failed'],
  cancel: ['warn', '– cancelled'],
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
          <th>{onCancel ? 'Since (UTC)' : 'Begun (UTC)'}</th>
          <th>State</th>
          <th className="num">{onCancel ? 'Age' : 'Took'}</th>
          <th>Language</th>
          <th className="wide">Text</th>
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
                  <CopyButton text={isCut ? () => wholeText(query) : text} label="Copy the text" />
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </TableWrap>
  );
}
