/** The state of history entries whose query the user has run or requested. */
export const RAN = { ran: true };

let isByHistory = false;
let hasMoved = false;

/** Call for each navigation within the page. */
export function noteMove(type: string): void {
  if (type === 'REPLACE') return;
  hasMoved = true;
  isByHistory = type !== 'PUSH';
}

/**
 * Returns whether the user requested the query in the URL, so that it may run automatically. A link from another site
 * must not run it: the server adds the origin reported by the browser to the page. Such a site can trigger Back,
 * Forward and Reload, so these run only a query that was run before.
 */
export function isAskedByReader(): boolean {
  if ((history.state as { readonly ran?: boolean } | null)?.ran === true) return true;
  return hasMoved ? !isByHistory : isOpenedByReader();
}

function isOpenedByReader(): boolean {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="opened-from"]');
  const [opened] = performance.getEntriesByType('navigation');
  const { type } = (opened ?? {}) as Partial<PerformanceNavigationTiming>;
  return type === 'navigate' && meta?.content === 'here';
}
