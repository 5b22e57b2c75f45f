import {
  type Delivery,
  type DeliveryDetail,
  fetchDeliveries,
  fetchDelivery,
  redeliver,
} from '@plinth/console-core/api/webhooks.js';
import { countOf, countText, millisText, timeText } from '@plinth/console-core/lib/units.js';
import {
  attemptText,
  deliveryDuration,
  eventName,
  missingText,
} from '@plinth/console-core/lib/webhooks/delivery-text.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { CopyBox, CopyButton } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { Fact } from '../../components/controls/fact.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { useLetterKey } from '../../components/shell/use-shortcuts.js';
import { StatusChip } from './status-chip.js';

const PARTS = ['response', 'request', 'attempts', 'details'] as const;
const TITLES = {
  response: 'Response',
  request: 'Request',
  attempts: 'Attempts',
  details: 'Details',
};
/** Longer bodies scroll in their own box, so that the headers below stay close. */
const MAX_SHORT_LENGTH = 4000;
/** Longer bodies are cut, so that the page stays responsive. */
const MAX_SHOWN_LENGTH = 200_000;

/** Shows one delivery beside the list. Request and response are rendered as text, for any content type. */
export function DeliveryPanel({ app, id }: { readonly app: string; readonly id: string }) {
  const search = useSearch({ strict: false }) as Record<string, string>;
  const part = PARTS.find((each) => each === search['part']) ?? 'response';
  const navigate = useNavigate();
  const titleId = useId();
  const [isBusy, setIsBusy] = useState(false);
  const found = useQuery({
    queryKey: ['webhooks', 'delivery', app, id],
    queryFn: () => fetchDelivery(app, id),
  });
  const guid = found.data?.guid;
  const attempts = useQuery({
    queryKey: ['webhooks', 'deliveries', app, 'attempts', guid],
    queryFn: () => fetchDeliveries(app, { guid: guid ?? '' }),
    enabled: guid !== undefined,
  });
  const all = attempts.data?.deliveries ?? [];
  const { act, changed } = useChanges('webhooks');
  const [isAsking, setIsAsking] = useState(false);
  useLetterKey('r', () => setIsAsking(true));
  const { data } = found;
  const newest = all.reduce<Delivery | undefined>(
    (last, each) => (last === undefined || each.id > last.id ? each : last),
    undefined,
  );
  const { part: _part, ...list } = search;
  return (
    <aside className="panel-side card" aria-labelledby={titleId}>
      <div className="row wrap">
        <h2 id={titleId}>{data ? eventName(data) : `Delivery ${id}`}</h2>
        {data && <StatusChip delivery={data} />}
        <span className="row end">
          <button
            type="button"
            className="button primary"
            disabled={data === undefined || isBusy}
            onClick={async () => {
              setIsBusy(true);
              await act(() => redeliver(app, id), 'Redelivery queued');
              setIsBusy(false);
            }}
          >
            Redeliver
          </button>
          <button
            type="button"
            className="button icon small quiet"
            aria-label="Close"
            onClick={() => void navigate({ to: '/webhooks/$app', params: { app }, search: list })}
          >
            ✕
          </button>
        </span>
      </div>
      <QueryProblem of={found} />
      {newest !== undefined && newest.id > Number(id) && (
        <p className="note">
          Newer attempt: <StatusChip delivery={newest} />{' '}
          <Link
            to="/webhooks/$app/$delivery"
            params={{ app, delivery: String(newest.id) }}
            search={search}
          >
            View
          </Link>
        </p>
      )}
      <nav className="tabs" aria-label="Delivery sections">
        {PARTS.map((name) => (
          <Link
            key={name}
            to="/webhooks/$app/$delivery"
            params={{ app, delivery: id }}
            search={{ ...search, part: name }}
            replace
            activeOptions={{ explicitUndefined: true }}
            aria-current={name === part ? 'page' : undefined}
          >
            {TITLES[name]}
            {name === 'attempts' && all.length > 1 && ` ${countText(all.length)}`}
          </Link>
        ))}
      </nav>
      {data && part === 'response' && (
        <>
          {data.error !== null && <p className="note bad">{data.error}</p>}
          <MissingNote delivery={data} />
          <Message title="response" message={data.response} />
        </>
      )}
      {data && part === 'request' && <Message title="request" message={data.request} />}
      {data && part === 'attempts' && (
        <DataTable
          label="Attempts"
          rows={attempts.data && all}
          keyOf={(each) => each.id}
          isCurrent={(each) => String(each.id) === id}
          columns={[
            {
              title: 'Time (UTC)',
              className: 'nowrap',
              cell: (each) => (
                <Link
                  to="/webhooks/$app/$delivery"
                  params={{ app, delivery: String(each.id) }}
                  search={search}
                >
                  {timeText(each.delivered_at)}
                </Link>
              ),
            },
            { title: 'Attempt', className: 'nowrap', cell: attemptText },
            { title: 'Result', cell: (each) => <StatusChip delivery={each} /> },
          ]}
        />
      )}
      {data && part === 'details' && <Details delivery={data} />}
      {isAsking && data && (
        <FormDialog
          title={`Redeliver ${eventName(data)}`}
          action="Redeliver"
          canAct
          onClose={() => setIsAsking(false)}
          act={async () => {
            await redeliver(app, id);
            setIsAsking(false);
            await changed('Redelivery queued');
          }}
        >
          <p>The delivery is sent once more, with the same payload and GUID.</p>
        </FormDialog>
      )}
    </aside>
  );
}

function MissingNote({ delivery }: { readonly delivery: DeliveryDetail }) {
  const text = missingText(delivery);
  return text === undefined ? null : <p className="hint">{text}</p>;
}

function Details({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { delivered_at, duration, guid, url, error } = delivery;
  return (
    <dl className="facts">
      <Fact name="Started (UTC)" value={timeText(delivered_at)} />
      <Fact name="Duration" value={deliveryDuration(duration, millisText)} />
      <Fact name="Attempt" value={attemptText(delivery)} />
      <Fact name="URL" value={url} />
      <Fact name="GUID" value={guid} />
      <Fact name="Recorded status" value={`${delivery.status_code} ${delivery.status}`} />
      <Fact name="Error" value={error ?? 'none'} />
    </dl>
  );
}

function Message(props: {
  readonly title: string;
  readonly message: DeliveryDetail['request'] | null;
}) {
  const { title, message } = props;
  const headers = Object.entries(message?.headers ?? {});
  const payload = message?.payload ?? null;
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  if (headers.length === 0 && payload === null)
    return <p className="empty soft">No {title} was recorded.</p>;
  return (
    <>
      {payload !== null &&
        (text.length <= MAX_SHORT_LENGTH ? (
          <CopyBox label={`Copy the ${title} body`} text={text} />
        ) : (
          <LongBody title={title} text={text} />
        ))}
      <DataTable
        label={title === 'request' ? 'Request headers' : 'Response headers'}
        rows={headers}
        keyOf={([name]) => name}
        columns={[
          { title: 'Header', cell: ([name]) => name },
          { title: 'Value', className: 'wide', cell: ([, value]) => <code>{value}</code> },
        ]}
      />
    </>
  );
}

function LongBody({ title, text }: { readonly title: string; readonly text: string }) {
  const all = countOf(text.length, 'character');
  return (
    <>
      <p className="hint row">
        {text.length > MAX_SHOWN_LENGTH
          ? `Showing the first ${countText(MAX_SHOWN_LENGTH)} of ${all}`
          : all}
        <CopyButton text={text} label={`Copy the ${title} body`} showsLabel />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <section className="copy-box shown-part" aria-label={`Body of the ${title}`} tabIndex={0}>
        <pre>{text.slice(0, MAX_SHOWN_LENGTH)}</pre>
      </section>
    </>
  );
}
