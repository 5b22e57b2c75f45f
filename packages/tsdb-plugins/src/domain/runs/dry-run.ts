import { type Clock, CronSchedule } from '@plinth/kernel';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type {
  PluginCode,
  PluginInput,
  PluginServices,
  Refusal,
  RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import { formatDuration } from '@plinth/tsdb-model/time/duration.js';
import type { ProcessingEngine } from '../processing-engine.js';

const LIMIT_MS = 60_000;
const DEFAULT_CACHE = '_shared_test';
const CACHE_TTL_SEC = 30 * 60;
const EVERY_SECOND = '* * * * * *';

export interface DryRunRequest {
  readonly pluginFilename: string;
  /** Runs instead of the stored code. */
  readonly code: string | undefined;
  readonly database: string;
  readonly cacheName: string | undefined;
  readonly args: ReadonlyMap<string, string> | undefined;
}

/** Field names are identical to the HTTP response. */
export interface DryRunReport {
  readonly log_lines: readonly string[];
  /** Lines by database; one element per `build()` call. */
  readonly database_writes: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
}

/**
 * Runs plugins without a trigger and stores nothing that they write. Source: processing-engine,
 * "Test endpoints".
 */
export class DryRuns {
  readonly #processing: ProcessingEngine;
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #checkLines: (database: string, lines: Uint8Array) => Promise<readonly string[]>;

  constructor(options: {
    readonly processing: ProcessingEngine;
    readonly catalog: Catalog;
    readonly clock: Clock;
    /** Returns the errors that a write of these lines would report. */
    readonly checkLines: (database: string, lines: Uint8Array) => Promise<readonly string[]>;
  }) {
    this.#processing = options.processing;
    this.#catalog = options.catalog;
    this.#clock = options.clock;
    this.#checkLines = options.checkLines;
  }

  /** @param input the encoded lines, or the reason why they are invalid. */
  async ofWrites(request: DryRunRequest, input: PluginInput | string): Promise<DryRunReport> {
    const code = await this.#codeOf(request);
    if (typeof input === 'string') return report([], [input]);
    return await this.#run(request, {
      code,
      input,
      start: 'starting execution of wal plugin.',
    });
  }

  /** Throws `cron_invalid`. */
  async ofSchedule(
    request: DryRunRequest,
    schedule: string | undefined,
  ): Promise<DryRunReport & { readonly trigger_time: string | null }> {
    const code = await this.#codeOf(request);
    if (this.#catalog.database(request.database) === undefined) {
      return { trigger_time: null, ...report([], ["couldn't find db"]) };
    }
    const expression = schedule ?? EVERY_SECOND;
    const cron = CronSchedule.parse(expression);
    if (cron === undefined)
      throw tsdbError('cron_invalid', `invalid cron syntax: ${CronSchedule.faultOf(expression)}`);
    const timeMs = cron.nextMs(this.#clock.nowMs());
    if (timeMs === undefined)
      throw tsdbError('cron_invalid', `cron schedule never triggers: ${expression}`);
    const iso = new Date(timeMs).toISOString();
    const outcome = await this.#run(request, {
      code,
      input: { kind: 'schedule', timeSec: timeMs / 1000 },
      start: `starting execution with scheduled time ${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`,
    });
    return { trigger_time: `${iso.slice(0, 19)}Z`, ...outcome };
  }

  async #codeOf({ pluginFilename, code }: DryRunRequest): Promise<PluginCode> {
    const { plugins } = this.#processing;
    return code === undefined ? await plugins.codeOf(pluginFilename) : plugins.codeOfText(code);
  }

  async #run(
    request: DryRunRequest,
    run: {
      readonly code: PluginCode;
      readonly input: PluginInput;
      readonly start: string;
    },
  ): Promise<DryRunReport> {
    const host = await this.#processing.plugins.readyHost();
    const session = host.open({
      label: `test of ${request.pluginFilename}`,
      code: run.code,
      cacheNamespace: undefined,
      group: 'tests',
    });
    const lines: string[] = [];
    const log: PluginServices['log'] = (level, text) => {
      if (lines.length < MAX_LOG_LINES) lines.push(`${level}: ${text}`);
    };
    const limit = new AbortController();
    const timer = new AbortController();
    this.#clock.sleep(LIMIT_MS, timer.signal).then(
      () => limit.abort(),
      () => undefined, // The run ended in time.
    );
    try {
      log('INFO', run.start);
      const startNs = this.#clock.nowNs();
      const { signal } = limit;
      const refusal = await session.ready({ isAwaited: true, signal });
      if (refusal !== undefined) return await this.#reportOf(refusal, lines);
      const outcome = await session.call({
        database: request.database,
        args: request.args,
        input: run.input,
        isDryRun: true,
        cache: {
          namespace: `test ${request.cacheName ?? DEFAULT_CACHE}`,
          defaultTtlSec: CACHE_TTL_SEC,
        },
        services: this.#processing.backend.servicesFor({ depth: 1, signal, log }),
        signal,
      });
      if (outcome.kind === 'done') {
        log('INFO', `finished execution in ${formatDuration(this.#clock.nowNs() - startNs)}`);
      }
      return await this.#reportOf(outcome, lines);
    } finally {
      timer.abort();
      await session.close();
    }
  }

  async #reportOf(outcome: RunOutcome | Refusal, lines: readonly string[]): Promise<DryRunReport> {
    if (outcome.kind === 'cancelled') return report(lines, ['plugin test timed out']);
    if (outcome.kind !== 'done') return report(lines, [`error executing plugin: ${outcome.text}`]);
    const writes: Record<string, string[]> = Object.create(null);
    const errors: string[] = [];
    for (const { database, lines: parts } of outcome.writes) {
      writes[database] = parts.map((part) => Buffer.from(part).toString());
      const all = Buffer.from(writes[database].join('\n'));
      errors.push(...(await this.#checkLines(database, all)));
    }
    return { log_lines: lines, database_writes: writes, errors };
  }
}

const MAX_LOG_LINES = 10_000;

function report(lines: readonly string[], errors: readonly string[]): DryRunReport {
  return { log_lines: lines, database_writes: {}, errors };
}
