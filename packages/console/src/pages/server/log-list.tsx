import { useQuery } from '@tanstack/react-query';
import { fetchLogs, type LogLine } from '../../api/server.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TableWrap } from '../../components/controls/table-wrap.js';
import { countText } from '../../lib/units.js';

const LIVE_MS = 2000;
const SHOWN_COUNT = 300;
const LEVELS = ['debug', 'info', 'warn', 'error'];
const LOOKS: Readonly<Record<string, string>> = { warn: 'warn', error: 'bad', fatal: 'bad' };

/** What the server has logged last, looked at again every two seconds. */
export function LogList(props: {
  readonly find: string;
  readonly level: string;
  readonly isLive: boolean;
  readonly onChange: (change: Record<string, string>) => void;
}) {
  const { find, level, isLive, onChange } = props;
  const logs = useQuery({
    queryKey: ['server', 'logs', level, find],
    queryFn: () =>
      fetchLogs({ level: level || undefined, find: find || undefined, limit: SHOWN_COUNT }),
    refetchInterval: isLive ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
  const { lines = [], first_seq = 1, last_seq = 0 } = logs.data ?? {};
  return (
    <section className="stack" aria-label="Logs">
      <div className="row wrap">
        <input
          className="input"
          data-find
          aria-label="Find in the log"
          placeholder="Find   /"
          value={find}
          onChange={(event) => onChange({ find: event.target.value })}
        />
        <select
          className="input"
          aria-label="Least level"
          value={level}
          onChange={(event) => onChange({ level: event.target.value })}
        >
          <option value="">all levels</option>
          {LEVELS.map((each) => (
            <option key={each} value={each}>
              {each} and above
            </option>
          ))}
        </select>
        <label className="row small">
          <input
            type="checkbox"
            checked={isLive}
            onChange={(event) => onChange({ live: event.target.checked ? '' : 'off' })}
          />
          live
        </label>
        <span className="hint soft" role="status">
          {lines.length === SHOWN_COUNT ? `the newest ${SHOWN_COUNT}` : countText(lines.length)} of{' '}
          {countText(last_seq - first_seq + 1)} lines that are kept
        </span>
      </div>
      {logs.isError && <ProblemNote error={logs.error} onRetry={() => void logs.refetch()} />}
      {logs.data && lines.length === 0 && <p className="card empty soft">No line fits.</p>}
      {lines.length > 0 && (
        <TableWrap label="Log">
          <thead>
            <tr>
              <th>Time (UTC)</th>
              <th>Level</th>
              <th>Service</th>
              <th className="wide">Message</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <Row key={line.seq} line={line} />
            ))}
          </tbody>
        </TableWrap>
      )}
    </section>
  );
}

function Row({ line }: { readonly line: LogLine }) {
  const { time, level, service, message, fields } = line;
  const more = Object.entries(fields).filter(([name]) => name !== 'node');
  return (
    <tr>
      <td className="nowrap mono">{time.slice(0, 23).replace('T', ' ')}</td>
      <td>
        <span className={`chip ${LOOKS[level] ?? ''}`}>{level}</span>
      </td>
      <td>{service ?? 'server'}</td>
      <td className="wide">
        {message}
        {more.length > 0 && (
          <code className="log-fields">
            {more.map(([name, value]) => `${name}=${textOf(value)}`).join('  ')}
          </code>
        )}
      </td>
    </tr>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
