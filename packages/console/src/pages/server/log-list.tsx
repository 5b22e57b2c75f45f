import { fetchLogs, type LogLine, type LogPage } from '@plinth/console-core/api/server.js';
import { withNewLines } from '@plinth/console-core/lib/live/log-lines.js';
import { reload } from '@plinth/console-core/lib/live/query-state.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { NewRowsButton } from '../../components/live/new-rows-button.js';
import { useLive } from '../../components/live/use-live.js';
import { useNewRows } from '../../components/live/use-new-rows.js';
import { useSampled } from '../../components/live/use-sampled.js';
import { SearchBox, SearchCheckbox, SearchSelect } from '../../components/search/search-fields.js';

const SHOWN_COUNT = 300;
const NONE: readonly LogLine[] = [];
const LEVELS = [
  ['', 'all levels'],
  ...['debug', 'info', 'warn', 'error'].map((level) => [level, `${level} and above`] as const),
] as const;
const LOOKS: Readonly<Record<string, string>> = { warn: 'warn', error: 'bad', fatal: 'bad' };

/** The newest log lines of the server, updated live. */
export function LogList(props: {
  readonly find: string;
  readonly level: string;
  readonly isLive: boolean;
}) {
  const { find, level, isLive } = props;
  const client = useQueryClient();
  const queryKey = ['server', 'logs', level, find];
  const sampled = useSampled();
  /** Lines that arrived while a page was loading are not part of it. */
  const recent = useRef<readonly LogLine[]>(NONE);
  const filter = { level, find, limit: SHOWN_COUNT };
  const { refetchInterval, statusText } = useLive(isLive ? 'server-logs' : '', {
    events(events) {
      sampled.note(events);
      const lines = events.flatMap(({ event, data }) => (event === 'log' ? [data as LogLine] : []));
      recent.current = [...recent.current, ...lines].slice(-SHOWN_COUNT);
      client.setQueryData<LogPage>(queryKey, (page) => page && withNewLines(page, lines, filter));
    },
    reset() {
      recent.current = NONE;
      void reload(client, { queryKey, exact: true });
    },
  });
  const logs = useQuery({
    queryKey,
    async queryFn() {
      const page = await fetchLogs({
        ...{ level: level || undefined, find: find || undefined, limit: SHOWN_COUNT },
      });
      return refetchInterval === false ? withNewLines(page, recent.current, filter) : page;
    },
    refetchInterval,
    placeholderData: (before) => before,
  });
  const { lines = NONE, first_seq = 1, last_seq = 0 } = logs.data ?? {};
  const rows = useNewRows(lines, { subject: `${level} ${find}`, keyOf: ({ seq }) => seq });
  return (
    <section className="stack" aria-label="Logs">
      <div className="row wrap">
        <SearchBox label="Find in the log" placeholder="Find" />
        <SearchSelect label="Minimum level" name="level" options={LEVELS} />
        <SearchCheckbox label="live" name="live" on="" off="off" />
        {refetchInterval !== false && <span className="hint soft">{statusText}</span>}
        {sampled.droppedCount > 0 && (
          <span className="hint soft">
            {countOf(sampled.droppedCount, 'line')} per second not shown
          </span>
        )}
        <span className="hint soft" role="status">
          {lines.length === SHOWN_COUNT ? `the newest ${SHOWN_COUNT}` : countText(lines.length)} of{' '}
          {countText(last_seq - first_seq + 1)} buffered lines
        </span>
      </div>
      <QueryProblem of={logs} />
      <NewRowsButton rows={rows} />
      <DataTable
        label="Log"
        rows={logs.data && rows.shown}
        keyOf={({ seq }) => seq}
        columns={[
          {
            title: 'Time (UTC)',
            className: 'nowrap mono',
            cell: ({ time }) => time.slice(0, 23).replace('T', ' '),
          },
          {
            title: 'Level',
            cell: ({ level }) => <span className={`chip ${LOOKS[level] ?? ''}`}>{level}</span>,
          },
          { title: 'Service', cell: ({ service }) => service ?? 'server' },
          {
            title: 'Message',
            className: 'wide',
            cell: ({ message, fields }) => (
              <>
                {message}
                <Fields fields={fields} />
              </>
            ),
          },
        ]}
        empty="No log lines match."
      />
    </section>
  );
}

function Fields({ fields }: Pick<LogLine, 'fields'>) {
  const more = Object.entries(fields).filter(([name]) => name !== 'node');
  if (more.length === 0) return null;
  return (
    <code className="log-fields">
      {more.map(([name, value]) => `${name}=${textOf(value)}`).join('  ')}
    </code>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
