import { messageOf } from '@plinth/kernel';
import type {
  PluginCall,
  PluginSession,
  ReadyOptions,
  Refusal,
  RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';

/**
 * A session that opens with its first run, so that startup needs neither Python nor plugin code. If
 * opening fails, that run fails and the next one tries again.
 */
export class LazySession implements PluginSession {
  readonly #open: () => Promise<PluginSession>;
  #opening: Promise<PluginSession> | undefined;

  constructor(open: () => Promise<PluginSession>) {
    this.#open = open;
  }

  /** A session that is not open cannot have crashed. */
  async ready(options: ReadyOptions): Promise<Refusal | undefined> {
    const session = await this.#opening?.catch(() => undefined); // The run reports the failure.
    return await session?.ready(options);
  }

  async call(call: PluginCall): Promise<RunOutcome> {
    this.#opening ??= this.#open();
    const opening = this.#opening;
    let session: PluginSession;
    try {
      session = await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      const text = messageOf(error);
      return { kind: 'failed', text, traceback: '', isInside: false };
    }
    return await session.call(call);
  }

  async close(): Promise<void> {
    const session = await this.#opening?.catch(() => undefined); // The run reported the failure.
    await session?.close();
  }
}
