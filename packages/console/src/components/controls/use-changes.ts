import { useQueryClient } from '@tanstack/react-query';
import { toast } from './toasts.js';

/** For pages that change the displayed data: queries under `queryKey` are refetched after each change. */
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
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), true);
      await refresh();
    }
  };
  return { act, changed };
}
