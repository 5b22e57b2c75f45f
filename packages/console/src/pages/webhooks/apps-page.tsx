import {
  type App,
  createApp,
  deleteApp,
  fetchApps,
  fetchQueue,
  MAX_APPS,
} from '@plinth/console-core/api/webhooks.js';
import { countText, millisText } from '@plinth/console-core/lib/units.js';
import {
  deliveryCount,
  deliveryDuration,
  deliveryFigures,
} from '@plinth/console-core/lib/webhooks/delivery-text.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Navigate, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { DeliveryBars } from '../../components/chart/delivery-bars.js';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { DeleteButton } from '../../components/controls/delete-button.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { eventList, HookFields, isHookUrl } from './hook-fields.js';

const APPS = ['webhooks', 'apps'];
const REFRESH_MS = 5000;
/** Each queue is fetched with its own request. */
const MAX_QUEUES = 20;

/** Lists the apps, their webhooks and the sizes of their queues. */
export function AppsPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  const [going, setGoing] = useState<App | undefined>();
  const { all = '' } = useSearch({ strict: false }) as Record<string, string>;
  /** The only app when the page opened, or null. */
  const [only, setOnly] = useState<App | null | undefined>();
  const apps = useQuery({ queryKey: APPS, queryFn: fetchApps, refetchInterval: REFRESH_MS });
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks'] });
  if (only === undefined && apps.data !== undefined)
    setOnly(all === '' && apps.data.length === 1 ? (apps.data[0] ?? null) : null);
  if (only) return <Navigate to="/webhooks/$app" params={{ app: String(only.id) }} replace />;
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Webhooks</h1>
        <button type="button" className="button primary end" onClick={() => setIsCreating(true)}>
          <Icon name="plus" size={14} /> Create app
        </button>
      </header>
      <QueryProblem of={apps} />
      <DataTable
        label="Apps"
        rows={apps.data}
        keyOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/webhooks/$app', params: { app: String(id) } })}
        columns={[
          {
            title: 'App',
            cell: ({ id, name }) => (
              <Link to="/webhooks/$app" params={{ app: String(id) }}>
                {name}
              </Link>
            ),
          },
          {
            title: 'State',
            cell: (app) => <AppState app={app} />,
          },
          { title: 'URL', cell: ({ hook }) => <code>{hook?.config.url ?? '–'}</code> },
          { title: 'Events', cell: ({ hook }) => hook?.events.join(', ') || '–' },
          {
            title: 'Succeeded (1 h)',
            className: 'num nowrap',
            cell: (app) => <Figure app={app} of="success" />,
          },
          {
            title: 'Last 6 h',
            cell: ({ hook }) => hook && <DeliveryBars history={hook.history} />,
          },
          {
            title: 'p95 (1 h)',
            className: 'num nowrap',
            cell: (app) => <Figure app={app} of="p95" />,
          },
          {
            title: 'Queued',
            className: 'num',
            cell: ({ id }, index) => index < MAX_QUEUES && <QueueSize app={id} of="queued" />,
          },
          {
            title: 'Dead',
            className: 'num',
            cell: ({ id }, index) => index < MAX_QUEUES && <QueueSize app={id} of="dead" />,
          },
          {
            ...ACTIONS,
            cell: (app) => <DeleteButton name={app.name} onClick={() => setGoing(app)} />,
          },
        ]}
        empty="No apps yet. An app receives events at its webhook URL. Every delivery is recorded and can be redelivered."
      />
      {apps.data?.length === MAX_APPS && (
        <p className="hint soft">
          Showing the first {MAX_APPS} apps. To list all apps, use <code>plinth app list</code>.
        </p>
      )}
      {isCreating && (
        <CreateApp
          onClose={() => {
            setIsCreating(false);
            void refresh();
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="app"
          name={going.name}
          loss="Its keys and webhook are deleted and its pending deliveries are canceled. Delivery records are kept."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteApp(going.id);
            await refresh();
            toast(`${going.name} deleted`);
          }}
        />
      )}
    </div>
  );
}

export function AppState({ app }: { readonly app: App }) {
  const { hook } = app;
  if (app.suspended_at !== null) return <span className="chip warn">– suspended</span>;
  if (!hook?.config.url) return <span className="chip">no URL</span>;
  if (!hook.active) return <span className="chip warn">– inactive</span>;
  if (deliveryFigures(hook.last_hour)?.isFailing === true)
    return <span className="chip bad">✕ failing</span>;
  return <span className="chip good">✓ active</span>;
}

function Figure({ app, of }: { readonly app: App; readonly of: 'success' | 'p95' }) {
  const figures = app.hook ? deliveryFigures(app.hook.last_hour) : undefined;
  if (figures === undefined) return '–';
  if (of === 'p95') return deliveryDuration(figures.p95Sec, millisText);
  return (
    <span title={`of ${deliveryCount(figures.count)} in the last hour`}>
      {figures.successPercent} %
    </span>
  );
}

function QueueSize({ app, of }: { readonly app: number; readonly of: 'queued' | 'dead' }) {
  const { data } = useQuery({
    queryKey: ['webhooks', 'queue', app],
    queryFn: () => fetchQueue(app),
    refetchInterval: REFRESH_MS,
  });
  if (data === undefined) return null;
  return countText(of === 'dead' ? data.dead : data.pending + data.leased);
}

function CreateApp({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('*');
  const [secret, setSecret] = useState('');
  // The key is kept only in this component.
  const [pem, setPem] = useState('');
  const isUrlRight = url.trim() === '' || isHookUrl(url);
  if (pem !== '') {
    return (
      <SecretDialog
        title={`Private key for ${name}`}
        secret={pem}
        note="The app signs its API requests with this key."
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="Create app"
      action="Create"
      doing="Creating …"
      canAct={name.trim() !== '' && isUrlRight}
      act={async () => {
        const list = eventList(events);
        const made = await createApp({ name: name.trim(), url: url.trim(), events: list, secret });
        setPem(made.pem);
      }}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={64} />
      <HookFields
        {...{ url, isUrlRight, events }}
        onUrl={setUrl}
        onEvents={setEvents}
        urlHint="Deliveries are sent to this URL. You can set it later."
      />
      <TextField
        label="Secret"
        isCode
        value={secret}
        onChange={setSecret}
        hint="Signs each delivery (X-Hub-Signature-256), so that the receiver can verify its origin. Leave empty to send unsigned deliveries."
      />
    </FormDialog>
  );
}
