import { useQueryClient } from '@tanstack/react-query';
import { toast } from './toasts.js';

/** For a page that changes what it shows: what was asked for below `queryKey` is asked for anew. */
export function useChanges(...queryKey: readonly string[]) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey });
  /** Says what was done when the page shows it. */
  const changed = async (text: string): Promise<void> => {
    await refresh();
    toast(text);
  };
  /** Does something, and says so, or why it did not work. */
  const act = async (what: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await what();
      await changed(done);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), true);
      await refresh();
    }
  };
  return { act, changed };
}
