/** Entries of the history have it whose query the reader has run, or has asked for. */
export const RAN = { ran: true };

let isByHistory = false;
let hasMoved = false;

/** To be told of each move within the page. */
export function noteMove(type: string): void {
  if (type === 'REPLACE') return;
  hasMoved = true;
  isByHistory = type !== 'PUSH';
}

/**
 * Whether the reader asks for what the address says. Not where a page of somebody else led to it: the server has written into the
 * page what the browser told it. Back, Forward and Reload, which such a page can bring about, ask for what was run before.
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
