import type { Language } from '../../lib/query/macros.js';
import { DEFAULT_RANGE, type RangeText } from '../../lib/time/time-range.js';

/** What an address of Explore says; all of it is text. */
export type ExploreSearch = Readonly<Record<string, string>>;

export const VIEWS = ['line', 'area', 'bar', 'scatter', 'heat', 'stat', 'table'] as const;
export type View = (typeof VIEWS)[number];

export const languageOf = ({ lang }: ExploreSearch): Language =>
  lang === 'influxql' ? 'influxql' : 'sql';

export const rangeOf = ({ from, to }: ExploreSearch): RangeText => ({
  from: from ?? DEFAULT_RANGE.from,
  to: to ?? DEFAULT_RANGE.to,
});

export const viewOf = ({ view }: ExploreSearch): View | undefined =>
  VIEWS.find((each) => each === view);

/** What a tab is called: the table that its query names. */
export function titleOf({ q = '', name }: ExploreSearch): string {
  if (name !== undefined) return name;
  const table = /\b(?:from|into)\s+(?:"([^"]+)"|([\w.-]+))/i.exec(q);
  const text = table?.[1] ?? table?.[2] ?? q.trim().split('\n')[0] ?? '';
  if (text === '') return 'New query';
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
