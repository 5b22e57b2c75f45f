import {
  type App,
  type Delivery,
  fetchDeliveries,
  fetchQueued,
} from '@plinth/console-core/api/webhooks.js';
import { countText, millisText, timeText } from '@plinth/console-core/lib/units.js';
import {
  attemptText,
  deliveryCount,
  deliveryDuration,
  eventName,
} from '@plinth/console-core/lib/webhooks/delivery-text.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useId, useMemo, useState } from 'react';
import { DataTable, type TableColumn } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { NewRowsButton } from '../../components/live/new-rows-button.js';
import { useLive } from '../../components/live/use-live.js';
import { useNewRows } from '../../components/live/use-new-rows.js';
import { SearchBox, SearchSelect } from '../../components/search/search-fields.js';
import { AppFrame } from './app-frame.js';
import { DeliveryPanel } from './delivery-panel.js';
import { RedeliverSelected } from './redeliver-selected.js';
import { StatusChip } from './status-chip.js';
import { useQueue } from './use-queue.js';

const TO = '/webhooks/$app/$delivery';

/** Lists the deliveries of an app. An address with a delivery shows it beside the list. */
export function AppPage() {
  const { delivery } = useParams({ strict: false }) as { delivery?: string };
  return (
    <AppFrame tab="/webhooks/$app">
      {(app) => (
        <div className={delivery === undefined ? 'split' : 'split open'}>
          <Deliveries app={app} opened={delivery} />
          {delivery !== undefined && (
            <DeliveryPanel key={delivery} app={String(app.id)} id={delivery} />
          )}
        </div>
      )}
    </AppFrame>
  );
}

const VIEWS = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['succeeded', 'Succeeded'],
  ['queued', 'Queued'],
  ['dead', 'Dead'],
] as const;
const STATUS: Readonly<Record<string, string>> = { failed: 'failure', succeeded: 'success' };
/** A changed filter starts at the newest deliveries. */
const FIRST_PAGE = { cursor: '' };
const SINCE = [
  ['', 'any time'],
  ['1', 'last hour'],
  ['24', 'last 24 hours'],
  ['168', 'last 7 days'],
] as const;

function Deliveries({ app, opened }: { readonly app: App; readonly opened: string | undefined }) {
  const search = useSearch({ strict: false }) as Record<string, string>;
  const { show = '' } = search;
  const navigate = useNavigate();
  const id = useId();
  const queue = useQueue(String(app.id));
  const { pending = 0, leased = 0, dead = 0 } = queue.data ?? {};
  const counts: Readonly<Record<string, number>> = { queued: pending + leased, dead };
  const go = (change: Record<string, string>) =>
    void navigate({
      to: '/webhooks/$app',
      params: { app: String(app.id) },
      search: { ...search, ...FIRST_PAGE, ...change },
    });
  return (
    <section className="stack" aria-labelledby={id}>
      <h2 id={id} className="visually-hidden">
        Deliveries
      </h2>
      <div className="row wrap">
        <div className="row wrap" role="group" aria-label="Show">
          {VIEWS.map(([view, label]) => (
            <button
              key={view}
              type="button"
              className="button small"
              aria-pressed={show === view}
              onClick={() => go({ show: view })}
            >
              {label}
              {counts[view] !== undefined && counts[view] > 0 && ` ${countText(counts[view])}`}
            </button>
          ))}
        </div>
        {show !== 'queued' && show !== 'dead' && (
          <>
            <SearchBox
              label="Event"
              placeholder="event"
              name="event"
              isCode
              isSecondary
              resets={FIRST_PAGE}
            />
            <SearchBox label="GUID" placeholder="GUID" name="guid" isCode resets={FIRST_PAGE} />
            <SearchSelect label="Time" name="hours" options={SINCE} resets={FIRST_PAGE} />
          </>
        )}
      </div>
      {show === 'queued' || show === 'dead' ? (
        <Queued app={String(app.id)} state={show} count={counts[show] ?? 0} />
      ) : (
        <Attempts app={String(app.id)} opened={opened} search={search} onPage={go} />
      )}
    </section>
  );
}

function Queued(props: {
  readonly app: string;
  readonly state: 'queued' | 'dead';
  /** The number of events in this state, listed or not. */
  readonly count: number;
}) {
  const { app, state, count } = props;
  const queued = useQuery({
    queryKey: ['webhooks', 'queue', app, state],
    queryFn: () => fetchQueued(app, state === 'dead' ? 'dead' : 'pending,leased'),
    refetchInterval: 5000,
  });
  return (
    <>
      <QueryProblem of={queued} />
      <DataTable
        label={state === 'dead' ? 'Dead events' : 'Queued events'}
        rows={queued.data}
        keyOf={({ queue_id }) => queue_id}
        columns={[
          { title: 'Event', cell: eventName },
          {
            title: state === 'dead' ? 'Attempts' : 'Next attempt',
            className: 'num',
            cell: ({ attempt }) => attempt,
          },
          {
            title: state === 'dead' ? 'Last attempt due (UTC)' : 'Due (UTC)',
            className: 'nowrap',
            cell: ({ due_at }) => timeText(due_at),
          },
          {
            title: 'GUID',
            className: 'wide',
            cell: ({ guid }) => (
              <Link to="/webhooks/$app" params={{ app }} search={{ guid }}>
                <code>{guid}</code>
              </Link>
            ),
          },
        ]}
        empty={
          state === 'dead'
            ? 'No dead events. An event is dead when all its attempts have failed.'
            : 'The queue is empty.'
        }
      />
      {queued.data !== undefined && count > queued.data.length && (
        <p className="hint soft">
          Showing the first {countText(queued.data.length)} of {countText(count)} events by due time
        </p>
      )}
      {state === 'dead' && queued.data !== undefined && queued.data.length > 0 && (
        <p>
          <Link
            to="/webhooks/$app/redrive"
            params={{ app }}
            search={{ kind: 'dead' }}
            className="button"
          >
            Redrive dead events
          </Link>
        </p>
      )}
    </>
  );
}

/** Columns that are left out beside an opened delivery. */
const WIDE_COLUMNS: readonly TableColumn<Delivery>[] = [
  {
    title: 'Duration',
    className: 'num nowrap',
    cell: ({ duration }) => deliveryDuration(duration, millisText),
  },
  { title: 'GUID', cell: ({ guid }) => <code title={guid}>…{guid.slice(-8)}</code> },
];

function Attempts(props: {
  readonly app: string;
  readonly opened: string | undefined;
  readonly search: Readonly<Record<string, string>>;
  readonly onPage: (change: Record<string, string>) => void;
}) {
  const { app, opened, search, onPage } = props;
  const { show = '', event = '', guid = '', hours = '', cursor = '' } = search;
  const navigate = useNavigate();
  const client = useQueryClient();
  const refetch = async () => {
    const lists = { queryKey: ['webhooks', 'deliveries', app] };
    const invalidate = () => client.invalidateQueries(lists, { cancelRefetch: false });
    // Events do not restart a fetch in progress; one more fetch follows it.
    const isFetching = client.isFetching(lists) > 0;
    await invalidate();
    if (isFetching) await invalidate();
  };
  // Older pages do not change.
  const topic = cursor === '' ? `deliveries:${encodeURIComponent(app)}` : '';
  const { refetchInterval, statusText } = useLive(topic, {
    events: () => void refetch(),
    reset: () => void refetch(),
  });
  const page = useQuery({
    queryKey: ['webhooks', 'deliveries', app, show, event, guid, hours, cursor],
    queryFn: () =>
      fetchDeliveries(app, {
        ...{ status: STATUS[show] ?? '', event, guid, cursor },
        since: hours && new Date(Date.now() - Number(hours) * 3_600_000).toISOString(),
      }),
    refetchInterval,
    placeholderData: (before) => before,
  });
  // Ids follow the end of an attempt, times its start.
  const list = useMemo(
    () =>
      [...(page.data?.deliveries ?? [])].sort((a, b) =>
        b.delivered_at.localeCompare(a.delivered_at),
      ),
    [page.data],
  );
  const rows = useNewRows(list, {
    subject: [app, show, event, guid, hours, cursor].join(' '),
    keyOf: (delivery) => delivery.id,
  });
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const toggle = (id: number) =>
    setSelected((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const open = ({ id }: Delivery) =>
    void navigate({ to: TO, params: { app, delivery: String(id) }, search });
  return (
    <>
      <QueryProblem of={page} />
      <NewRowsButton rows={rows} />
      <RedeliverSelected
        app={app}
        ids={rows.shown.map(({ id }) => id).filter((id) => selected.has(id))}
        onQueued={toggle}
        onClear={() => setSelected(new Set())}
      />
      <DataTable
        label="Deliveries"
        selection={{
          has: ({ id }) => selected.has(id),
          toggle: ({ id }) => toggle(id),
          labelOf: (delivery) => `Select ${eventName(delivery)} of ${delivery.delivered_at}`,
        }}
        rows={page.data && rows.shown}
        keyOf={({ id }) => id}
        onOpen={open}
        isCurrent={({ id }) => String(id) === opened}
        columns={[
          {
            title: 'Time (UTC)',
            className: 'nowrap',
            cell: ({ id, delivered_at }) => (
              <Link to={TO} params={{ app, delivery: String(id) }} search={search}>
                {timeText(delivered_at)}
              </Link>
            ),
          },
          { title: 'Event', cell: eventName },
          {
            title: 'Result',
            cell: (delivery) => <StatusChip delivery={delivery} isShort={opened !== undefined} />,
          },
          { title: 'Attempt', className: 'nowrap', cell: attemptText },
          ...(opened === undefined ? WIDE_COLUMNS : []),
        ]}
        empty="No deliveries found. Choose “Send ping” to test the webhook."
      />
      <div className="row">
        <span className="hint soft">
          {page.data && `${deliveryCount(page.data.deliveries.length)} on this page, `}newest first
          {page.data?.next !== undefined && '; choose “Older” for more'}
          {cursor === '' && `; ${statusText}`}
        </span>
        {cursor !== '' && (
          <button type="button" className="button" onClick={() => onPage({})}>
            Newest
          </button>
        )}
        {page.data?.next !== undefined && (
          <button
            type="button"
            className="button"
            onClick={() => onPage({ cursor: page.data?.next ?? '' })}
          >
            Older
          </button>
        )}
      </div>
    </>
  );
}
