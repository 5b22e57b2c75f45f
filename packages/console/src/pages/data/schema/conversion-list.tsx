import {
  type Conversion,
  cancelConversion,
  fetchConversions,
} from '@plinth/console-core/api/tsdb.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTask } from '../../../components/controls/use-task.js';

const POLL_MS = 1000;

/** The conversions of a table since the server started, with their progress. */
export function ConversionList({ db, table }: { readonly db: string; readonly table: string }) {
  const client = useQueryClient();
  const page = useQuery({
    queryKey: ['tsdb', 'conversions'],
    queryFn: fetchConversions,
    refetchInterval: ({ state }) =>
      state.data?.some((each) => each.state === 'running') === true ? POLL_MS : false,
  });
  const own = page.data?.filter((each) => each.db === db && each.table === table) ?? [];
  const completed = own.filter(({ state }) => state === 'completed').length;
  // The columns of the table have changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when a conversion completes.
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ['tsdb', 'table', db, table] });
  }, [completed]);
  if (own.length === 0) return null;
  return (
    <ul className="card" aria-label="Conversions">
      {own.map((conversion) => (
        <ConversionItem key={conversion.id} conversion={conversion} />
      ))}
    </ul>
  );
}

function ConversionItem({ conversion }: { readonly conversion: Conversion }) {
  const { run, isBusy } = useTask();
  const { id, column, from, to, state, row_count, copied_count, error } = conversion;
  const percent = Math.min(100, Math.floor((100 * copied_count) / Math.max(1, row_count)));
  return (
    <li>
      <code>{column}</code> from {from} to {to}: {state}
      {state === 'running' && (
        <>
          {`, ${percent} % `}
          <button
            type="button"
            className="button small quiet"
            disabled={isBusy}
            onClick={() => void run(() => cancelConversion(id))}
          >
            Cancel
          </button>
        </>
      )}
      {error !== null && `, ${error}`}
    </li>
  );
}
