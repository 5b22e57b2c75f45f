import { useState } from 'react';

/** Runs the actions of a form, one at a time, with the error of the last one. */
export function useTask() {
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setIsBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return { run, error, isBusy };
}
