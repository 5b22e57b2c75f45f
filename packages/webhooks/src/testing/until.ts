import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 20_000;

/** Repeats `read` until `fits` accepts its value. Connections and stores do not use the test clock. */
export async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (const endMs = Date.now() + TIMEOUT_MS; ; await sleep(2)) {
    const value = await read();
    if (fits(value)) return value;
    assert.ok(Date.now() < endMs, `timed out with ${JSON.stringify(value)?.slice(0, 1000)}`);
  }
}
