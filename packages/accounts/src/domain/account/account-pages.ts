import { hash } from 'node:crypto';
import { type Tenant, tenantKey } from '../../model/platform/tenant.js';
import { AccountsRefused } from '../../model/violation.js';
import type { Cursor, Keyed, PageQuery } from '../../storage/pages.js';

/** Parameters `limit`, `page` and filters of a list request. */
export interface ListRequest {
  readonly tenant: Tenant;
  /** Path of the list, used in its links. */
  readonly path: string;
  /** The filters as the client sent them, in the order in which links repeat them. */
  readonly filters: readonly (readonly [name: string, value: string])[];
  readonly limit: number;
  readonly page: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next_page_url: string | null;
  readonly previous_page_url: string | null;
}

interface Token {
  readonly v: 1;
  readonly dir: 'n' | 'p';
  readonly created: number;
  readonly id: string;
  readonly f: string;
}

/** Decodes the page token. Throws `invalid_page` if it is not valid or belongs to another list. */
export function readPage(request: ListRequest): PageQuery {
  const { page, limit } = request;
  if (page === undefined) return { cursor: undefined, limit };
  const token = decode(page);
  if (token === undefined || token.f !== filtersHash(request)) {
    throw new AccountsRefused({
      code: 'invalid_page',
      param: 'page',
      message: 'The page token is not valid for this list; start at the first page.',
    });
  }
  const direction = token.dir === 'n' ? 'next' : 'previous';
  return { cursor: { direction, createdMs: token.created, id: token.id }, limit };
}

/**
 * @param found items, newest first, including one beyond the limit if there is another page.
 * Source: accounts, section 7.1.
 */
export function toPage<T extends Keyed>(
  request: ListRequest,
  { cursor, limit }: PageQuery,
  found: readonly T[],
): Page<T> {
  const isBackwards = cursor?.direction === 'previous';
  const hasMore = found.length > limit;
  const items = !hasMore ? found : isBackwards ? found.slice(1) : found.slice(0, limit);
  const hasNext = isBackwards || hasMore;
  const hasPrevious = isBackwards ? hasMore : cursor !== undefined;
  const last = items.at(-1);
  const first = items[0];
  return {
    items,
    next_page_url: hasNext && last ? urlOf(request, 'next', last) : null,
    previous_page_url: hasPrevious && first ? urlOf(request, 'previous', first) : null,
  };
}

function urlOf(request: ListRequest, direction: Cursor['direction'], at: Keyed): string {
  const token: Token = {
    v: 1,
    dir: direction === 'next' ? 'n' : 'p',
    created: at.createdMs,
    id: at.id,
    f: filtersHash(request),
  };
  const page = `page_${Buffer.from(JSON.stringify(token)).toString('base64url')}`;
  const pairs = [...request.filters, ['limit', String(request.limit)], ['page', page]] as const;
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return `${request.path}?${query}`;
}

function filtersHash({ tenant, path, filters }: ListRequest): string {
  const text = JSON.stringify([tenantKey(tenant), path, filters]);
  return hash('sha256', text, 'base64url').slice(0, 16);
}

function decode(page: string): Token | undefined {
  if (!/^page_[\w-]{1,500}$/.test(page)) return undefined;
  try {
    const token: unknown = JSON.parse(Buffer.from(page.slice(5), 'base64url').toString());
    return isToken(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

function isToken(value: unknown): value is Token {
  if (typeof value !== 'object' || value === null) return false;
  const { v, dir, created, id, f } = value as Partial<Record<keyof Token, unknown>>;
  return (
    v === 1 &&
    (dir === 'n' || dir === 'p') &&
    Number.isSafeInteger(created) &&
    typeof id === 'string' &&
    /^\w+$/.test(id) && // ids use only these characters; databases reject some others
    typeof f === 'string'
  );
}
