import { type Clock, type LiveSource, type Logger, watchState } from '@plinth/kernel';

const INTERVAL_MS = 2000;

/** Creates a source that reports why the server is not ready, as `/ops/v1/ready` does. */
export const healthSource = (deps: {
  readonly clock: Clock;
  readonly log: Logger;
  obstacle(): Promise<string | undefined>;
}): LiveSource => ({
  name: 'health',
  isState: true,
  open(parts, notify) {
    if (parts.length > 0) return undefined;
    const read = async () => ({ obstacle: (await deps.obstacle()) ?? null });
    return watchState({ ...deps, intervalMs: INTERVAL_MS }, read, (state) =>
      notify('health', state),
    );
  },
});
