import {
  fetchTriggerLog,
  type LogLine,
  logQuery,
  MAX_LOG_LINES,
} from '@plinth/console-core/api/processing.js';
import { reload } from '@plinth/console-core/lib/live/query-state.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { NewRowsButton } from '../../components/live/new-rows-button.js';
import { useLive } from '../../components/live/use-live.js';
import { useNewRows } from '../../components/live/use-new-rows.js';
import { useSampled } from '../../components/live/use-sampled.js';

const NONE: readonly LogLine[] = [];
const keyOfLine = ({ event_time, trigger_name, log_text }: LogLine): string =>
  `${event_time} ${trigger_name} ${log_text}`;

/** Merges log lines, newest first and without duplicates. */
function withNewer(lines: readonly LogLine[], newer: readonly LogLine[]): readonly LogLine[] {
  const known = new Set(lines.map(keyOfLine));
  const last = lines[0]?.event_time ?? '';
  const fresh = newer.filter((line) => line.event_time >= last && !known.has(keyOfLine(line)));
  return fresh.length === 0 ? lines : [...fresh.reverse(), ...lines].slice(0, MAX_LOG_LINES);
}

const LOOKS: Readonly<Record<string, string>> = { ERROR: 'bad', WARN: 'warn', INFO: '' };

/** The log lines of a database's triggers, with new lines as they arrive. @param name empty for all. */
export function useTriggerLog(db: string, name: string) {
  const client = useQueryClient();
  const queryKey = ['tsdb', 'trigger-log', db, name];
  /** Lines that arrived while the list was loading are not part of it. */
  const recent = useRef<readonly LogLine[]>(NONE);
  const sampled = useSampled();
  const topic = ['trigger-logs', db, ...(name === '' ? [] : [name])].map(encodeURIComponent);
  const { refetchInterval, statusText } = useLive(topic.join(':'), {
    events(events) {
      sampled.note(events);
      const lines = events.flatMap(({ event, data }) =>
        event === 'line' ? [data as LogLine] : [],
      );
      recent.current = [...recent.current, ...lines].slice(-MAX_LOG_LINES);
      client.setQueryData<readonly LogLine[]>(
        queryKey,
        (known) => known && withNewer(known, lines),
      );
    },
    reset() {
      recent.current = NONE;
      void reload(client, { queryKey, exact: true });
    },
  });
  const log = useQuery({
    queryKey,
    queryFn: async () => withNewer(await fetchTriggerLog(db, name), recent.current),
    refetchInterval,
  });
  const { droppedCount } = sampled;
  const left = droppedCount > 0 && `${countOf(droppedCount, 'line')} per second not shown`;
  return { log, statusText: left ? `${statusText}; ${left}` : statusText };
}

export function TriggerLog(props: {
  readonly db: string;
  /** If empty, the lines of all triggers of the database are listed. */
  readonly name: string;
}) {
  const { db, name } = props;
  const { log, statusText } = useTriggerLog(db, name);
  const rows = useNewRows(log.data ?? NONE, { subject: `${db} ${name}`, keyOf: keyOfLine });
  return (
    <section className="stack" aria-labelledby="log-title">
      <div className="row">
        <h2 id="log-title">Log</h2>
        <span className="soft small">newest first, {statusText}</span>
      </div>
      <QueryProblem of={log} />
      <NewRowsButton rows={rows} />
      <DataTable
        label="Log"
        rows={log.data && rows.shown}
        empty="No log lines yet. Lines that plugins log appear here."
        keyOf={(line) => keyOfLine(line)}
        columns={[
          {
            title: 'Time (UTC)',
            className: 'nowrap',
            cell: (line) => line.event_time.slice(0, 23).replace('T', ' '),
          },
          ...(name === ''
            ? [{ title: 'Trigger', cell: (line: LogLine) => line.trigger_name }]
            : []),
          {
            title: 'Level',
            cell: (line) => (
              <span className={`chip ${LOOKS[line.log_level] ?? ''}`}>{line.log_level}</span>
            ),
          },
          { title: 'Message', className: 'wide', cell: (line) => <code>{line.log_text}</code> },
        ]}
      />
      {log.data?.length === MAX_LOG_LINES && (
        <p className="hint soft">
          Showing the newest {MAX_LOG_LINES} lines.{' '}
          <Link
            to="/explore"
            search={{ db, lang: 'sql', view: 'table', q: logQuery(name, 10_000) }}
          >
            Open more in Explore
          </Link>
        </p>
      )}
    </section>
  );
}
