import {
  type DryRun,
  dryRun,
  fetchTriggerArguments,
  type Trigger,
} from '@plinth/console-core/api/processing.js';
import { fetchTable, fetchTables, queryRows } from '@plinth/console-core/api/tsdb.js';
import { linesOfRows, newestRowsQuery } from '@plinth/console-core/lib/plugins/plugin-input.js';
import { triggerInput } from '@plinth/console-core/lib/plugins/specification.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useTask } from '../../components/controls/use-task.js';

const SAMPLE_COUNT = 5;

/** Runs a plugin with sample input; nothing is stored. */
export function useDryRun(options: {
  readonly db: string;
  readonly trigger: Trigger;
  /** Runs instead of the stored code. */
  readonly code: string | undefined;
}) {
  const { db, trigger, code } = options;
  const { trigger_name: name, plugin_filename: path, trigger_specification } = trigger;
  const kind = triggerInput(trigger_specification);
  const table = kind.kind === 'wal' ? (kind.table ?? '') : undefined;
  const sample = useQuery({
    queryKey: ['tsdb', 'plugin-sample', db, table],
    queryFn: () => fetchSample(db, table ?? ''),
    enabled: table !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const args = useQuery({
    queryKey: ['tsdb', 'triggers', db, 'arguments', name],
    queryFn: () => fetchTriggerArguments(db, name),
  });
  const [typed, setTyped] = useState<string | undefined>();
  const [result, setResult] = useState<DryRun | undefined>();
  const { run, error, isBusy } = useTask();
  const input = typed ?? (kind.kind === 'schedule' ? kind.cron : (sample.data ?? ''));
  const start = async (): Promise<void> => {
    if (kind.kind === 'request' || isBusy || sample.isLoading || args.isLoading) return;
    await run(async () => {
      setResult(undefined);
      const request = { db, path, code, args: args.data ?? {}, input };
      setResult(await dryRun(kind.kind, request));
    });
  };
  const isLoading = sample.isLoading || args.isLoading;
  return { kind, input, setInput: setTyped, result, error, isBusy, isLoading, start };
}

/** The newest rows of a table as line protocol. @param tableName empty for the first table. */
async function fetchSample(db: string, tableName: string): Promise<string> {
  const { tables } =
    tableName === '' ? await fetchTables({ db, limit: 1 }) : await fetchTable(db, tableName);
  const table = tableName === '' ? tables[0] : tables.find(({ name }) => name === tableName);
  if (table === undefined) return '';
  const text = newestRowsQuery(table.name, table.columns, SAMPLE_COUNT);
  const rows = await queryRows<Record<string, unknown>>({ db, lang: 'sql', text });
  return linesOfRows(table.name, table.columns, rows);
}

export function DryRunPane(props: {
  readonly dry: ReturnType<typeof useDryRun>;
  /** The stored code runs, although the code has been changed. */
  readonly isStoredCode: boolean;
}) {
  const { kind, input, setInput, result, error, isBusy, isLoading, start } = props.dry;
  const id = useId();
  return (
    <section className="card stack dry-run" aria-labelledby={id}>
      <h2 id={id}>Dry run</h2>
      {kind.kind === 'wal' && (
        <div className="field">
          <label htmlFor={`${id}-lines`}>Input (line protocol)</label>
          <textarea
            id={`${id}-lines`}
            className="input mono"
            spellCheck={false}
            value={input}
            onChange={(event) => setInput(event.target.value)}
          />
          <span className="hint">These are the newest rows of the table. You can change them.</span>
        </div>
      )}
      {kind.kind === 'schedule' && (
        <TextField
          label="Dry run schedule"
          isCode
          value={input}
          onChange={setInput}
          hint="The plugin receives the next time that matches this cron expression. The first field is seconds, and times are in UTC. The schedule of the trigger does not change."
        />
      )}
      {kind.kind === 'request' ? (
        <p className="soft">
          Dry runs are available for write and schedule triggers. To test this trigger, send a
          request to <code>/api/v3/engine/{kind.path}</code>.
        </p>
      ) : (
        <div className="row wrap">
          <button
            type="button"
            className="button"
            title="Ctrl+Enter"
            disabled={isBusy || isLoading}
            onClick={() => void start()}
          >
            {isBusy ? 'Running …' : 'Dry run'}
          </button>
          <span className="hint soft">
            {props.isStoredCode
              ? 'Runs the saved files. Save your changes to include them.'
              : 'Runs the code in the editor. Its writes are listed, not stored.'}
          </span>
        </div>
      )}
      {error !== undefined && <ProblemNote error={error} />}
      {result && <Result {...result} />}
    </section>
  );
}

function Result({ errors, database_writes: writes, log_lines: lines, trigger_time: time }: DryRun) {
  const written = Object.entries(writes).map(([db, parts]) => [db, parts.join('\n')] as const);
  const count = written.reduce((sum, [, text]) => sum + text.split('\n').length, 0);
  return (
    <div className="stack" role="status">
      {errors.map((error) => (
        <pre key={error} className="note bad run-log">
          {error}
        </pre>
      ))}
      <p>
        {errors.length === 0 && <span className="chip good">✓ succeeded</span>}{' '}
        {countOf(count, 'line')} would be written
        {time && ` · scheduled for ${time.replace('T', ' ').replace('Z', ' UTC')}`}
      </p>
      {written.map(([db, text]) => (
        <div key={db} className="stack">
          <h3>Writes to {db}</h3>
          <pre className="note run-log">{text}</pre>
        </div>
      ))}
      <h3>Log</h3>
      <pre className="note run-log">{lines.join('\n') || 'No log lines.'}</pre>
    </div>
  );
}
