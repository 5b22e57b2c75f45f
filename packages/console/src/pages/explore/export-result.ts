import { download } from '@plinth/console-core/api/download.js';
import { type QueryText, queryLink } from '@plinth/console-core/api/tsdb.js';
import type { MenuEntry } from '../../components/controls/menu-button.js';
import { toast } from '../../components/controls/toasts.js';
import type { RunState } from './hooks/use-run.js';

const FORMATS = [
  ['csv', 'CSV', 'csv'],
  ['jsonl', 'JSON lines', 'jsonl'],
  ['json_rows', 'JSON', 'json'],
  ['parquet', 'Parquet', 'parquet'],
] as const;

/** Exports the complete result. The server writes the file, in Parquet only for SQL. */
export const exportEntries = (
  sent: () => QueryText | undefined,
  state: RunState,
): readonly MenuEntry[] =>
  FORMATS.filter(([format]) => format !== 'parquet' || sent()?.lang !== 'influxql').map(
    ([format, label, ending]) => ({
      id: format,
      label: `Download ${label}`,
      ...(format === 'csv' && { hint: 'the complete result, including rows not shown' }),
      act: () => {
        const query = state.result?.ran.query ?? sent();
        if (query === undefined) return;
        const table = /\bfrom\s+"?([\w-]+)/i.exec(query.text)?.[1] ?? 'result';
        const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
        download({
          path: queryLink(query, format),
          filename: `${query.db}-${table}-${stamp}.${ending}`,
        }).catch((error: unknown) =>
          toast(error instanceof Error ? error.message : String(error), true),
        );
      },
    }),
  );
