import type { Writable } from 'node:stream';

/** Resolves when what was written has gone out, or never will. */
export async function roomIn(target: Writable, isGone = target.destroyed): Promise<void> {
  if (isGone) return;
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
