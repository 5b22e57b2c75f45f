import { isDomainError } from '@plinth/kernel';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import {
  findDatabaseNameFault,
  findLegacyDatabaseNameFault,
  INTERNAL_DATABASE,
} from '@plinth/tsdb-model/database/names.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { PluginCallFailed, type PluginServices } from '@plinth/tsdb-model/plugins/plugin-host.js';
import { encodeResult } from '../runs/encode-result.js';

/** Maximum size of one write by a plugin. */
const MAX_WRITE_BYTES = 256 * 1024 * 1024;

export interface WriteFailure {
  readonly message: string;
}

/** Queries and writes of plugins, through the storage engine that also serves HTTP. */
export class PluginBackend {
  readonly #engine: Engine;
  readonly #nowNs: () => bigint;

  constructor(options: { readonly engine: Engine; readonly nowNs: () => bigint }) {
    this.#engine = options.engine;
    this.#nowNs = options.nowNs;
  }

  /**
   * @param run.depth number of plugin runs that led to this one; stored with its writes.
   * @param run.signal aborts its queries.
   */
  servicesFor(run: {
    readonly depth: number;
    readonly signal: AbortSignal;
    readonly log: PluginServices['log'];
  }): PluginServices {
    return {
      log: run.log,
      query: (request) => this.#query(request, run.signal),
      write: async ({ database, lines, noSync }) => {
        const failure = await this.write({ database, lines, noSync, depth: run.depth });
        if (failure !== undefined) throw new PluginCallFailed('Exception', failure.message);
      },
    };
  }

  /**
   * Writes all lines or none. Returns `undefined` on success.
   * Source: processing-engine, "Writes".
   */
  async write(request: {
    readonly database: string;
    readonly lines: Uint8Array;
    readonly noSync: boolean;
    readonly depth: number;
  }): Promise<WriteFailure | undefined> {
    const { database } = request;
    const fail = (why: string): WriteFailure => ({
      message: `error writing line protocol to ${database}: ${why}`,
    });
    const fault = findDatabaseNameFault(database);
    if (fault !== undefined) return fail(`invalid database name: ${fault}`);
    if (database === INTERNAL_DATABASE) return fail('Cannot write: cannot modify internal db');
    try {
      const outcome = await this.#engine.write({
        database,
        access: FULL_ACCESS,
        body: request.lines.slice(),
        encoding: 'identity',
        maxSizeBytes: MAX_WRITE_BYTES,
        precision: 'nanosecond',
        acceptPartial: false,
        noSync: request.noSync,
        receivedNs: this.#nowNs(),
        pluginDepth: request.depth,
      });
      const [first] = outcome.refused;
      if (first === undefined) return undefined;
      return fail(
        `Cannot write: ${first.message} (line ${first.lineNumber}: ${first.originalLine})`,
      );
    } catch (error) {
      if (!isDomainError(error)) throw error;
      return fail(`Cannot write: ${error.message}`);
    }
  }

  async #query(
    request: Parameters<PluginServices['query']>[0],
    signal: AbortSignal,
  ): ReturnType<PluginServices['query']> {
    const { database, sql } = request;
    const fault = findLegacyDatabaseNameFault(database)?.replace(/^namespace/, 'database');
    if (fault !== undefined) {
      throw new PluginCallFailed('QueryError', `invalid database name provided: ${fault}`);
    }
    try {
      const result = await this.#engine.query({
        database,
        access: FULL_ACCESS,
        language: 'sql',
        text: sql,
        params: request.params,
        signal,
      });
      return await encodeResult(result);
    } catch (error) {
      if (error instanceof PluginCallFailed || !isDomainError(error)) throw error;
      const cause =
        error.kind === 'plan_error'
          ? `error while planning query: ${error.message}`
          : error.message;
      throw new PluginCallFailed(
        'QueryError',
        `error: ${cause} executing query on ${database}: ${sql}`,
      );
    }
  }
}
