import { cancelQuery, fetchQueries, type LoggedQuery } from '@plinth/console-core/api/tsdb.js';
import { millisText, nanosText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { useLiveState } from '../../components/live/use-live.js';
import { SearchCheckbox } from '../../components/search/search-fields.js';
import { useSearchParams } from '../../components/search/use-search-params.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';
import './queries.css';

const SHOWN_COUNT = 100;
/** The number of queries that the server keeps. */
const KEPT_COUNT = 1000;
const QUERIES = ['tsdb', 'queries'];

/** Lists the running queries and the most recent ones; those of the console only on request. */
export function QueriesPage() {
  const [{ console: own = '' }] = useSearchParams();
  const hasConsole = own === '1';
  const queryKey = [...QUERIES, hasConsole];
  const { refetchInterval, statusText } = useLiveState<readonly LoggedQuery[]>(
    hasConsole ? 'queries' : 'queries:without-console',
    { queryKey, read: (data) => data.queries },
  );
  const queries = useQuery({
    queryKey,
    queryFn: () => fetchQueries({ limit: SHOWN_COUNT, console: hasConsole }),
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
        <SearchCheckbox label="Show queries of the console" name="console" />
        <span className="soft small">this node, {statusText}</span>
      </header>
      <SectionTabs section="/server" />
      <QueryProblem of={queries} />
      <section className="stack" aria-labelledby="running-title">
        <h2 id="running-title">Running {running.length > 0 && `(${running.length})`}</h2>
        <QueryTable
          queries={running}
          onCancel={(id) => void cancel(id)}
          empty="No queries are running."
        />
      </section>
      <section className="stack" aria-labelledby="ended-title">
        <h2 id="ended-title">Recent</h2>
        <QueryTable queries={ended} empty="No queries have finished since the server started." />
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

const PHASE_STYLES: Readonly<Record<string, readonly [style: string, label: string]>> = {
  success: ['good', '✓ done'],
  fail: ['bad', '✕ failed'],
  cancel: ['warn', '– canceled'],
};

function QueryTable(props: {
  readonly queries: readonly LoggedQuery[];
  readonly empty: string;
  readonly onCancel?: (id: string) => void;
}) {
  const { queries, empty, onCancel } = props;
  return (
    <DataTable
      label="Queries"
      rows={queries}
      empty={empty}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Started (UTC)',
          className: 'nowrap',
          cell: ({ issued }) => nanosText(BigInt(issued)).slice(0, 19),
        },
        { title: 'State', cell: ({ phase }) => <PhaseChip phase={phase} /> },
        { title: 'Duration', className: 'num nowrap', cell: ({ age_ms }) => millisText(age_ms) },
        { title: 'Token', cell: ({ token }) => token ?? '–' },
        { title: 'Database', cell: ({ db }) => db ?? '–' },
        { title: 'Language', cell: ({ language }) => language },
        {
          title: 'Query',
          className: 'wide',
          cell: (query) => (
            <code className="query-text" title={shownText(query)}>
              {shownText(query).replace(/\s+/g, ' ')}
            </code>
          ),
        },
        {
          title: 'Actions',
          isTitleHidden: true,
          className: 'num nowrap',
          cell: (query) =>
            onCancel ? (
              <button
                type="button"
                className="button small danger"
                onClick={() => onCancel(query.id)}
              >
                Cancel
              </button>
            ) : (
              <CopyButton
                text={query.is_cut ? () => fullText(query) : query.text}
                label="Copy query"
              />
            ),
        },
      ]}
    />
  );
}

const shownText = ({ text, is_cut }: LoggedQuery): string => (is_cut ? `${text}…` : text);

function PhaseChip({ phase }: { readonly phase: string }) {
  const [style, label] = PHASE_STYLES[phase] ?? ['', phase.replaceAll('_', ' ')];
  return <span className={`chip ${style}`}>{label}</span>;
}
