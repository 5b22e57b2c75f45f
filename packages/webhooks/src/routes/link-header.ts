import { type HeaderList, linkValue } from '@plinth/kernel';
import { makeCursor } from './list-query.js';

/**
 * Returns links to the existing neighboring pages. The request's parameters keep their order and
 * form; the new cursor is added at the end. Source: webhooks, section 5.3.
 * @param url absolute URL of the request.
 */
export function linkHeaders(
  url: string,
  page: { readonly nextId: number | undefined; readonly previousId: number | undefined },
): HeaderList {
  const { nextId, previousId } = page;
  const value = linkValue([
    ...(nextId === undefined ? [] : [['next', withCursor(url, nextId)] as const]),
    ...(previousId === undefined ? [] : [['prev', withCursor(url, previousId)] as const]),
  ]);
  return value === undefined ? [] : [['link', value]];
}

function withCursor(url: string, id: number): string {
  const [path = '', query = ''] = url.split('?', 2);
  const cursor = `cursor=${makeCursor(id)}`;
  const parts = query === '' ? [] : query.split('&');
  const isThere = parts.some((part) => /^cursor(?:=|$)/.test(part));
  const changed = isThere
    ? parts.map((part) => (/^cursor(?:=|$)/.test(part) ? cursor : part))
    : [...parts, cursor];
  return `${path}?${changed.join('&')}`;
}
