import { useQueryClient } from '@tanstack/react-query';
import { toast } from './toasts.js';

/**
 * The server compares live state once a second. If an action ends in between, no event follows, so its state is fetched
 * once more.
 */
const SETTLED_MS = 1500;

/** Used by pages that change the displayed data. Refetches queries under `queryKey` after each change. */
export function useChanges(...queryKey: readonly string[]) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey });
  /** Shows the confirmation after the page has been refreshed. */
  const changed = async (text: string): Promise<void> => {
    await refresh();
    toast(text);
  };
  /** Runs an action and shows its confirmation or its error. */
  const act = async (what: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await what();
      await changed(done);
      setTimeout(() => void refresh(), SETTLED_MS);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), true);
      await refresh();
    }
  };
  return { act, changed };
}
