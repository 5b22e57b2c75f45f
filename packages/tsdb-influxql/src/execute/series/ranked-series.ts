import type { Session } from '../session.js';
import { compareTags } from './series.js';
import type { TableRange, TableReader } from './table-reader.js';

/** Maximum number of series whose ids are written into the statement's text. */
const MAX_RANKED = 2000;
/**
 * Maximum number of series in a table; the conditions may be evaluated on all of them in one step.
 */
const MAX_CHECKED = 20_000;

/** The series of a statement that groups by all tags, each with the values of the tags, in result order. */
export interface RankedSeries {
  readonly ids: readonly bigint[];
  readonly tags: readonly (readonly string[])[];
}

/**
 * Returns the series that a statement reads if each series is its own group; otherwise, or if there
 * are too many, returns `undefined`. DuckDB then sorts numbers instead of tag values, and returns
 * one number per row instead of all tags. Rows of series that are added later are not part of the
 * result.
 */
export function rankedSeries(
  { source, groupTags }: TableRange,
  reader: TableReader,
  session: Session,
): RankedSeries | undefined {
  const index = session.seriesOf(source.table);
  const isGrouped = new Set(groupTags);
  if (index.count > MAX_CHECKED) return undefined;
  if ([...index.tagNames].some((tag) => !isGrouped.has(tag))) return undefined;
  const ordinals = reader.selectedSeries(MAX_RANKED);
  if (ordinals === undefined) return undefined;
  const series = ordinals
    .map((ordinal) => ({
      id: index.idOf(ordinal),
      tags: groupTags.map((tag) => index.tagValue(ordinal, tag) ?? ''),
    }))
    .sort((a, b) => compareTags(a.tags, b.tags));
  return { ids: series.map(({ id }) => id), tags: series.map(({ tags }) => tags) };
}
