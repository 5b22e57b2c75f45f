import {
  deleteTrigger,
  fetchTriggers,
  switchTrigger,
  type TriggerActivity,
} from '@plinth/console-core/api/processing.js';
import { specificationText } from '@plinth/console-core/lib/plugins/specification.js';
import { countText, timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { DatabaseChoice, useDatabase } from '../../components/controls/database-choice.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { ContinuousQueries } from './continuous-queries.js';
import { CreateTrigger } from './create-trigger.js';
import { TriggerChip, useTriggerActivity } from './trigger-chip.js';
import { TriggerLog } from './trigger-log.js';

/** Lists the triggers of a database and the log lines of their plugins. */
export function TriggersPage() {
  const { db, names } = useDatabase();
  const [isCreating, setIsCreating] = useState(false);
  const [going, setGoing] = useState<string | undefined>();
  const navigate = useNavigate();
  const open = (name: string, tab?: string) =>
    void navigate({
      to: '/triggers/$db/$name',
      params: { db, name },
      search: tab === undefined ? {} : { tab },
    });
  const triggers = useQuery({
    queryKey: ['tsdb', 'triggers', db],
    queryFn: () => fetchTriggers(db),
    enabled: db !== '',
  });
  const activity = useTriggerActivity(db);
  const activityOf = (name: string) =>
    activity.data?.find(({ trigger_name }) => trigger_name === name);
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
        onOpen={({ trigger_name }) => open(trigger_name)}
        columns={[
          {
            title: 'Trigger',
            cell: ({ trigger_name: name }) => (
              <Link to="/triggers/$db/$name" params={{ db, name }}>
                {name}
              </Link>
            ),
          },
          {
            title: 'State',
            cell: (trigger) => (
              <TriggerChip trigger={trigger} activity={activityOf(trigger.trigger_name)} />
            ),
          },
          { title: 'Runs on', cell: (trigger) => specificationText(trigger.trigger_specification) },
          { title: 'Plugin', cell: (trigger) => <code>{trigger.plugin_filename}</code> },
          { title: 'On error', cell: (trigger) => trigger.error_behavior },
          {
            title: 'Last run (UTC)',
            className: 'nowrap',
            cell: ({ trigger_name }) => lastRunText(activityOf(trigger_name)),
          },
          {
            title: 'Errors (1 h)',
            className: 'num',
            cell: ({ trigger_name }) => countText(activityOf(trigger_name)?.error_count ?? 0),
          },
          {
            ...ACTIONS,
            cell: (trigger) => {
              const { trigger_name: name, disabled } = trigger;
              return (
                <MenuButton
                  label={`Actions for ${name}`}
                  className="small quiet"
                  entries={[
                    { id: 'log', label: 'View log', act: () => open(name, 'log') },
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
      {db !== '' && <TriggerLog key={db} db={db} name="" />}
      {isCreating && (
        <CreateTrigger
          db={db}
          onClose={() => setIsCreating(false)}
          onCreated={(name, isNewFile) => {
            setIsCreating(false);
            void changed(`${name} created`);
            if (isNewFile) open(name);
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="trigger"
          name={going}
          loss="A run in progress is canceled. The plugin file and the written rows are kept."
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

function lastRunText(activity: TriggerActivity | undefined): string {
  const times = [activity?.last_success, activity?.last_error];
  const last = times
    .filter((time) => time !== null && time !== undefined)
    .sort()
    .at(-1);
  return last === undefined ? '–' : timeText(last);
}
