const KEY = 'plinth-letter-keys';

/** Whether single letters are keys; whoever speaks to the browser or slips easily can do without. */
export const hasLetterKeys = (): boolean => localStorage.getItem(KEY) !== 'off';

export function setLetterKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}
