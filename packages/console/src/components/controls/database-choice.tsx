import { fetchDatabases } from '@plinth/console-core/api/tsdb.js';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { useSearchParams } from '../search/use-search-params.js';

/** The database in the address or, without one, the first database other than `_internal`. */
export function useDatabase(): { readonly db: string; readonly names: readonly string[] } {
  const [{ db = '' }] = useSearchParams();
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const names = (databases.data ?? []).map(({ name }) => name);
  const first = names.find((name) => name !== '_internal') ?? names[0] ?? '';
  return {
    db: db === '' ? first : db,
    names: names.includes(db) || db === '' ? names : [db, ...names],
  };
}

export function DatabaseChoice(props: {
  readonly path: '/caches' | '/triggers' | '/storage';
  readonly db: string;
  readonly names: readonly string[];
}) {
  const { path, db, names } = props;
  const navigate = useNavigate();
  const id = useId();
  return (
    <span className="row small">
      <label htmlFor={id}>Database</label>
      <select
        id={id}
        className="input"
        value={db}
        onChange={(event) => void navigate({ to: path, search: { db: event.target.value } })}
      >
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </span>
  );
}
