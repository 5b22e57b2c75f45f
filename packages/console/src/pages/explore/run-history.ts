import { keep, readKept } from '@plinth/console-core/lib/storage/database.js';

const KEY = 'history';
const MAX_COUNT = 500;

export interface HistoryEntry {
  readonly atMs: number;
  readonly db: string;
  readonly lang: string;
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly totalMs: number;
  readonly rowCount: number | undefined;
  readonly error: string | undefined;
}

/** Reads the runs, newest first. */
export const readHistory = async (): Promise<readonly HistoryEntry[]> =>
  (await readKept<readonly HistoryEntry[]>(KEY)) ?? [];

export async function addToHistory(entry: HistoryEntry): Promise<void> {
  const before = await readHistory();
  const [last] = before;
  const isSame = last?.text === entry.text && last.db === entry.db && last.lang === entry.lang;
  await keep(KEY, [entry, ...(isSame ? before.slice(1) : before)].slice(0, MAX_COUNT));
}
