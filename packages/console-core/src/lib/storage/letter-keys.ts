const KEY = 'plinth-letter-keys';

/** Returns whether single-key shortcuts are enabled. Users of speech input may need to turn them off. */
export const hasLetterKeys = (): boolean => localStorage.getItem(KEY) !== 'off';

export function setLetterKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}
