import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import {
  createTrigger,
  deleteTrigger,
  fetchTriggerLog,
  fetchTriggers,
  type LogLine,
  MAX_LOG_LINES,
  switchTrigger,
} from '../../api/processing.js';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { DatabaseChoice, useDatabase } from '../../components/controls/database-choice.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { NewRowsButton } from '../../components/live/new-rows-button.js';
import { useLive } from '../../components/live/use-live.js';
import { useNewRows } from '../../components/live/use-new-rows.js';
import { parseArguments, specificationText } from '../../lib/specification.js';
import { ContinuousQueries } from './continuous-queries.js';

/** Lists the triggers of a database and the log lines of their plugins. */
export function TriggersPage() {
  const { db, names } = useDatabase();
  const [isCreating, setIsCreating] = useState(false);
  const [going, setGoing] = useState<string | undefined>();
  const { log: shown = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const setShown = (name: string) =>
    void navigate({ to: '/triggers', search: { db, ...(name !== '' && { log: name }) } });
  const triggers = useQuery({
    queryKey: ['tsdb', 'triggers', db],
    queryFn: () => fetchTriggers(db),
    enabled: db !== '',
  });
  const { act, changed } = useChanges('tsdb', 'triggers');
  const setEnabled = (name: string, isOn: boolean) =>
    act(() => switchTrigger(db, name, isOn), `${name} ${isOn ? 'enabled' : 'disabled'}`);
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Triggers</h1>
        <DatabaseChoice path="/triggers" db={db} names={names} />
        <button type="button" className="button primary end" onClick={() => setIsCreating(true)}>
          <Icon name="plus" size={14} /> Create trigger
        </button>
      </header>
      <QueryProblem of={triggers} />
      <DataTable
        label="Triggers"
        rows={triggers.data}
        keyOf={(trigger) => {
          const { trigger_name: name } = trigger;
          return name;
        }}
        columns={[
          {
            title: 'Trigger',
            cell: (trigger) => {
              const { trigger_name: name } = trigger;
              return name;
            },
          },
          {
            title: 'State',
            cell: (trigger) => {
              const { disabled } = trigger;
              return (
                <span className={disabled ? 'chip warn' : 'chip good'}>
                  {disabled ? '– disabled' : '✓ enabled'}
                </span>
              );
            },
          },
          { title: 'Runs', cell: (trigger) => specificationText(trigger.trigger_specification) },
          { title: 'Plugin', cell: (trigger) => <code>{trigger.plugin_filename}</code> },
          { title: 'On error', cell: (trigger) => trigger.error_behavior },
          {
            ...ACTIONS,
            cell: (trigger) => {
              const { trigger_name: name, disabled } = trigger;
              return (
                <MenuButton
                  label={`Actions for ${name}`}
                  className="small quiet"
                  entries={[
                    { id: 'log', label: 'View log', act: () => setShown(name) },
                    {
                      id: 'toggle',
                      label: disabled ? 'Enable' : 'Disable',
                      act: () => void setEnabled(name, disabled),
                    },
                    { id: 'delete', label: 'Delete …', act: () => setGoing(name) },
                  ]}
                >
                  …
                </MenuButton>
              );
            },
          },
        ]}
        empty={
          <>
            {db} has no triggers. A trigger runs a Python plugin when rows are written, on a
            schedule, or on an HTTP request. Plugins are loaded from the folder set with
            --plugin-dir.
          </>
        }
      />
      {db !== '' && <ContinuousQueries key={db} db={db} />}
      {db !== '' && (
        <TriggerLog key={`${db} ${shown}`} db={db} name={shown} onAll={() => setShown('')} />
      )}
      {isCreating && (
        <CreateTrigger
          db={db}
          onClose={() => setIsCreating(false)}
          onCreated={(name) => {
            setIsCreating(false);
            void changed(`${name} created`);
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="trigger"
          name={going}
          loss="A run in progress is canceled. The plugin file and the rows it wrote are kept."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteTrigger(db, going);
            await changed(`${going} deleted`);
          }}
        />
      )}
    </div>
  );
}

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

function TriggerLog(props: {
  readonly db: string;
  /** If empty, the lines of all triggers of the database are listed. */
  readonly name: string;
  readonly onAll: () => void;
}) {
  const { db, name, onAll } = props;
  const client = useQueryClient();
  const queryKey = ['tsdb', 'trigger-log', db, name];
  /** Lines that arrived while the list was loading are not part of it. */
  const recent = useRef<readonly LogLine[]>(NONE);
  const topic = ['trigger-logs', db, ...(name === '' ? [] : [name])].map(encodeURIComponent);
  const { refetchInterval, statusText } = useLive(topic.join(':'), {
    events(events) {
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
      void client.invalidateQueries({ queryKey, exact: true });
    },
  });
  const log = useQuery({
    queryKey,
    queryFn: async () => withNewer(await fetchTriggerLog(db, name), recent.current),
    refetchInterval,
  });
  const rows = useNewRows(log.data ?? NONE, { subject: topic.join(), keyOf: keyOfLine });
  return (
    <section className="stack" aria-labelledby="log-title">
      <div className="row">
        <h2 id="log-title">{name === '' ? 'Log' : `Log of ${name}`}</h2>
        {name !== '' && (
          <button type="button" className="button small" onClick={onAll}>
            Show all
          </button>
        )}
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
          { title: 'Trigger', cell: (line) => line.trigger_name },
          {
            title: 'Level',
            cell: (line) => (
              <span className={`chip ${LOOKS[line.log_level] ?? ''}`}>{line.log_level}</span>
            ),
          },
          { title: 'Message', className: 'wide', cell: (line) => <code>{line.log_text}</code> },
        ]}
      />
    </section>
  );
}

const BEHAVIORS = ['log', 'retry', 'disable'] as const;

function CreateTrigger(props: {
  readonly db: string;
  readonly onClose: () => void;
  readonly onCreated: (name: string) => void;
}) {
  const { db, onClose, onCreated } = props;
  const [name, setName] = useState('');
  const [plugin, setPlugin] = useState('');
  const [specification, setSpecification] = useState('');
  const [args, setArgs] = useState('');
  const [errorBehavior, setErrorBehavior] = useState<string>('log');
  const parsed = parseArguments(args);
  return (
    <FormDialog
      title={`Create trigger in ${db}`}
      action="Create"
      doing="Creating …"
      canAct={name !== '' && plugin !== '' && specification !== '' && parsed !== undefined}
      act={async () => {
        await createTrigger({
          ...{ db, name: name.trim(), plugin: plugin.trim(), specification: specification.trim() },
          ...{ args: parsed ?? {}, errorBehavior },
        });
        onCreated(name.trim());
      }}
      onClose={onClose}
    >
      <TextField label="Name" isCode value={name} onChange={setName} />
      <TextField
        label="Plugin"
        isCode
        value={plugin}
        onChange={setPlugin}
        placeholder="hourly.py"
        hint="A file or folder in the server's plugin folder."
      />
      <TextField
        label="Runs"
        isCode
        value={specification}
        onChange={setSpecification}
        placeholder="every:1h"
        hint={
          <>
            <code>all_tables</code>, <code>table:cpu</code>, <code>every:10s</code>,{' '}
            <code>cron:0 0 6 * * *</code> (in UTC) or <code>request:path</code>
          </>
        }
      />
      <TextField
        label="Arguments"
        isCode
        value={args}
        onChange={setArgs}
        placeholder="host=a, limit=10"
        mistake={
          parsed === undefined
            ? 'Invalid arguments; use pairs such as host=a, limit=10.'
            : undefined
        }
        hint="Visible to everyone who can list triggers; do not enter secrets."
      />
      <fieldset className="row">
        <legend>On error</legend>
        {BEHAVIORS.map((behavior) => (
          <label key={behavior} className="row">
            <input
              type="radio"
              checked={errorBehavior === behavior}
              onChange={() => setErrorBehavior(behavior)}
            />
            {behavior}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
