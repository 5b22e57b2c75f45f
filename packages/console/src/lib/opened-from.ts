/**
 * A link on a page of somebody else led to a query that it wrote; saved ones are of people who may. The server has written into the page what the browser told it; where the page
 * was opened is asked of the browser, because the address has changed since.
 */
export function isQueryFromElsewhere(): boolean {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="opened-from"]');
  const [opened] = performance.getEntriesByType('navigation');
  if (meta?.content !== 'elsewhere' || opened === undefined) return false;
  return new URL(opened.name).pathname === '/console/explore';
}
