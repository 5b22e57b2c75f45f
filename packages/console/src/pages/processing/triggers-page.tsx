import {
  deleteTrigger,
  fetchTriggers,
  switchTrigger,
  type Trigger,
  type TriggerActivity,
} from '@plinth/console-core/api/processing.js';
import { specificationText } from '@plinth/console-core/lib/plugins/specification.js';
import { runDuration } from '@plinth/console-core/lib/plugins/trigger-runs.js';
import { countText, timeText } from '@plinth/console-core/lib/units.js';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable, type TableColumn } from '../../components/controls/data-table.js';
import {
  DatabaseChoice,
  LeftOut,
  useOfDatabases,
} from '../../components/controls/database-choice.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { ContinuousQueries } from './continuous-queries.js';
import { CreateTrigger } from './create-trigger.js';
import { TriggerChip, useTriggerActivity } from './trigger-chip.js';
import { TriggerLog } from './trigger-log.js';

/** Its log contains the lines of all databases. */
const ALL_DATABASES = '_internal';

type Row = Trigger & { readonly db: string };

/** Lists the triggers of all databases and the log lines of their plugins. */
export function TriggersPage() {
  const { create = '' } = useSearch({ strict: false }) as Record<string, string>;
  const { db, names, choice, rows, leftCount } = useOfDatabases('triggers', fetchTriggers);
  const [isCreating, setIsCreating] = useState(create === '1');
  const [going, setGoing] = useState<Row | undefined>();
  const navigate = useNavigate();
  const open = (trigger: { readonly db: string; readonly name: string }, tab?: string) =>
    void navigate({
      to: '/triggers/$db/$name',
      params: trigger,
      search: tab === undefined ? {} : { tab },
    });
  const activityOf = useTriggerActivity([...new Set(rows.data?.map((row) => row.db))]);
  const { act, changed } = useChanges('tsdb', 'triggers');
  const setEnabled = ({ db: own, trigger_name: name }: Row, isOn: boolean) =>
    act(() => switchTrigger(own, name, isOn), `${name} ${isOn ? 'enabled' : 'disabled'}`);
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Triggers</h1>
        <DatabaseChoice path="/triggers" db={db} names={names} hasAll />
        <button
          type="button"
          className="button primary end"
          disabled={choice.preset === ''}
          title={choice.preset === '' ? 'Create a database first' : undefined}
          onClick={() => setIsCreating(true)}
        >
          <Icon name="plus" size={14} /> Create trigger
        </button>
      </header>
      <QueryProblem of={rows} />
      <DataTable
        label="Triggers"
        rows={rows.data}
        keyOf={(row) => `${row.db} ${row.trigger_name}`}
        onOpen={(row) => open({ db: row.db, name: row.trigger_name })}
        columns={[
          {
            title: 'Trigger',
            cell: ({ db: own, trigger_name: name }) => (
              <Link to="/triggers/$db/$name" params={{ db: own, name }}>
                {name}
              </Link>
            ),
          },
          { title: 'Database', cell: (row) => row.db },
          {
            title: 'State',
            cell: (row) => (
              <TriggerChip trigger={row} activity={activityOf(row.db, row.trigger_name)} />
            ),
          },
          { title: 'Runs on', cell: (row) => specificationText(row.trigger_specification) },
          { title: 'Plugin', cell: (row) => <code>{row.plugin_filename}</code> },
          ...activityColumns((row) => activityOf(row.db, row.trigger_name)),
          {
            ...ACTIONS,
            cell: (row) => {
              const { trigger_name: name, disabled } = row;
              return (
                <MenuButton
                  label={`Actions for ${name}`}
                  className="small quiet"
                  entries={[
                    { id: 'log', label: 'View log', act: () => open({ db: row.db, name }, 'log') },
                    {
                      id: 'toggle',
                      label: disabled ? 'Enable' : 'Disable',
                      act: () => void setEnabled(row, disabled),
                    },
                    { id: 'delete', label: 'Delete …', act: () => setGoing(row) },
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
            {db === '' ? 'No triggers yet.' : `${db} has no triggers.`} A trigger runs a Python
            plugin when rows are written, on a schedule, or on an HTTP request. Plugins are loaded
            from the folder set with --plugin-dir.
          </>
        }
      />
      <LeftOut count={leftCount} />
      {names.length > 0 && <ContinuousQueries key={`queries ${db}`} />}
      {names.length > 0 && <TriggerLog key={`log ${db}`} db={db || ALL_DATABASES} name="" />}
      {isCreating && choice.preset !== '' && (
        <CreateTrigger
          {...choice}
          onClose={() => setIsCreating(false)}
          onCreated={(trigger, isNewFile) => {
            setIsCreating(false);
            void changed(`${trigger.name} created`);
            if (isNewFile) open(trigger);
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="trigger"
          name={going.trigger_name}
          loss="A run in progress is canceled. The plugin file and the written rows are kept."
          onClose={() => setGoing(undefined)}
          act={async () => {
            const { db: own, trigger_name: name } = going;
            await deleteTrigger(own, name);
            await changed(`${name} deleted`);
          }}
        />
      )}
    </div>
  );
}

/** The columns about the last hour. */
const activityColumns = (
  activityOf: (row: Row) => TriggerActivity | undefined,
): readonly TableColumn<Row>[] => [
  {
    title: 'Last run (UTC)',
    className: 'nowrap',
    cell: (row) => lastRunText(activityOf(row)),
  },
  {
    title: 'Runs (1 h)',
    className: 'num',
    cell: (row) => countText(activityOf(row)?.run_count ?? 0),
  },
  {
    title: 'Errors (1 h)',
    className: 'num',
    cell: (row) => countText(activityOf(row)?.error_count ?? 0),
  },
  {
    title: 'Duration',
    className: 'num nowrap',
    cell: (row) => runDuration(activityOf(row)?.last_end ?? '') ?? '–',
  },
];

function lastRunText(activity: TriggerActivity | undefined): string {
  const times = [activity?.last_success, activity?.last_error];
  const last = times
    .filter((time) => time !== null && time !== undefined)
    .sort()
    .at(-1);
  return last === undefined ? '–' : timeText(last);
}
