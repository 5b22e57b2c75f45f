import type { ServerInfo } from '@plinth/console-core/api/server.js';
import { fetchDatabases, fetchSavedQueries } from '@plinth/console-core/api/tsdb.js';
import { setStartList, startList } from '@plinth/console-core/lib/storage/start-list.js';
import {
  bytesText,
  countText,
  durationText,
  retentionText,
  timeText,
} from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { CopyBox } from '../../components/controls/copy-button.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useServer } from '../../components/shell/server-context.js';
import './home.css';
import type { Problem } from './problems.js';

const StartList = lazy(() => import('./start-list.js').then((m) => ({ default: m.StartList })));
const Totals = lazy(() => import('./totals.js').then((m) => ({ default: m.Totals })));
const Tiles = lazy(() => import('./tiles.js').then((m) => ({ default: m.Tiles })));

const SERVICES: Readonly<Record<string, readonly [name: string, what: string, path?: string]>> = {
  tsdb: ['Time series', 'line protocol writes, SQL and InfluxQL queries', '/explore'],
  accounts: ['Accounts', 'accounts, persons and requirements', '/accounts'],
  webhooks: ['Webhooks', 'signed event deliveries to apps, with retries', '/webhooks'],
  ratelimit: ['Rate limits', 'request limits for users, apps and addresses', '/limits'],
  gamedata: ['Game data', 'public collections, versions and an editor', '/gamedata'],
};

const PROBLEMS_MS = 15_000;

/** The problems of the services; the chip in the heading counts them. */
function useProblems(info: ServerInfo) {
  return useQuery({
    queryKey: ['server', 'problems', info.services],
    queryFn: async () => (await import('./problems.js')).fetchProblems(info),
    refetchInterval: PROBLEMS_MS,
    retry: false,
  });
}

/** The first steps appear on a server without databases, and stay until they are done or dismissed. */
function useStartList(isNew: boolean) {
  const [state, setState] = useState(startList);
  const change = useCallback((next: 'shown' | 'dismissed') => {
    setStartList(next);
    setState(next);
  }, []);
  useEffect(() => {
    if (isNew && state === null) change('shown');
  }, [isNew, state, change]);
  return { isShown: state === 'shown', dismiss: () => change('dismissed') };
}

function ProblemChip({ count }: { readonly count: number }) {
  return count === 0 ? (
    <span className="chip good">
      <Icon name="check" size={12} /> No problems
    </span>
  ) : (
    <span className="chip bad">✕ {count === 1 ? '1 problem' : `${count} problems`}</span>
  );
}

function ProblemList({ problems }: { readonly problems: readonly Problem[] }) {
  return (
    <section className="card problems" aria-labelledby="problems-title">
      <h2 id="problems-title">Needs attention ({problems.length})</h2>
      <ul>
        {problems.map(({ isBad, text, links }) => (
          <li key={text} className="row">
            <span className={isBad ? 'bad' : 'warn'} aria-hidden="true">
              {isBad ? '✕' : '⚠'}
            </span>
            <span className="grow">{text}</span>
            {links.map(({ label, to, search }) => (
              <Link key={label} to={to} search={search ?? {}} className="button small">
                {label}
              </Link>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows the problems and the load of the services, and the newest databases and saved queries. */
export function HomePage() {
  const info = useServer();
  const hasTables = info.services.includes('tsdb');
  const problems = useProblems(info);
  const databases = useQuery({
    queryKey: ['tsdb', 'databases'],
    queryFn: () => fetchDatabases(),
    enabled: hasTables,
  });
  const isNew = databases.data?.every(({ name }) => name === '_internal') === true;
  const list = useStartList(isNew);
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Home</h1>
        <span role="status">{problems.data && <ProblemChip count={problems.data.length} />}</span>
        <span className="soft small">
          plinth {info.version}
          {info.started && info.now && (
            <>
              {' · up '}
              {durationText((Date.parse(info.now) - Date.parse(info.started)) / 1000)}
            </>
          )}
          {info.cores !== undefined && ` · ${info.cores} cores`}
          {info.relational_store !== undefined && ` · ${info.relational_store}`}
        </span>
      </header>
      <QueryProblem of={problems} />
      {problems.data !== undefined && problems.data.length > 0 && (
        <ProblemList problems={problems.data} />
      )}
      <Suspense>
        {list.isShown && <StartList info={info} onDismiss={list.dismiss} />}
        {(hasTables || info.services.includes('webhooks')) && <Tiles services={info.services} />}
        <Totals services={info.services} />
      </Suspense>
      <section aria-labelledby="services-title" className="stack">
        <h2 id="services-title">Services</h2>
        <div className="home-cards">
          {info.services.map((service) => {
            const [name, what, path] = SERVICES[service] ?? [service, ''];
            return (
              <div key={service} className="card home-card">
                <h3>{name}</h3>
                <p className="soft small">{what}</p>
                {path ? (
                  <Link to={path} className="small">
                    Open
                  </Link>
                ) : (
                  <span className="soft small">API and command line only</span>
                )}
              </div>
            );
          })}
        </div>
      </section>
      {hasTables && <Databases />}
      {hasTables && <Saved />}
    </div>
  );
}

function Databases() {
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const own = databases.data?.filter(({ name }) => name !== '_internal') ?? [];
  return (
    <section aria-labelledby="databases-title" className="stack">
      <h2 id="databases-title">Databases</h2>
      <QueryProblem of={databases} />
      {databases.data !== undefined && own.length === 0 && (
        <div className="card empty">
          <p className="soft">
            No databases yet. The first line written to a database creates it. You can also load
            sample data in Explore.
          </p>
          <Link to="/explore" className="button primary">
            Open Explore
          </Link>
          <CopyBox
            label="Copy command"
            text={`curl "${location.origin}/api/v3/write_lp?db=mydb" -H "Authorization: Bearer $PLINTH_TOKEN" --data-binary 'cpu,host=a usage=12.5'`}
          />
        </div>
      )}
      <DataTable
        label="Databases"
        rows={own.slice(0, 8)}
        keyOf={(each) => each.name}
        columns={[
          {
            title: 'Database',
            cell: (each) => (
              <Link to="/data/$db" params={{ db: each.name }}>
                {each.name}
              </Link>
            ),
          },
          { title: 'Tables', className: 'num', cell: (each) => countText(each.table_count) },
          { title: 'Rows', className: 'num', cell: (each) => countText(each.row_count) },
          { title: 'Files', className: 'num', cell: (each) => bytesText(each.size_bytes) },
          {
            title: 'Newest row (UTC)',
            className: 'nowrap',
            cell: ({ max_time }) =>
              max_time === null ? '–' : timeText(Number(BigInt(max_time) / 1_000_000n)),
          },
          { title: 'Retention', cell: (each) => retentionText(each.retention_ns) },
          {
            ...ACTIONS,
            cell: (each) => (
              <Link to="/explore" search={{ db: each.name }} className="small">
                Explore
              </Link>
            ),
          },
        ]}
      />
      {own.length > 8 && (
        <p className="small">
          8 of {countText(own.length)} databases. <Link to="/data">View all</Link>
        </p>
      )}
    </section>
  );
}

function Saved() {
  const saved = useQuery({ queryKey: ['tsdb', 'saved-queries'], queryFn: fetchSavedQueries });
  const newest = [...(saved.data ?? [])]
    .sort((a, b) => b.updated_at.localeCompare(a.updated_at))
    .slice(0, 6);
  if (newest.length === 0) return null;
  return (
    <section aria-labelledby="saved-title" className="stack">
      <h2 id="saved-title">Saved queries</h2>
      <div className="home-cards">
        {newest.map(({ id, name, db, lang, created_by }) => (
          <Link
            key={id}
            to="/explore/$savedId"
            params={{ savedId: id }}
            className="card home-card home-link"
          >
            <h3>{name}</h3>
            <span className="soft small">
              {db} · {lang === 'sql' ? 'SQL' : 'InfluxQL'} · {created_by ?? 'without a token'}
            </span>
          </Link>
        ))}
      </div>
    </section>
  );
}
