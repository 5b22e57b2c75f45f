import type { Writable } from 'node:stream';

/** Resolves when the written data has been sent, or the target is closed. */
export async function waitForDrain(target: Writable, isClosed = target.destroyed): Promise<void> {
  if (isClosed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      target.off('drain', done);
      target.off('close', done);
      resolve();
    };
    target.on('drain', done);
    target.on('close', done);
  });
}
