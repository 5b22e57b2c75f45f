import {
  fetchEventDeliveries,
  fetchEvents,
  type Tenant,
} from '@plinth/console-core/api/accounts.js';
import {
  fetchApps,
  fetchPublishedEvents,
  type PublishedEvent,
} from '@plinth/console-core/api/webhooks.js';
import type { Account, AccountEvent, EventDelivery } from '@plinth/console-core/lib/account.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { ShowMore } from '../../components/controls/show-more.js';
import { useServer } from '../../components/shell/server-context.js';

/** The events of an account or one of its persons, with their deliveries to event destinations and apps. */
export function EventsTab(props: {
  readonly tenant: Tenant;
  readonly account: Account;
  /** A person of the account; empty for the account itself. */
  readonly person: string;
}) {
  const { tenant, account, person } = props;
  const object = person || account.id;
  const hasWebhooks = useServer().services.includes('webhooks');
  const pages = useInfiniteQuery({
    queryKey: ['accounts', 'events', tenant.platform, tenant.isLive, object],
    queryFn: ({ pageParam }) => fetchEvents(tenant, object, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const deliveries = useQuery({
    queryKey: ['accounts', 'event-deliveries', tenant.platform, tenant.isLive],
    queryFn: () => fetchEventDeliveries(tenant),
  });
  const apps = useQuery({
    queryKey: ['webhooks', 'apps'],
    queryFn: fetchApps,
    enabled: hasWebhooks,
  });
  // A query of its own for each page, so that the events are shown if the webhook store is unavailable.
  const published = useQueries({
    queries: (pages.data?.pages ?? []).map(({ rows }) => {
      const ids = rows.map(({ id }) => id);
      return {
        queryKey: ['accounts', 'published-events', ids],
        queryFn: () => fetchPublishedEvents(ids),
        enabled: hasWebhooks && ids.length > 0,
      };
    }),
  });
  const targets = published.flatMap(({ data = [] }) => data);
  const failed = published.find(({ isError }) => isError);
  const events = pages.data?.pages.flatMap(({ rows }) => rows) ?? [];
  return (
    <>
      {person !== '' && (
        <p className="row">
          Events of <code>{person}</code>
          <Link
            to="/accounts/$platform/$account"
            params={{ platform: tenant.platform, account: account.id }}
            search={{ tab: 'events' }}
          >
            Events of the account
          </Link>
        </p>
      )}
      <QueryProblem of={pages} />
      <QueryProblem of={deliveries} />
      {failed && <QueryProblem of={failed} />}
      <DataTable
        label="Events"
        rows={pages.isSuccess ? events : undefined}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Time (UTC)',
            className: 'nowrap',
            cell: ({ created }) => timeText(created),
          },
          {
            title: 'Event',
            className: 'wide',
            cell: (event) => <EventCell event={event} />,
          },
          {
            title: 'Object',
            cell: ({ related_object: related }) =>
              related && <RelatedObject {...{ tenant, account }} id={related.id} />,
          },
          {
            title: 'Request',
            cell: ({ reason }) => (reason?.request ? <code>{reason.request.id}</code> : 'none'),
          },
          {
            title: 'Deliveries',
            cell: ({ id }) => (
              <>
                <Deliveries of={deliveries.data?.filter(({ event }) => event === id) ?? []} />
                <AppLinks event={targets.find((each) => each.id === id)} apps={apps.data ?? []} />
              </>
            ),
          },
        ]}
        empty="No events yet. Each change to the account creates events."
      />
      {events.length > 0 && (
        <p className="hint soft row">
          This list contains the last 100 attempts for each event destination
          {hasWebhooks && ' and the deliveries to apps during the last day'}.
          <ShowMore pages={pages} />
        </p>
      )}
    </>
  );
}

/** The type without its common prefix, and the data of the event. */
function EventCell({ event }: { readonly event: AccountEvent }) {
  const { id, type, data, changes } = event;
  const details = changes ?? data;
  return (
    <>
      <span className="row">
        <code className="breaking">{type.replace(/^v2\.core\./, '')}</code>
        <CopyButton text={id} label={`Copy ${id}`} />
      </span>
      {details !== undefined && (
        <details>
          <summary className="soft small">{changes === undefined ? 'Data' : 'Changes'}</summary>
          <pre className="record-value">{JSON.stringify(details, null, 2)}</pre>
        </details>
      )}
    </>
  );
}

function RelatedObject(props: {
  readonly tenant: Tenant;
  readonly account: Account;
  readonly id: string;
}) {
  const { tenant, account, id } = props;
  if (id === account.id) return <>account</>;
  return (
    <Link
      to="/accounts/$platform/$account"
      params={{ platform: tenant.platform, account: account.id }}
      search={{ tab: 'persons', person: id }}
    >
      {id}
    </Link>
  );
}

function Deliveries({ of }: { readonly of: readonly EventDelivery[] }) {
  return of.map(({ destination, attempt, status, error, attempted }) => {
    const isGood = status !== null && status >= 200 && status < 300;
    return (
      <div key={`${destination} ${attempt}`} className="row nowrap">
        <span className={`chip ${isGood ? 'good' : 'bad'}`} title={attempted}>
          {isGood ? '✓' : '✕'} {status ?? error ?? 'failed'}
        </span>
        {destination}
        {attempt > 1 && <span className="soft small">retry {attempt - 1}</span>}
      </div>
    );
  });
}

/** Links to the deliveries of an event to apps. */
function AppLinks(props: {
  readonly event: PublishedEvent | undefined;
  readonly apps: readonly { readonly id: number; readonly name: string }[];
}) {
  const { event, apps } = props;
  return event?.targets.map(({ app_id: app }) => (
    <div key={app}>
      <Link to="/webhooks/$app" params={{ app: String(app) }} search={{ guid: event.guid }}>
        {apps.find(({ id }) => id === app)?.name ?? `app ${app}`}
      </Link>
    </div>
  ));
}
