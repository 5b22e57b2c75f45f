import type { HeaderList } from '@plinth/kernel';
import { makeCursor } from './list-query.js';

/**
 * Links to the neighbouring pages, where there is one. The request's parameters keep their order and
 * spelling; a cursor that was not there comes last. Source: webhooks, section 5.3.
 * @param url absolute, of the request.
 */
export function linkHeaders(
  url: string,
  page: { readonly nextId: number | undefined; readonly previousId: number | undefined },
): HeaderList {
  const links = [
    ...(page.nextId === undefined ? [] : [`<${withCursor(url, page.nextId)}>; rel="next"`]),
    ...(page.previousId === undefined ? [] : [`<${withCursor(url, page.previousId)}>; rel="prev"`]),
  ];
  return links.length === 0 ? [] : [['link', links.join(', ')]];
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
