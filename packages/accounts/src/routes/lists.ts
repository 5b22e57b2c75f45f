import type { ListRequest } from '../domain/account/account-pages.js';
import type { Call } from './platform-routes.js';
import { PAGE_LIMIT, type QueryString } from './query-string.js';

/**
 * Reads `limit` and `page` of a list; its links repeat `filters`. Source: accounts, section 7.1.
 */
export function listRequest(
  { context }: Call,
  query: QueryString,
  filters: ListRequest['filters'],
): ListRequest {
  return {
    tenant: context.tenant,
    path: context.path,
    filters,
    limit: query.whole('limit', PAGE_LIMIT),
    page: query.text('page'),
  };
}
