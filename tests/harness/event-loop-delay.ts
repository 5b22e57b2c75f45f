import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from './server-process.js';

const MAX_WAIT_MS = 10_000;

/** Linux only. Measures a server's longest event-loop delays as CPU time of its main thread. */
export class EventLoopDelay {
  readonly #folder: string;
  readonly #file: string;

  static async create(): Promise<EventLoopDelay> {
    return new EventLoopDelay(await mkdtemp(join(tmpdir(), 'plinth-event-loop-')));
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, 'longest');
  }

  /** Environment variables for the server. */
  get env(): Readonly<Record<string, string>> {
    const probe = new URL('./event-loop-probe.js', import.meta.url).href;
    return { NODE_OPTIONS: `--import=${probe}`, EVENT_LOOP_PROBE: this.#file };
  }

  /** Returns the longest delay since the previous call, in milliseconds. */
  async take(server: ServerProcess): Promise<number> {
    await rm(this.#file, { force: true });
    server.signal('SIGUSR2');
    for (const endMs = performance.now() + MAX_WAIT_MS; !existsSync(this.#file); await sleep(2)) {
      if (performance.now() > endMs)
        throw new Error(`the server reported no event-loop delay:\n${server.logText}`);
    }
    return Number(await readFile(this.#file, 'utf8'));
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
