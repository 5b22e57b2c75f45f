const KEY = 'plinth-letter-keys';

/** Whether single-key shortcuts are on. Users of speech input may need to turn them off. */
export const hasLetterKeys = (): boolean => localStorage.getItem(KEY) !== 'off';

export function setLetterKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}
