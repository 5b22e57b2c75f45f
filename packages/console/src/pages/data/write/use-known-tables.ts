import { useQueries } from '@tanstack/react-query';
import { Problem } from '../../../api/problem.js';
import { fetchTable } from '../../../api/tsdb.js';
import { useDelayed } from '../../../components/controls/use-delayed.js';
import type { KnownColumns } from '../../../lib/line-protocol/schema-change.js';

const ASK_AFTER_MS = 250;

/** Columns of each of the tables; `new`: there is no such table. `undefined`: not known, or not yet. */
export function useKnownTables(
  db: string,
  tables: readonly string[],
): readonly (KnownColumns | 'new' | undefined)[] {
  const delayedDb = useDelayed(db, ASK_AFTER_MS);
  const answers = useQueries({
    queries: tables.map((name) => ({
      queryKey: ['tsdb', 'table', delayedDb, name],
      queryFn: () => fetchTable(delayedDb, name),
      enabled: delayedDb !== '' && name !== '',
    })),
  });
  if (delayedDb !== db) return [];
  return answers.map(({ data, error }, index) => {
    // There is no such database.
    if (error instanceof Problem && error.status === 404) return 'new';
    const found = data?.tables.find(({ name }) => name === tables[index]);
    if (data === undefined || found !== undefined) return found?.columns;
    return data.table_count > data.tables.length ? undefined : 'new';
  });
}
