import {
  deleteTrigger,
  fetchTriggerArguments,
  fetchTriggers,
  switchTrigger,
  type Trigger,
} from '@plinth/console-core/api/processing.js';
import { specificationText } from '@plinth/console-core/lib/plugins/specification.js';
import { runsOf, type TriggerRun } from '@plinth/console-core/lib/plugins/trigger-runs.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { DataTable } from '../../components/controls/data-table.js';
import { Fact } from '../../components/controls/fact.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { CodePane } from './code-pane.js';
import { TriggerChip, useTriggerActivity } from './trigger-chip.js';
import { TriggerLog, useTriggerLog } from './trigger-log.js';
import './trigger-page.css';

const TO = '/triggers/$db/$name';
const TABS = [
  ['', 'Code'],
  ['runs', 'Runs'],
  ['log', 'Log'],
  ['settings', 'Settings'],
] as const;

/** Shows one trigger: its code with a dry run, its runs, its log and its settings. */
export function TriggerPage() {
  const { db = '', name = '' } = useParams({ strict: false }) as Record<string, string>;
  const { tab = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const triggers = useQuery({
    queryKey: ['tsdb', 'triggers', db],
    queryFn: () => fetchTriggers(db),
  });
  const activityOf = useTriggerActivity([db]);
  const { act, changed } = useChanges('tsdb', 'triggers');
  const trigger = triggers.data?.find((each) => each.trigger_name === name);
  const { disabled = false } = trigger ?? {};
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/triggers" search={{ db }}>
            Triggers of {db}
          </Link>
        </nav>
        <h1 tabIndex={-1}>{name}</h1>
        {trigger && (
          <>
            <TriggerChip trigger={trigger} activity={activityOf(db, name)} />
            <span className="row wrap end">
              <button
                type="button"
                className="button"
                onClick={() =>
                  void act(
                    () => switchTrigger(db, name, disabled),
                    `${name} ${disabled ? 'enabled' : 'disabled'}`,
                  )
                }
              >
                {disabled ? 'Enable' : 'Disable'}
              </button>
              <button type="button" className="button" onClick={() => setIsDeleting(true)}>
                Delete …
              </button>
            </span>
          </>
        )}
      </header>
      <QueryProblem of={triggers} />
      {triggers.data !== undefined && trigger === undefined && (
        <p className="card empty soft">
          Trigger {name} not found in {db}.
        </p>
      )}
      {trigger && (
        <>
          <nav className="tabs" aria-label="Trigger sections">
            {TABS.map(([value, label]) => (
              <Link
                key={value}
                to={TO}
                params={{ db, name }}
                search={value === '' ? {} : { tab: value }}
                activeOptions={{ exact: true, explicitUndefined: true }}
                aria-current={tab === value ? 'page' : undefined}
              >
                {label}
              </Link>
            ))}
          </nav>
          {tab === '' && <CodePane key={`${db} ${name}`} db={db} trigger={trigger} />}
          {tab === 'runs' && <Runs db={db} name={name} />}
          {tab === 'log' && <TriggerLog key={`${db} ${name}`} db={db} name={name} />}
          {tab === 'settings' && <Settings db={db} trigger={trigger} />}
        </>
      )}
      {isDeleting && (
        <ConfirmDelete
          what="trigger"
          name={name}
          loss="A run in progress is canceled. The plugin file and the written rows are kept."
          onClose={() => setIsDeleting(false)}
          act={async () => {
            await deleteTrigger(db, name);
            await navigate({ to: '/triggers', search: { db } });
            await changed(`${name} deleted`);
          }}
        />
      )}
    </div>
  );
}

const RESULT_STYLES: Readonly<
  Record<TriggerRun['result'], readonly [style: string, text: string]>
> = {
  succeeded: ['chip good', '✓ succeeded'],
  failed: ['chip bad', '✕ failed'],
  running: ['chip', '… running'],
};

function Runs({ db, name }: { readonly db: string; readonly name: string }) {
  const { log, statusText } = useTriggerLog(db, name);
  const runs = log.data && runsOf(log.data);
  return (
    <section className="stack" aria-labelledby="runs-title">
      <div className="row wrap">
        <h2 id="runs-title">Runs</h2>
        <span className="soft small">newest first, {statusText}</span>
      </div>
      <QueryProblem of={log} />
      <DataTable
        label="Runs"
        rows={runs}
        keyOf={({ startedAt, text }) => `${startedAt} ${text}`}
        columns={[
          {
            title: 'Started (UTC)',
            className: 'nowrap',
            cell: ({ startedAt }) => startedAt.slice(0, 23).replace('T', ' '),
          },
          {
            title: 'Result',
            cell: ({ result }) => (
              <span className={RESULT_STYLES[result][0]}>{RESULT_STYLES[result][1]}</span>
            ),
          },
          {
            title: 'Duration',
            className: 'num',
            cell: ({ result, text }) => (result === 'succeeded' ? text : '–'),
          },
          {
            title: 'Log',
            className: 'wide',
            cell: ({ result, text, lines }) => (
              <pre className="run-log">
                {[
                  ...lines.map((line) => `${line.log_level}: ${line.log_text}`),
                  ...(result === 'failed' ? [text] : []),
                ].join('\n') || '–'}
              </pre>
            ),
          },
        ]}
        empty="No runs yet. Runs appear here after the trigger fires."
      />
    </section>
  );
}

function Settings({ db, trigger }: { readonly db: string; readonly trigger: Trigger }) {
  const args = useQuery({
    queryKey: ['tsdb', 'triggers', db, 'arguments', trigger.trigger_name],
    queryFn: () => fetchTriggerArguments(db, trigger.trigger_name),
  });
  return (
    <>
      <dl className="facts card">
        <Fact name="Database" value={db} />
        <Fact name="Plugin" value={trigger.plugin_filename} />
        <Fact name="Runs on" value={specificationText(trigger.trigger_specification)} />
        <Fact name="On error" value={trigger.error_behavior} />
      </dl>
      <QueryProblem of={args} />
      <DataTable
        label="Arguments"
        rows={args.data && Object.entries(args.data)}
        keyOf={([key]) => key}
        columns={[
          { title: 'Argument', cell: ([key]) => <code>{key}</code> },
          { title: 'Value', className: 'wide', cell: ([, value]) => <code>{value}</code> },
        ]}
        empty="No arguments."
      />
      <p className="hint soft">
        To change these settings, delete the trigger and create it again. The code is kept.
      </p>
    </>
  );
}
