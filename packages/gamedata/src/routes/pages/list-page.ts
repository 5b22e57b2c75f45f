import { linkValue } from '@plinth/kernel';
import type { Edition } from '../../domain/publication.js';
import { readListRequest } from '../../domain/query/list-request.js';
import { KIND_WIRE, type Kind } from '../../model/kinds.js';
import {
  headerText,
  languageHeader,
  type Page,
  type PublicDeps,
  page,
  type Target,
} from './page.js';

/** Returns one page of a list. Source: gamedata, section 2.3. */
export async function listPage(deps: PublicDeps, kind: Kind, target: Target): Promise<Page> {
  const request = readListRequest(kind, target.query, deps.limits);
  const edition = await deps.library.edition(request.version);
  const found = await deps.catalog.list(edition.set, request, target.signal);
  const { total, records, notFound, included } = found;
  const { offset, canonical, isPage } = request;
  const limit = request.limit ?? total;
  const url = (to: number): string => {
    const parameters = new URLSearchParams(
      canonical.map(([name, value]): [string, string] => [name, value]),
    );
    if (request.limit !== undefined) parameters.set('limit', String(request.limit));
    parameters.set('offset', String(to));
    return `${target.path}?${parameters}`;
  };
  const hasNext = limit > 0 && offset + limit < total;
  const next = hasNext ? url(offset + limit) : null;
  const lastOffset = limit > 0 ? Math.max(0, Math.ceil(total / limit) - 1) * limit : 0;
  // From an offset beyond the end, the previous page is the last one with records.
  const before = offset >= total ? lastOffset : Math.max(0, offset - limit);
  const previous = limit > 0 && offset > 0 ? url(before) : null;
  const link = linkValue([
    ['first', url(0)],
    ...(previous === null ? [] : [['prev', previous] as const]),
    ...(next === null ? [] : [['next', next] as const]),
    ['last', url(lastOffset)],
  ]);
  const headers = {
    'x-total-count': String(total),
    ...((next !== null || previous !== null) && link !== undefined && { link }),
    ...languageHeader(edition, request.language),
    ...(request.ignored.length > 0 && { 'x-ignored-params': headerText(request.ignored) }),
  };
  const envelope = {
    total,
    count: records.length,
    offset,
    limit,
    next,
    previous,
    ...(notFound !== undefined && { notFound }),
    ...(included !== undefined && { included }),
  };
  const { listKey } = KIND_WIRE[kind];
  const isPinned = request.version !== undefined;
  if (isPage) {
    const body = { ...envelope, version: edition.version.version, data: records };
    return page(edition, body, headers, isPinned);
  }
  if (listKey !== undefined) {
    return page(edition, { ...envelope, [listKey]: records }, headers, isPinned);
  }
  return page(edition, bareList(edition, kind, records), headers, isPinned);
}

function bareList(
  { set }: Edition,
  kind: Kind,
  records: readonly Record<string, unknown>[],
): unknown {
  if (kind === 'hideout') return { modules: records };
  if (kind !== 'traders') return records;
  // The projection may have removed the slug from the record.
  const keyed = records.map((record): [string, unknown] => [
    set.row('traders', String(record['id']))?.slug ?? String(record['id']),
    record,
  ]);
  return Object.fromEntries(keyed);
}
