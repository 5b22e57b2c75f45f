import type { TableStorage } from '@plinth/tsdb-catalog/overview.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { ShowServer } from '../ast/statements.js';
import type { Value } from '../plan/data-type.js';
import { completeResult, type ResultSeries, type StatementResult } from '../result.js';

/** Server facts, with the groups and names of a 1.x server. */
export interface Diagnostic {
  readonly name: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** Statistics, with the groups and names of a 1.x server. */
export interface Statistic {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, number>>;
}

/** Statistics, diagnostics and storage locations of the server. */
export interface ServerDiagnostics {
  statistics(): Promise<readonly Statistic[]>;
  diagnostics(): readonly Diagnostic[];
  storageOf(table: TableSchema): TableStorage;
}

type Group = Diagnostic & { readonly tags?: Statistic['tags'] };

/**
 * Returns one series per group, with its own columns and tags, sorted by column name. Source:
 * InfluxDB 1.x.
 */
export async function showServer(
  show: ShowServer,
  diagnostics: ServerDiagnostics,
): Promise<StatementResult> {
  const groups: readonly Group[] =
    show.what === 'STATS' ? await diagnostics.statistics() : diagnostics.diagnostics();
  const selected = groups.filter(({ name }) => show.group === undefined || name === show.group);
  return completeResult([], selected.map(seriesOf));
}

function seriesOf({ name, tags = {}, values }: Group): ResultSeries {
  const names = Object.keys(values).sort();
  const tagNames = Object.keys(tags).sort();
  const row = names.map((column) => cellOf(values[column]));
  const columns = names.map((column, i) => {
    const type = typeof row[i] === 'bigint' ? ('integer' as const) : ('string' as const);
    return { name: column, type };
  });
  return {
    name,
    tags: tagNames.map((tag) => tags[tag] ?? ''),
    rowCount: 1,
    columns: row.map((value) => [value]),
    heading: { columns, tagNames },
  };
}

const cellOf = (value: string | number | undefined): Value =>
  typeof value === 'number' ? BigInt(Math.round(value)) : (value ?? null);
