import { Problem } from '@plinth/console-core/api/problem.js';
import { fetchTable } from '@plinth/console-core/api/tsdb.js';
import type { KnownColumns } from '@plinth/console-core/lib/line-protocol/schema-change.js';
import { useQueries } from '@tanstack/react-query';
import { useDelayed } from '../../../components/controls/use-delayed.js';

const ASK_AFTER_MS = 250;

/** Returns the columns of each table; `new` for a table that does not exist, `undefined` while unknown. */
export function useKnownTables(
  db: string,
  tables: readonly string[],
): readonly (KnownColumns | 'new' | undefined)[] {
  const delayedDb = useDelayed(db, ASK_AFTER_MS);
  const responses = useQueries({
    queries: tables.map((name) => ({
      queryKey: ['tsdb', 'table', delayedDb, name],
      queryFn: () => fetchTable(delayedDb, name),
      enabled: delayedDb !== '' && name !== '',
    })),
  });
  if (delayedDb !== db) return [];
  return responses.map(({ data, error }, index) => {
    // The database does not exist.
    if (error instanceof Problem && error.status === 404) return 'new';
    const found = data?.tables.find(({ name }) => name === tables[index]);
    if (data === undefined || found !== undefined) return found?.columns;
    return data.table_count > data.tables.length ? undefined : 'new';
  });
}
