const KEY = 'plinth-recent-entries';
const MAX_COUNT = 5;

/** The keys of the entries that the user chose last in the palette of this tab, the newest first. */
export const recentEntries = (): readonly string[] =>
  JSON.parse(sessionStorage.getItem(KEY) ?? '[]');

export function noteEntry(key: string): void {
  const others = recentEntries().filter((each) => each !== key);
  sessionStorage.setItem(KEY, JSON.stringify([key, ...others].slice(0, MAX_COUNT)));
}
