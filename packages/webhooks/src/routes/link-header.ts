import { makeCursor } from './list-query.js';

/**
 * Links to the neighbouring pages, or undefined when there is none. The request's parameters keep their order and
 * spelling; a cursor that was not there comes last. Source: webhooks, section 5.3.
 * @param url absolute, of the request.
 */
export function linkHeader(
  url: string,
  page: { readonly nextId: number | undefined; readonly previousId: number | undefined },
): string | undefined {
  const links = [
    ...(page.nextId === undefined ? [] : [`<${withCursor(url, page.nextId)}>; rel="next"`]),
    ...(page.previousId === undefined ? [] : [`<${withCursor(url, page.previousId)}>; rel="prev"`]),
  ];
  return links.length === 0 ? undefined : links.join(', ');
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
