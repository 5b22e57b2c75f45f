import type { Clock } from '@plinth/kernel';
import { LINES_LEFT_OUT, LineAllowance } from '@plinth/tsdb-model/plugins/line-allowance.js';
import type {
  LogLevel,
  PluginInput,
  PluginSession,
  Refusal,
  RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { Trigger } from '@plinth/tsdb-model/plugins/trigger.js';
import { formatDuration } from '@plinth/tsdb-model/time/duration.js';
import type { PluginBackend } from '../plugins/plugin-backend.js';

const REQUEST_TIMEOUT_MS = 300_000;

/** Abort reasons of runs. Without a reason, each abort would create an error with a stack. */
const TIMED_OUT = 'timed out';
const STOPPED = 'stopped';
const OVER = 'over';

export interface PluginRunsDeps {
  readonly trigger: Trigger;
  readonly databaseName: string;
  /** Name of the plugin in the trigger's log. */
  readonly pluginName: string;
  readonly session: PluginSession;
  readonly backend: PluginBackend;
  readonly clock: Clock;
  /** `undefined` allows any duration; request triggers have their own limit. */
  readonly runTimeoutMs: number | undefined;
  /** Adds a line to the trigger's log. */
  readonly note: (level: LogLevel, text: string) => void;
}

/** Runs the plugin of a trigger within its time limit and stores the writes of the runs. */
export class PluginRuns {
  readonly #deps: PluginRunsDeps;
  readonly #allowance = new LineAllowance();
  readonly #underWay = new Set<AbortController>();
  #isStopped = false;

  constructor(deps: PluginRunsDeps) {
    this.#deps = deps;
  }

  async run(
    input: PluginInput,
    options: { readonly start: string; readonly depth: number },
  ): Promise<RunOutcome | Refusal> {
    const { trigger, databaseName, session, backend, clock, note } = this.#deps;
    const end = new AbortController();
    const { signal } = end;
    this.#underWay.add(end);
    if (this.#isStopped) end.abort(STOPPED);
    // The time limit starts after this step.
    const refusal = await session.ready({ isAwaited: input.kind === 'request', signal });
    if (refusal !== undefined) {
      this.#underWay.delete(end);
      return refusal;
    }
    note('INFO', options.start);
    const startNs = clock.nowNs();
    const timeoutMs =
      this.#deps.runTimeoutMs ?? (input.kind === 'request' ? REQUEST_TIMEOUT_MS : undefined);
    const timer = new AbortController();
    if (timeoutMs !== undefined) {
      clock.sleep(timeoutMs, timer.signal).then(
        () => end.abort(TIMED_OUT),
        () => undefined, // The run ended in time.
      );
    }
    const depth = options.depth + 1;
    const outcome = await session.call({
      database: databaseName,
      args: trigger.arguments,
      input,
      isDryRun: false,
      cache: { namespace: cacheNamespaceOf(trigger), defaultTtlSec: undefined },
      services: backend.servicesFor({
        ...{ depth, signal },
        log: (level, text) => this.#notePlugin(level, text),
      }),
      signal,
    });
    timer.abort(OVER);
    this.#underWay.delete(end);
    if (outcome.kind === 'cancelled' && signal.reason === TIMED_OUT) {
      const text = `TimeoutError: the run took longer than ${timeoutMs} ms`;
      return { kind: 'failed', text, traceback: '', isInside: true };
    }
    if (outcome.kind === 'done') {
      await this.#writeBack(outcome, depth);
      note('INFO', `finished execution in ${formatDuration(clock.nowNs() - startNs)}`);
    }
    return outcome;
  }

  /** A failed write is only logged, because the run itself succeeded. */
  async #writeBack(outcome: Extract<RunOutcome, { kind: 'done' }>, depth: number): Promise<void> {
    for (const { database, lines } of outcome.writes) {
      const failure = await this.#deps.backend.write({
        database,
        lines: joinLines(lines),
        noSync: false,
        depth,
      });
      if (failure === undefined) continue;
      const why = failure.message.replace(
        'error writing line protocol to',
        'error writing back lines to',
      );
      this.#deps.note('ERROR', `error running ${this.#deps.pluginName}: ${why}`);
    }
  }

  /** Logs a line from the plugin. */
  #notePlugin(level: LogLevel, text: string): void {
    const { clock, note } = this.#deps;
    const decision = this.#allowance.take(clock.monotonicMs(), text.length);
    if (decision === 'take') note(level, text);
    else if (decision === 'tell') note('WARN', LINES_LEFT_OUT);
  }

  /** Cancels running and future runs. */
  stop(): void {
    this.#isStopped = true;
    for (const run of this.#underWay) run.abort(STOPPED);
  }
}

/** Returns the cache namespace of a trigger's plugin. */
export function cacheNamespaceOf(trigger: Trigger): string {
  return `trigger ${trigger.id}`;
}

const NEWLINE = Buffer.from('\n');

function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [NEWLINE, line])));
}
