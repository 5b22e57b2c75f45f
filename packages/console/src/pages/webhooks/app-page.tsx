import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import {
  type Delivery,
  fetchApp,
  fetchDeliveries,
  ping,
  redeliver,
  suspend,
} from '../../api/webhooks.js';
import { Fact } from '../../components/controls/fact.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TableWrap } from '../../components/controls/table-wrap.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { NewRowsButton } from '../../components/live/new-rows-button.js';
import { useLive } from '../../components/live/use-live.js';
import { useNewRows } from '../../components/live/use-new-rows.js';
import { countText, millisText } from '../../lib/units.js';
import { AppState } from './apps-page.js';
import { StatusChip } from './status-chip.js';
import { useQueue } from './use-queue.js';

const NONE: readonly Delivery[] = [];

/** Shows the webhook of an app, its queue and its deliveries. */
export function AppPage() {
  const { app } = useParams({ strict: false }) as { app: string };
  const found = useQuery({ queryKey: ['webhooks', 'app', app], queryFn: () => fetchApp(app) });
  const queue = useQueue(app);
  const { act } = useChanges('webhooks');
  const { data } = found;
  const isSuspended = data?.suspended_at != null;
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/webhooks">Webhooks</Link>
        </nav>
        <h1 tabIndex={-1}>{data?.name ?? `App ${app}`}</h1>
        {data && <AppState app={data} />}
        <span className="row end">
          <button
            type="button"
            className="button"
            onClick={() =>
              void act(
                () => suspend(app, !isSuspended),
                isSuspended ? 'Deliveries resumed' : 'Deliveries suspended',
              )
            }
          >
            {isSuspended ? 'Resume' : 'Suspend'}
          </button>
          <button
            type="button"
            className="button primary"
            onClick={() => void act(() => ping(app), 'Ping sent')}
          >
            Send ping
          </button>
        </span>
      </header>
      <QueryProblem of={found} />
      {data && (
        <dl className="facts card">
          <Fact name="URL" value={data.hook?.config.url ?? 'none'} />
          <Fact name="Events" value={data.hook?.events.join(', ') || 'none'} />
          <Fact name="Ordering" value={data.hook?.ordering ?? 'none'} />
          <Fact
            name="TLS"
            value={data.hook?.config.insecure_ssl === '1' ? 'not verified' : 'verified'}
          />
          <Fact
            name="Pending"
            value={countText((queue.data?.pending ?? 0) + (queue.data?.leased ?? 0))}
          />
          <Fact name="Failed" value={countText(queue.data?.dead ?? 0)} />
          <Fact name="Client id" value={data.client_id} />
        </dl>
      )}
      <Deliveries
        app={app}
        onRedeliver={(id) => act(() => redeliver(app, id), 'Redelivery requested')}
      />
    </div>
  );
}

function Deliveries(props: {
  readonly app: string;
  readonly onRedeliver: (id: number) => Promise<void>;
}) {
  const { app, onRedeliver } = props;
  const search = useSearch({ strict: false }) as Record<string, string>;
  const { status = '', event = '', guid = '', cursor = '' } = search;
  const navigate = useNavigate();
  const id = useId();
  const client = useQueryClient();
  const lookAgain = async () => {
    const lists = { queryKey: ['webhooks', 'deliveries', app] };
    const look = () => client.invalidateQueries(lists, { cancelRefetch: false });
    // Events do not restart a fetch in progress; one more fetch follows it.
    const isFetching = client.isFetching(lists) > 0;
    await look();
    if (isFetching) await look();
  };
  // Older pages do not change.
  const topic = cursor === '' ? `deliveries:${encodeURIComponent(app)}` : '';
  const { refetchInterval, statusText } = useLive(topic, {
    events: () => void lookAgain(),
    reset: () => void lookAgain(),
  });
  const page = useQuery({
    queryKey: ['webhooks', 'deliveries', app, status, event, guid, cursor],
    queryFn: () => fetchDeliveries(app, { status, event, guid, cursor }),
    refetchInterval,
    placeholderData: (before) => before,
  });
  const go = (change: Record<string, string>) =>
    void navigate({
      to: '/webhooks/$app',
      params: { app },
      search: { status, event, guid, cursor: '', ...change },
    });
  const list = page.data?.deliveries ?? NONE;
  const rows = useNewRows(list, {
    subject: [app, status, event, guid, cursor].join(' '),
    keyOf: (delivery) => delivery.id,
  });
  return (
    <section className="stack" aria-labelledby={id}>
      <div className="row wrap">
        <h2 id={id}>Deliveries</h2>
        <select
          className="input"
          aria-label="Result"
          value={status}
          onChange={(change) => go({ status: change.target.value })}
        >
          <option value="">all results</option>
          <option value="success">succeeded</option>
          <option value="failure">failed</option>
        </select>
        <input
          className="input mono"
          aria-label="Event"
          placeholder="event"
          value={event}
          onChange={(change) => go({ event: change.target.value })}
        />
        <input
          className="input mono"
          data-find
          aria-label="GUID"
          placeholder="GUID   /"
          value={guid}
          onChange={(change) => go({ guid: change.target.value })}
        />
        <span className="soft small">newest first{cursor === '' && `, ${statusText}`}</span>
      </div>
      <QueryProblem of={page} />
      {page.data !== undefined && list.length === 0 && (
        <p className="card empty soft">
          No deliveries found. To test the webhook, choose “Send ping”.
        </p>
      )}
      <NewRowsButton rows={rows} />
      {list.length > 0 && <DeliveryTable app={app} list={rows.shown} onRedeliver={onRedeliver} />}
      <div className="row">
        {cursor !== '' && (
          <button type="button" className="button" onClick={() => go({})}>
            Newest
          </button>
        )}
        {page.data?.next !== undefined && (
          <button
            type="button"
            className="button"
            onClick={() => go({ cursor: page.data?.next ?? '' })}
          >
            Older
          </button>
        )}
      </div>
    </section>
  );
}

function DeliveryTable(props: {
  readonly app: string;
  readonly list: readonly Delivery[];
  readonly onRedeliver: (id: number) => Promise<void>;
}) {
  const { app, list, onRedeliver } = props;
  return (
    <TableWrap label="Deliveries">
      <thead>
        <tr>
          <th>Time (UTC)</th>
          <th>Event</th>
          <th className="wide">Result</th>
          <th className="num">Duration</th>
          <th>GUID</th>
          <th>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((delivery) => (
          <tr key={delivery.id}>
            <td className="nowrap">
              <Link to="/webhooks/$app/$delivery" params={{ app, delivery: String(delivery.id) }}>
                {delivery.delivered_at.slice(0, 19).replace('T', ' ')}
              </Link>
            </td>
            <td>
              {delivery.event}
              {delivery.action !== null && `.${delivery.action}`}{' '}
              {delivery.redelivery && <span className="chip">redelivery</span>}
            </td>
            <td className="wide">
              <StatusChip delivery={delivery} />
            </td>
            <td className="num nowrap">{millisText(delivery.duration * 1000)}</td>
            <td>
              <code title={delivery.guid}>…{delivery.guid.slice(-8)}</code>
            </td>
            <td className="num">
              <button
                type="button"
                className="button icon small quiet"
                aria-label={`Redeliver ${delivery.id}`}
                title="Redeliver"
                onClick={() => void onRedeliver(delivery.id)}
              >
                <Icon name="refresh" size={14} />
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </TableWrap>
  );
}
