import type { DirectLastRows, DirectRequest } from '../../../model/direct-request.js';
import type { ResultChunk } from '../../../model/result.js';
import type { SeriesIndex } from '../series-index.js';
import { timeAt } from './part.js';
import { type PickedRows, RowChunks } from './row-chunks.js';
import { type Runs, runsWithin } from './runs.js';
import { SeriesGroups } from './series-groups.js';
import type { LoadedRows } from './table-columns.js';

const CHUNK_ROWS = 2048;
const MAX_SOURCES = 65_535;

/** The latest row of each combination of tags. */
export function answerLastRows(ask: {
  readonly request: DirectRequest;
  readonly answer: DirectLastRows;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
  readonly series: readonly number[] | undefined;
}): Iterable<ResultChunk> | undefined {
  const { request, answer, loaded, index } = ask;
  if (loaded.length > MAX_SOURCES) return undefined;
  const runs = runsWithin(loaded, ask.series, request);
  const tags = answer.by.flatMap(({ key }) => (key.kind === 'tag' ? [key.tag] : []));
  const groups = new SeriesGroups(index, tags);
  const latest = latestRuns(runs, loaded, groups);
  const order = groups.sorted(answer.by);
  const picked: PickedRows = {
    sources: Uint16Array.from(order, (group) => runs.source[latest[group] as number] as number),
    rows: Uint32Array.from(order, (group) => (runs.to[latest[group] as number] as number) - 1),
    series: Uint32Array.from(order, (group) => runs.series[latest[group] as number] as number),
  };
  return chunksOf(new RowChunks({ loaded, columns: answer.columns, index }), picked);
}

/** By group, the run that ends last. */
function latestRuns(runs: Runs, loaded: readonly LoadedRows[], groups: SeriesGroups): number[] {
  const latest: number[] = [];
  const lastTimes: bigint[] = [];
  // Parts that begin later come first: most runs of the others are then known to be earlier without a look.
  const places = Array.from(runs.source.keys());
  const bases = loaded.map(({ part }) => part.baseNs);
  places.sort((a, b) => {
    const [x, y] = [bases[runs.source[a] as number], bases[runs.source[b] as number]];
    return x === y ? a - b : (x as bigint) < (y as bigint) ? 1 : -1;
  });
  const ends = loaded.map(({ part }) => part.baseNs + BigInt(part.maxOffset * part.unitNs));
  for (const run of places) {
    const group = groups.groupOf(runs.series[run] as number);
    const source = runs.source[run] as number;
    const before = lastTimes[group];
    if (before !== undefined && (ends[source] as bigint) <= before) continue;
    const { part } = loaded[source] as LoadedRows;
    const time = timeAt(part, (runs.to[run] as number) - 1);
    if (before !== undefined && time <= before) continue;
    latest[group] = run;
    lastTimes[group] = time;
  }
  return latest;
}

function* chunksOf(chunks: RowChunks, picked: PickedRows): Generator<ResultChunk, void, undefined> {
  for (let from = 0; from < picked.rows.length; from += CHUNK_ROWS)
    yield chunks.chunk(picked, from, Math.min(picked.rows.length, from + CHUNK_ROWS));
}
