import { fetchDatabases } from '@plinth/console-core/api/tsdb.js';
import { lastDatabase } from '@plinth/console-core/lib/storage/last-database.js';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { useSearchParams } from '../search/use-search-params.js';

const INTERNAL = '_internal';
/** Each database requires its own requests, so that lists of all databases are limited. */
const MAX_LISTED = 20;

/** The names of the databases, and the one to preselect: in the address, or the last used or first one. */
export function useDatabase(): { readonly db: string; readonly names: readonly string[] } {
  const [{ db = '' }] = useSearchParams();
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const names = (databases.data ?? []).map(({ name }) => name);
  const last = names.find((name) => name === lastDatabase());
  const first = last ?? names.find((name) => name !== INTERNAL) ?? names[0] ?? '';
  return {
    db: db === '' ? first : db,
    names: names.includes(db) || db === '' ? names : [db, ...names],
  };
}

/**
 * The objects of the database in the address, or of all databases.
 * @param refetchMs the interval of refreshes, for lists that change by themselves.
 */
export function useOfDatabases<Row>(
  what: string,
  fetch: (db: string) => Promise<readonly Row[]>,
  refetchMs?: number,
) {
  const [{ db = '' }] = useSearchParams();
  const { db: preset, names } = useDatabase();
  const own = names.filter((name) => name !== INTERNAL);
  const all = db === '' ? own : [db];
  const listed = all.slice(0, MAX_LISTED);
  const rows = useQuery({
    queryKey: ['tsdb', what, 'of', listed],
    queryFn: () => fetchOfEach(listed, fetch),
    enabled: names.length > 0,
    refetchInterval: refetchMs ?? false,
  });
  return {
    ...{ db, names, rows, leftCount: all.length - listed.length },
    /** For a form; without a database other than the server's own, it cannot be opened. */
    choice: { preset: own.includes(preset) ? preset : '', names: own },
  };
}

/** Fetches the objects of each database, and adds the name of their database. */
export async function fetchOfEach<Row>(
  dbs: readonly string[],
  fetch: (db: string) => Promise<readonly Row[]>,
): Promise<readonly (Row & { readonly db: string })[]> {
  const ofDatabase = async (db: string) => (await fetch(db)).map((row) => ({ ...row, db }));
  return (await Promise.all(dbs.map(ofDatabase))).flat();
}

/** Reports that a list omits some databases. */
export function LeftOut({ count }: { readonly count: number }) {
  return count <= 0 ? null : (
    <p className="hint soft">
      The list covers {MAX_LISTED} databases. To list the objects of one of the other {count},
      select it.
    </p>
  );
}

export function DatabaseChoice(props: {
  readonly path: '/caches' | '/triggers' | '/storage';
  /** Empty for all databases. */
  readonly db: string;
  readonly names: readonly string[];
  readonly hasAll?: boolean;
}) {
  const { path, db, names, hasAll = false } = props;
  const navigate = useNavigate();
  return (
    <span className="row small">
      <DatabaseSelect
        db={db}
        names={names}
        hasAll={hasAll}
        onChange={(chosen) =>
          void navigate({ to: path, search: chosen === '' ? {} : { db: chosen } })
        }
      />
    </span>
  );
}

/** A field of a form. */
export function DatabaseField(props: {
  readonly db: string;
  readonly names: readonly string[];
  readonly onChange: (db: string) => void;
}) {
  return (
    <div className="field">
      <DatabaseSelect {...props} hasAll={false} />
    </div>
  );
}

function DatabaseSelect(props: {
  readonly db: string;
  readonly names: readonly string[];
  readonly hasAll: boolean;
  readonly onChange: (db: string) => void;
}) {
  const { db, names, hasAll, onChange } = props;
  const id = useId();
  return (
    <>
      <label htmlFor={id}>Database</label>
      <select
        id={id}
        className="input"
        value={db}
        onChange={(event) => onChange(event.target.value)}
      >
        {hasAll && <option value="">All databases</option>}
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </>
  );
}
