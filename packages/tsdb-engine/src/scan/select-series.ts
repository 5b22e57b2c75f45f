import type { TagCondition } from '@plinth/tsdb-model/scan.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../series/series-index.js';
import type { ScanTextOptions } from './scan-text.js';

/**
 * Maximum number of series listed in a scan; for more, the condition is evaluated by a join with
 * their tags.
 */
const MAX_NAMED_SERIES = 64;

export type SelectedSeries = Pick<ScanTextOptions, 'seriesCondition' | 'onlySeries'> & {
  readonly share: number;
};

const ALL_SERIES: SelectedSeries = { seriesCondition: undefined, onlySeries: undefined, share: 1 };

/**
 * Returns the series that match tag conditions, found in the index before DuckDB runs. `share` is
 * the fraction of all series, from 0 to 1.
 */
export function* selectSeries(
  index: SeriesIndex,
  conditions: readonly TagCondition[],
): Steps<SelectedSeries> {
  if (conditions.length === 0) return ALL_SERIES;
  const selected = yield* index.select(conditions, MAX_NAMED_SERIES);
  if (selected === undefined) return ALL_SERIES;
  const share = selected.length / Math.max(1, index.count);
  if (selected.length === 0) return { seriesCondition: 'false', onlySeries: undefined, share };
  const ids = selected.map((ordinal) => String(index.idOf(ordinal)));
  const [only] = selected;
  if (only === undefined || ids.length > 1) {
    return { seriesCondition: `_series IN (${ids.join(', ')})`, onlySeries: undefined, share };
  }
  const { keys, values } = index.tagsOf(only);
  return {
    seriesCondition: `_series = ${ids[0]}`,
    onlySeries: new Map(keys.map((key, i) => [index.storedNameOf(key), values[i] as string])),
    share,
  };
}
