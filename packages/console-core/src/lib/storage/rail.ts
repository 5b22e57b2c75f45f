const KEY = 'plinth-rail';

/** Returns whether the navigation shows only icons in wide windows. */
export const isRailCollapsed = (): boolean => localStorage.getItem(KEY) === 'collapsed';

export function setRailCollapsed(isCollapsed: boolean): void {
  if (isCollapsed) localStorage.setItem(KEY, 'collapsed');
  else localStorage.removeItem(KEY);
}
