import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { CompiledSelect, CompiledSource } from '../plan/compile/compiled-select.js';
import { runCalls } from './groups/run-calls.js';
import { limitRows, limitSeries } from './series/limit-rows.js';
import { runRaw } from './series/run-raw.js';
import type { Series } from './series/series.js';
import type { Session } from './session.js';

/**
 * Runs a SELECT. Series are sorted by name, then by tags, and their rows by time; series without
 * rows are omitted.
 * Source: query-languages, "InfluxQL: semantics".
 */
export function runSelect(select: CompiledSelect, session: Session): AsyncIterable<Series> {
  const rows = limitRows(allRows(select, session), select.limit, select.offset);
  return limitSeries(rows, select.seriesLimit, select.seriesOffset);
}

async function* allRows(
  select: CompiledSelect,
  session: Session,
): AsyncGenerator<Series, void, undefined> {
  if (select.minNs > select.maxNs) return;
  const task = new TimeSlicedTask(session);
  for (const name of namesOf(select.sources)) {
    session.signal.throwIfAborted();
    await task.yieldIfDue(); // There may be thousands of tables without a matching series.
    const sources = select.sources.flatMap((source) => restricted(source, name));
    const run = select.calls.length === 0 ? runRaw : runCalls;
    for await (const series of run(select, name, sources, session)) {
      await task.yieldIfDue();
      if (series.times.length > 0) yield series;
    }
  }
}

/** Returns the names of all source tables at any depth, ascending. */
function namesOf(sources: readonly CompiledSource[]): string[] {
  const names = new Set<string>();
  const visit = (source: CompiledSource): void => {
    if (source.kind === 'table') names.add(source.name);
    else for (const inner of source.select.sources) visit(inner);
  };
  for (const source of sources) visit(source);
  return [...names].sort(compareByteOrder);
}

/** Restricts a source to the tables of one name. */
function restricted(source: CompiledSource, name: string): CompiledSource[] {
  if (source.kind === 'table') return source.name === name ? [source] : [];
  const sources = source.select.sources.flatMap((inner) => restricted(inner, name));
  return sources.length === 0 ? [] : [{ kind: 'subquery', select: { ...source.select, sources } }];
}
