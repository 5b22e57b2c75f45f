import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useId } from 'react';
import { type DeliveryDetail, fetchDelivery, redeliver } from '../../api/webhooks.js';
import { CopyBox } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { Fact } from '../../components/controls/fact.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { millisText } from '../../lib/units.js';
import { StatusChip } from './status-chip.js';

/** Shows the request and the response of a delivery. Both are rendered as text, for any content type. */
export function DeliveryPage() {
  const { app, delivery: id } = useParams({ strict: false }) as { app: string; delivery: string };
  const found = useQuery({
    queryKey: ['webhooks', 'delivery', app, id],
    queryFn: () => fetchDelivery(app, id),
  });
  const { act } = useChanges('webhooks');
  const { data } = found;
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/webhooks">Webhooks</Link> /{' '}
          <Link to="/webhooks/$app" params={{ app }}>
            app {app}
          </Link>
        </nav>
        <h1 tabIndex={-1}>{data ? `${data.event}${data.action ? `.${data.action}` : ''}` : id}</h1>
        {data && <StatusChip delivery={data} />}
        <button
          type="button"
          className="button primary end"
          onClick={() => void act(() => redeliver(app, id), 'Redelivery requested')}
        >
          Redeliver{' '}
        </button>
      </header>
      <QueryProblem of={found} />
      {data && <Detail delivery={data} app={app} />}
    </div>
  );
}

function Detail({ delivery, app }: { readonly delivery: DeliveryDetail; readonly app: string }) {
  const { delivered_at, duration, guid, url, redelivery, request, response } = delivery;
  return (
    <>
      <dl className="facts card">
        <Fact name="Time (UTC)" value={delivered_at.slice(0, 19).replace('T', ' ')} />
        <Fact name="Duration" value={millisText(duration * 1000)} />
        <Fact name="URL" value={url} />
        <Fact name="Kind" value={redelivery ? 'redelivery' : 'first attempt or retry'} />
      </dl>
      <p className="small">
        <Link to="/webhooks/$app" params={{ app }} search={{ guid }}>
          All attempts of {guid}
        </Link>
      </p>
      <Part title="Request" message={request} />
      <Part title="Response" message={response} />
    </>
  );
}

function Part(props: {
  readonly title: string;
  readonly message: DeliveryDetail['request'] | null;
}) {
  const { title, message } = props;
  const id = useId();
  const headers = Object.entries(message?.headers ?? {});
  const payload = message?.payload ?? null;
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  return (
    <section className="stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {headers.length === 0 && payload === null ? (
        <p className="card empty soft">None recorded.</p>
      ) : (
        <>
          <DataTable
            label={`Headers of the ${title.toLowerCase()}`}
            rows={headers}
            keyOf={([name]) => name}
            columns={[
              { title: 'Header', cell: ([name]) => name },
              { title: 'Value', className: 'wide', cell: ([, value]) => <code>{value}</code> },
            ]}
          />
          {payload !== null && <CopyBox label={`Copy the ${title.toLowerCase()}`} text={text} />}
        </>
      )}
    </section>
  );
}
