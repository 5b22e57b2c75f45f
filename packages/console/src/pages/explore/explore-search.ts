import type { QueryText } from '@plinth/console-core/api/tsdb.js';
import { expandMacros, type Language } from '@plinth/console-core/lib/query/macros.js';
import { parametersJson } from '@plinth/console-core/lib/query/parameters.js';
import {
  absoluteRange,
  DEFAULT_RANGE,
  type RangeText,
  resolveRange,
  type TimeRange,
} from '@plinth/console-core/lib/time/time-range.js';

/** The search parameters of Explore. All values are strings. */
export type ExploreSearch = Readonly<Record<string, string>>;

export const VIEWS = ['line', 'area', 'bar', 'scatter', 'heat', 'stat', 'table'] as const;
export type View = (typeof VIEWS)[number];

export const languageOf = ({ lang }: ExploreSearch): Language =>
  lang === 'influxql' ? 'influxql' : 'sql';

export const rangeOf = ({ from, to }: ExploreSearch): RangeText => ({
  from: from ?? DEFAULT_RANGE.from,
  to: to ?? DEFAULT_RANGE.to,
});

export const addressOf = (range: TimeRange): ExploreSearch => ({ ...absoluteRange(range) });

/** The bucket count when no chart determines it. */
const POINT_COUNT = 600;

/** Returns the query to send outside the page; `undefined` for an invalid time range. */
export function textToSend(search: ExploreSearch): QueryText | undefined {
  const { q = '', db = '' } = search;
  const range = resolveRange(rangeOf(search), Date.now());
  if (range === undefined) return undefined;
  const language = languageOf(search);
  const { text } = expandMacros(q, { language, range, maxPoints: POINT_COUNT });
  return { db, lang: language, text, params: parametersJson(search, q, language) };
}

export const viewOf = ({ view }: ExploreSearch): View | undefined =>
  VIEWS.find((each) => each === view);

/** Returns the title of a tab, which is the table in its query. */
export function titleOf({ q = '', name }: ExploreSearch): string {
  if (name !== undefined) return name;
  const text = tableOf(q) ?? q.trim().split('\n')[0] ?? '';
  if (text === '') return 'New query';
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}

/** Returns the first table that a query names. */
export function tableOf(q: string): string | undefined {
  const table = /\b(?:from|into)\s+(?:"([^"]+)"|([\w.-]+))/i.exec(q);
  return table?.[1] ?? table?.[2];
}
