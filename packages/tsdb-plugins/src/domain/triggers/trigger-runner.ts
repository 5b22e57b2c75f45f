import type { Clock, Logger } from '@plinth/kernel';
import type { CommittedRows } from '@plinth/tsdb-engine/write/commit-listener.js';
import type {
  LogLevel,
  PluginInput,
  PluginResponse,
  PluginSession,
  Refusal,
  RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { Trigger, TriggerSpecification } from '@plinth/tsdb-model/plugins/trigger.js';
import { isoOf } from '@plinth/tsdb-model/time/calendar.js';
import type { PluginBackend } from '../plugins/plugin-backend.js';
import { encodeWrites } from '../runs/encode-writes.js';
import type { FailureReports } from '../runs/failure-reports.js';
import { PluginRuns } from '../runs/plugin-runs.js';
import { type GatheredWrites, WriteGatherer } from '../runs/write-gatherer.js';
import { EventQueue } from './event-queue.js';
import { fireOnSchedule } from './fire-on-schedule.js';
import { scheduleOf } from './schedule.js';
import { TRIGGER_MESSAGES } from './trigger-messages.js';

/** Maximum number of concurrent runs of an asynchronous trigger, regardless of the setting. */
const MAX_ASYNC_RUNS = 32;
const MAX_ASYNC_RETRIES = 5;
/** Maximum number of retries of a run that crashes its process. */
const MAX_CRASH_RETRIES = 3;
const FIRST_RETRY_PAUSE_MS = 100;
const LONGEST_RETRY_PAUSE_MS = 5000;
/**
 * Rows that result from this many consecutive plugin runs indicate a plugin that triggers itself.
 */
const MAX_DEPTH = 16;
type Event =
  | { readonly kind: 'writes'; readonly writes: GatheredWrites }
  | { readonly kind: 'schedule'; readonly timeNs: bigint }
  | {
      readonly kind: 'request';
      readonly request: RequestInput;
      readonly respond: (response: PluginResponse) => void;
    };

export type RequestInput = Omit<Extract<PluginInput, { kind: 'request' }>, 'kind'>;

export interface RunnerDeps {
  readonly trigger: Trigger;
  readonly databaseName: string;
  readonly session: PluginSession;
  readonly backend: PluginBackend;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: RunnerSettings;
  /** Adds a line to the trigger's log. */
  readonly note: (level: LogLevel, text: string) => void;
  /** Receives failed runs. */
  readonly failures: FailureReports;
  /** Called when a run failed and `error_behavior` is `disable`. */
  readonly onDisable: () => void;
}

export interface RunnerSettings {
  readonly asyncLimit: number | undefined;
  /** `undefined` allows any duration; request triggers have their own limit. */
  readonly runTimeoutMs: number | undefined;
  /** Time for which an idle trigger gathers writes. */
  readonly gatherMs: number;
  /** Maximum time for which a busy trigger gathers writes. */
  readonly longestGatherMs: number;
  /** Row count at which an idle trigger stops gathering. */
  readonly manyRows: number;
}

/**
 * An enabled trigger. Turns its events into runs of its plugin. Source: processing-engine, sections
 * 4, 11 and 13.
 */
export class TriggerRunner {
  readonly #deps: RunnerDeps;
  readonly #queue: EventQueue<Event>;
  readonly #gatherer: WriteGatherer;
  readonly #stopped = new AbortController();
  readonly #runs: PluginRuns;
  readonly #labels: (typeof TRIGGER_MESSAGES)[PluginInput['kind']];

  #specification: TriggerSpecification;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#specification = deps.trigger.specification;
    const { trigger, settings, clock } = deps;
    const limit = Math.min(settings.asyncLimit || MAX_ASYNC_RUNS, MAX_ASYNC_RUNS);
    this.#queue = new EventQueue({
      run: (event) => this.#handle(event),
      concurrency: trigger.runAsync ? limit : 1,
    });
    this.#gatherer = new WriteGatherer({
      clock,
      pauseMs: settings.gatherMs,
      longestMs: settings.longestGatherMs,
      manyRows: settings.manyRows,
      isBusy: () => !this.#queue.hasRoom,
      hand: (writes) => this.#queue.push({ kind: 'writes', writes }),
      onSkipped: (rowCount) => {
        deps.note('ERROR', `trigger queue full, skipped ${rowCount} rows`);
        deps.log.error({ ...this.#name, rowCount }, 'trigger queue full, rows skipped');
      },
    });
    this.#labels = TRIGGER_MESSAGES[kindOf(trigger)];
    this.#runs = new PluginRuns({
      ...deps,
      pluginName: this.#labels.plugin,
      runTimeoutMs: settings.runTimeoutMs,
    });
    const schedule = scheduleOf(trigger.specification);
    if (schedule === undefined) return;
    void fireOnSchedule(schedule, {
      clock,
      signal: this.#stopped.signal,
      fire: (timeNs) => this.#pushScheduled(timeNs),
      onSkipped: (count) =>
        deps.note('WARN', `runs take longer than the schedule interval, skipped ${count} runs`),
    });
  }

  get #name(): { readonly database: string; readonly trigger: string } {
    return { database: this.#deps.databaseName, trigger: this.#deps.trigger.name };
  }

  /** Sets the new name of the trigger's table. */
  rename(table: string): void {
    this.#specification = { kind: 'table', table };
  }

  /** Gathers durable rows of the trigger's database that match its specification. */
  committed(rows: readonly CommittedRows[], depth: number): void {
    const specification = this.#specification;
    if (specification.kind !== 'all_tables' && specification.kind !== 'table') return;
    const matching =
      specification.kind === 'all_tables'
        ? rows
        : rows.filter(({ table }) => table === specification.table);
    if (matching.length === 0) return;
    if (depth > MAX_DEPTH) {
      const rowCount = matching.reduce((sum, { batch }) => sum + batch.rowCount, 0);
      const text = `not delivered: ${rowCount} rows from a chain of ${MAX_DEPTH} plugin runs; a plugin that writes to its own table must skip these rows`;
      this.#deps.note('ERROR', text);
      this.#deps.log.error(
        { ...this.#name, rowCount },
        'plugin triggers itself; rows not delivered',
      );
      return;
    }
    this.#gatherer.add(matching, depth);
  }

  /**
   * @param disconnectSignal aborted when the client disconnects; a request that has not started is then
   * removed from the queue.
   * @returns `undefined` if too many requests are waiting.
   */
  async request(
    request: RequestInput,
    disconnectSignal: AbortSignal,
  ): Promise<PluginResponse | undefined> {
    return await new Promise((resolve) => {
      const event = { kind: 'request', request, respond: resolve } as const;
      if (!this.#queue.push(event)) return resolve(undefined);
      const onDisconnect = (): void => {
        if (this.#queue.drop(event)) resolve(undefined);
      };
      if (disconnectSignal.aborted) onDisconnect();
      disconnectSignal.addEventListener('abort', onDisconnect, { once: true });
      return undefined;
    });
  }

  /** Cancels running events and drops waiting ones. Resolves when the plugin has stopped. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#runs.stop();
    this.#gatherer.close();
    for (let event = this.#queue.dropOldest(); event; event = this.#queue.dropOldest()) {
      if (event.kind === 'request') event.respond(errorResponse('the trigger was stopped'));
    }
    await Promise.all([this.#queue.close(), this.#deps.session.close()]);
    this.#deps.failures.close();
  }

  /** @returns the number of waiting events that were dropped for this one. */
  #pushScheduled(timeNs: bigint): number {
    let droppedCount = 0;
    while (!this.#queue.push({ kind: 'schedule', timeNs }) && this.#queue.isFull) {
      this.#queue.dropOldest();
      droppedCount++;
    }
    return droppedCount;
  }

  /** Never rejects. */
  async #handle(event: Event): Promise<void> {
    try {
      if (event.kind === 'request') event.respond(await this.#respond(event.request));
      else await this.#repeat(event);
    } catch (err) {
      this.#deps.log.error({ err, ...this.#name }, 'plugin run failed');
      if (event.kind === 'request') event.respond(errorResponse('internal error'));
    }
    this.#gatherer.wake();
  }

  /**
   * Runs a write or schedule trigger, and retries or disables it according to its error behavior.
   */
  async #repeat(event: Exclude<Event, { kind: 'request' }>): Promise<void> {
    const { trigger, clock } = this.#deps;
    const input: PluginInput =
      event.kind === 'writes'
        ? await encodeWrites(event.writes.rows)
        : { kind: 'schedule', timeSec: Number(event.timeNs / 1_000_000_000n) };
    const depth = event.kind === 'writes' ? event.writes.depth : 0;
    const start =
      event.kind === 'writes'
        ? this.#labels.start
        : `starting execution with scheduled time ${utcText(event.timeNs)}`;
    for (let attempt = 0, crashCount = 0; ; attempt++) {
      const outcome = await this.#runs.run(input, { start, depth });
      if (outcome.kind === 'done' || outcome.kind === 'cancelled') return;
      this.#noteFailure(outcome);
      if (outcome.kind === 'crashed') crashCount++;
      if (trigger.errorBehavior === 'disable') return this.#deps.onDisable();
      const hasEnded =
        trigger.errorBehavior !== 'retry' ||
        (trigger.runAsync && attempt >= MAX_ASYNC_RETRIES) ||
        crashCount > MAX_CRASH_RETRIES;
      if (hasEnded) return;
      const pauseMs =
        attempt === 0
          ? 0
          : Math.min(FIRST_RETRY_PAUSE_MS * 2 ** (attempt - 1), LONGEST_RETRY_PAUSE_MS);
      await clock.sleep(pauseMs, this.#stopped.signal).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
    }
  }

  async #respond(request: RequestInput): Promise<PluginResponse> {
    const outcome = await this.#runs.run(
      { kind: 'request', ...request },
      { start: this.#labels.start, depth: 0 },
    );
    switch (outcome.kind) {
      case 'done':
        return outcome.response ?? errorResponse('the plugin returned no response');
      case 'cancelled':
        return errorResponse('the run was cancelled');
      case 'refused': {
        const { status, headers, body } = errorResponse(outcome.text, 503);
        return { status, headers: [...headers, ['retry-after', `${outcome.retryAfterSec}`]], body };
      }
      default:
        this.#noteFailure(outcome);
        if (this.#deps.trigger.errorBehavior === 'disable') this.#deps.onDisable();
        return errorResponse(
          outcome.kind === 'failed' && !outcome.isInside
            ? outcome.text
            : `Python function call failed: ${outcome.text}`,
        );
    }
  }

  #noteFailure(outcome: Extract<RunOutcome, { kind: 'failed' | 'crashed' }> | Refusal): void {
    this.#deps.note('ERROR', `${this.#labels.failed}: ${outcome.text}`);
    this.#deps.failures.add(outcome.text);
    const traceback = outcome.kind === 'failed' ? outcome.traceback : '';
    this.#deps.log.warn({ ...this.#name, failure: outcome.text, traceback }, 'plugin failed');
  }
}

function kindOf({ specification }: Trigger): PluginInput['kind'] {
  switch (specification.kind) {
    case 'all_tables':
    case 'table':
      return 'writes';
    case 'cron':
    case 'every':
      return 'schedule';
    case 'request':
      return 'request';
  }
}

function errorResponse(error: string, status = 500): PluginResponse {
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ error, data: {} })),
  };
}

/** Formats a time as `2026-01-02 03:04:05 UTC`. */
function utcText(timeNs: bigint): string {
  const iso = isoOf(timeNs);
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
