const KEY = 'plinth-start-list';

/** Whether this browser shows the first steps of a new server; `null` before it has opened a new server. */
export const startList = (): string | null => localStorage.getItem(KEY);

export const setStartList = (state: 'shown' | 'dismissed'): void =>
  localStorage.setItem(KEY, state);
