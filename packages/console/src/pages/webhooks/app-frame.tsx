import { type App, fetchApp, ping, suspend } from '@plinth/console-core/api/webhooks.js';
import { millisText } from '@plinth/console-core/lib/units.js';
import {
  deliveryCount,
  deliveryDuration,
  deliveryFigures,
} from '@plinth/console-core/lib/webhooks/delivery-text.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { NotFound } from '../../components/shell/not-found.js';
import { AppState } from './apps-page.js';
import './webhooks.css';

const REFRESH_MS = 5000;
const TABS = [
  ['/webhooks/$app', 'Deliveries'],
  ['/webhooks/$app/configuration', 'Configuration'],
  ['/webhooks/$app/redrive', 'Redrive'],
  ['/webhooks/$app/publish', 'Publish'],
] as const;

const isId = (text: string | undefined): boolean => text === undefined || /^[1-9]\d*$/.test(text);

/** The heading and tabs of all pages of an app. */
export function AppFrame(props: {
  readonly tab: (typeof TABS)[number][0];
  readonly children: (app: App) => ReactNode;
}) {
  const { app = '', delivery } = useParams({ strict: false }) as Record<string, string>;
  const found = useQuery({
    queryKey: ['webhooks', 'app', app],
    queryFn: () => fetchApp(app),
    enabled: isId(app),
    refetchInterval: REFRESH_MS,
  });
  const { act } = useChanges('webhooks');
  if (!isId(app) || !isId(delivery)) return <NotFound />;
  const { data } = found;
  const isSuspended = data?.suspended_at != null;
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/webhooks" search={{ all: '1' }}>
            Webhooks
          </Link>
        </nav>
        <h1 tabIndex={-1}>{data?.name ?? `App ${app}`}</h1>
        {data && <AppState app={data} />}
        {data && <Figures app={data} />}
        {data && (
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
              className="button"
              onClick={() => void act(() => ping(app), 'Ping sent')}
            >
              Send ping
            </button>
          </span>
        )}
      </header>
      <QueryProblem of={found} />
      <nav className="tabs" aria-label="App sections">
        {TABS.map(([path, label]) => (
          <Link
            key={path}
            to={path}
            params={{ app }}
            activeOptions={{ exact: true, includeSearch: false }}
            aria-current={path === props.tab ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {data && props.children(data)}
    </div>
  );
}

function Figures({ app }: { readonly app: App }) {
  const figures = app.hook ? deliveryFigures(app.hook.last_hour) : undefined;
  if (figures === undefined) return null;
  const { successPercent, count, p95Sec } = figures;
  return (
    <span className="soft small">
      {successPercent} % of {deliveryCount(count)} in the last hour succeeded · p95{' '}
      {deliveryDuration(p95Sec, millisText)}
    </span>
  );
}
