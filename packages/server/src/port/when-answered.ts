import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@plinth/kernel';
import type { Listener } from './listener.js';
import type { PlainSide } from './plain-side.js';

/** The routes of a service wait so long at most for requests that are being answered. */
export const LONGEST_ANSWER_WAIT_MS = 100;
const CHECK_INTERVAL_MS = 1;

/**
 * Comes between the routes of two services. Routes that nobody asks for wait for requests that are being answered: making
 * those of all services takes the main thread longer than most of these.
 */
export async function whenAnswered({
  clock,
  plainSide,
  port,
}: {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly plainSide: Pick<PlainSide, 'isAnswering'> | undefined;
  readonly port: Pick<Listener, 'isWaitedFor'>;
}): Promise<void> {
  await setImmediate(); // Whoever asks for the health meanwhile need not wait for all routes.
  const latestMs = clock.monotonicMs() + LONGEST_ANSWER_WAIT_MS;
  while (plainSide?.isAnswering && !port.isWaitedFor() && clock.monotonicMs() < latestMs)
    await clock.sleep(CHECK_INTERVAL_MS);
}
