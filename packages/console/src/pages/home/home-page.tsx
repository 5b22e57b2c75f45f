import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { fetchHealth, type Health } from '../../api/server.js';
import { fetchDatabases, fetchSavedQueries } from '../../api/tsdb.js';
import { CopyBox } from '../../components/controls/copy-button.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TableWrap } from '../../components/controls/table-wrap.js';
import { useLiveState } from '../../components/live/use-live.js';
import { useServer } from '../../components/shell/server-context.js';
import { bytesText, countText, durationText, retentionText } from '../../lib/units.js';
import './home.css';

const SERVICES: Readonly<Record<string, readonly [name: string, what: string, path?: string]>> = {
  tsdb: ['Time series', 'line protocol writes, SQL and InfluxQL queries', '/explore'],
  accounts: ['Accounts', 'accounts, persons and requirements'],
  webhooks: ['Webhooks', 'signed event deliveries to apps, with retries', '/webhooks'],
  ratelimit: ['Rate limits', 'request limits for users, apps and addresses', '/limits'],
  gamedata: ['Game data', 'public collections, versions and an editor'],
};

const HEALTH = ['server', 'health'];

function HealthChip() {
  const { refetchInterval, statusText } = useLiveState<Health>('health', {
    queryKey: HEALTH,
    read: (data) => data,
  });
  const health = useQuery({ queryKey: HEALTH, queryFn: fetchHealth, refetchInterval });
  const obstacle = health.data?.obstacle ?? null;
  return (
    <span role="status">
      {obstacle === null ? (
        <span className="chip good" title={statusText}>
          <Icon name="check" size={12} /> healthy
        </span>
      ) : (
        <span className="chip bad" title={statusText}>
          ✕ {obstacle}
        </span>
      )}
      {refetchInterval !== false && <span className="soft small"> {statusText}</span>}
    </span>
  );
}

/** Shows the health of the server, its services, and the newest databases and saved queries. */
export function HomePage() {
  const info = useServer();
  const hasTables = info.services.includes('tsdb');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Home</h1>
        <HealthChip />
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
      {own.length > 0 && (
        <TableWrap label="Databases">
          <thead>
            <tr>
              <th>Database</th>
              <th className="num">Tables</th>
              <th className="num">Rows</th>
              <th className="num">Files</th>
              <th>Retention</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {own.slice(0, 8).map((each) => (
              <tr key={each.name}>
                <td>
                  <Link to="/data/$db" params={{ db: each.name }}>
                    {each.name}
                  </Link>
                </td>
                <td className="num">{countText(each.table_count)}</td>
                <td className="num">{countText(each.row_count)}</td>
                <td className="num">{bytesText(each.size_bytes)}</td>
                <td>{retentionText(each.retention_ns)}</td>
                <td className="num">
                  <Link to="/explore" search={{ db: each.name }} className="small">
                    Explore
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </TableWrap>
      )}
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
