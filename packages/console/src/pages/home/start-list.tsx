import { fetchTriggers } from '@plinth/console-core/api/processing.js';
import type { ServerInfo } from '@plinth/console-core/api/server.js';
import { type Database, fetchDatabases, fetchTokens } from '@plinth/console-core/api/tsdb.js';
import { fetchApps } from '@plinth/console-core/api/webhooks.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readHistory } from '../explore/run-history.js';

/** The triggers of each database require their own request. */
const MAX_CHECKED = 20;
/** The token of the first sign-in. */
const OPERATOR = '_admin';

interface Step {
  readonly text: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly isDone: boolean;
}

/** The first steps on a new server, until they are done or dismissed. */
export function StartList(props: { readonly info: ServerInfo; readonly onDismiss: () => void }) {
  const { info, onDismiss } = props;
  const steps = useQuery({
    queryKey: ['server', 'start-list', info.services, info.auth],
    queryFn: () => fetchSteps(info),
    retry: false,
  });
  if (steps.data === undefined || steps.data.every(({ isDone }) => isDone)) return null;
  return (
    <section className="card start-list" aria-labelledby="start-title">
      <div className="row">
        <h2 id="start-title">Get started</h2>
        <button type="button" className="button small quiet end" onClick={onDismiss}>
          Dismiss
        </button>
      </div>
      <ul>
        {steps.data.map(({ text, to, search, isDone }) => (
          <li key={text} className="row">
            <span className={isDone ? 'good' : 'soft'} aria-hidden="true">
              {isDone ? '✓' : '○'}
            </span>
            <Link to={to} search={search ?? {}}>
              {text}
            </Link>
            {isDone && <span className="soft small">done</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

async function fetchSteps({ services, auth }: ServerInfo): Promise<readonly Step[]> {
  const has = (service: string): boolean => services.includes(service);
  const databases = has('tsdb') ? await fetchDatabases() : [];
  const own = databases.filter(({ name }) => name !== '_internal');
  return [
    ...(has('tsdb')
      ? [
          {
            ...{ text: 'Write data', to: '/data', search: { write: '1' } },
            isDone: own.some(({ row_count }) => row_count > 0),
          },
          {
            ...{ text: 'Run a query', to: '/explore' },
            isDone: (await readHistory()).length > 0,
          },
        ]
      : []),
    ...(has('tsdb') && auth
      ? [
          {
            ...{
              text: 'Create a token for an application',
              to: '/tokens',
              search: { create: '1' },
            },
            isDone: (await fetchTokens()).some(({ name }) => name !== OPERATOR),
          },
        ]
      : []),
    ...(has('webhooks')
      ? [
          {
            ...{ text: 'Create a webhook', to: '/webhooks' },
            isDone: (await fetchApps()).length > 0,
          },
        ]
      : []),
    ...(has('tsdb')
      ? [
          {
            ...{ text: 'Create a trigger', to: '/triggers', search: { create: '1' } },
            isDone: await hasTriggers(own),
          },
        ]
      : []),
  ];
}

async function hasTriggers(databases: readonly Database[]): Promise<boolean> {
  const checked = databases.slice(0, MAX_CHECKED);
  const lists = await Promise.all(checked.map(({ name }) => fetchTriggers(name)));
  return lists.some((triggers) => triggers.length > 0);
}
