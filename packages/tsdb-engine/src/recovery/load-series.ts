import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { mixedParquetFrom } from '../scan/sources.js';
import type { TableStore } from '../table/table-store.js';

const SERIES: OutputColumn = {
  name: '_series',
  type: { kind: 'int', bits: 64, signed: true },
  tableColumnKind: undefined,
};

/** Reads the series of Parquet files into a table's index, one chunk per event-loop tick. */
export async function loadSeries(options: {
  readonly store: TableStore;
  readonly duckDb: DuckDbHost;
  readonly paths: readonly string[];
  /**
   * Rows up to this time may be stored already: for a loaded series, only later rows are known to
   * be new points.
   */
  readonly floorNs: bigint;
  /** True if the files have many rows per series. */
  readonly areSegments: boolean;
}): Promise<void> {
  const { store, duckDb, paths, floorNs } = options;
  if (paths.length === 0) return;
  const from = mixedParquetFrom(paths);
  const described = await duckDb.rows(`DESCRIBE SELECT * FROM ${from}`);
  const present = new Set(described.map(([name]) => String(name)));
  const tags = [...store.schema.columns.values()].filter(
    (column) => column.kind === 'tag' && present.has(column.physicalName),
  );
  const list = ['_series', ...tags.map((tag) => quoteName(tag.physicalName))].join(', ');
  const chunks = duckDb.stream({
    text: `SELECT ${options.areSegments ? 'DISTINCT ' : ''}${list} FROM ${from}`,
    columns: [
      SERIES,
      ...tags.map(
        ({ name }): OutputColumn => ({ name, type: { kind: 'utf8' }, tableColumnKind: undefined }),
      ),
    ],
    // The load is never aborted, because the complete index is needed.
    signal: new AbortController().signal,
    isMaterialized: false,
    isBackground: true,
  });
  const names = tags.map(({ name }) => name);
  for await (const chunk of chunks) {
    await duckDb.yielder.next();
    loadChunk(store, chunk, names, floorNs);
  }
}

function loadChunk(
  { series: { index } }: TableStore,
  { rowCount, columns }: ResultChunk,
  names: readonly string[],
  floorNs: bigint,
): void {
  const [ids, ...tags] = columns;
  const areAllPresent = tags.every(({ validity }) => validity === undefined);
  const texts = tags.map(({ values }) => values as ArrayLike<string>); // tag columns contain strings
  for (let row = 0; row < rowCount; row++) {
    // DuckDB returns 64-bit integers in one of these forms
    const id = BigInt(ids?.values[row] as bigint | number);
    if (areAllPresent) {
      index.load(
        id,
        names,
        texts.map((values) => values[row] as string),
        floorNs,
      );
      continue;
    }
    const keys: string[] = [];
    const values: string[] = [];
    tags.forEach(({ validity }, i) => {
      if (!isValid(validity, row)) return;
      keys.push(names[i] as string);
      values.push(texts[i]?.[row] as string);
    });
    index.load(id, keys, values, floorNs);
  }
}
