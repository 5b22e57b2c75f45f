import type { PluginType } from './trigger.js';

/** A plugin's code, or its location. */
export type PluginCode =
  | { readonly kind: 'file'; readonly path: string }
  /** A folder that contains `__init__.py`. */
  | { readonly kind: 'dir'; readonly path: string }
  | { readonly kind: 'source'; readonly source: Uint8Array };

export type LogLevel = 'INFO' | 'WARN' | 'ERROR';

/** Rows encoded for a plugin by column. `columns` describes the locations in `parts`. */
export interface EncodedRows {
  readonly rowCount: number;
  readonly columns: readonly object[];
  readonly parts: readonly Uint8Array[];
}

export type PluginInput =
  | {
      readonly kind: 'writes';
      /** The `columns` of all tables refer to the same `parts`. */
      readonly batches: readonly {
        readonly table: string;
        readonly rowCount: number;
        readonly columns: readonly object[];
      }[];
      readonly parts: readonly Uint8Array[];
    }
  /** Seconds since 1970. */
  | { readonly kind: 'schedule'; readonly timeSec: number }
  | {
      readonly kind: 'request';
      readonly query: Readonly<Record<string, string>>;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    };

/** Calls from a running plugin to the server. */
export interface PluginServices {
  log(level: LogLevel, text: string): void;
  query(request: {
    readonly database: string;
    readonly sql: string;
    readonly params: ReadonlyMap<string, string>;
  }): Promise<EncodedRows>;
  write(request: {
    readonly database: string;
    readonly lines: Uint8Array;
    readonly noSync: boolean;
  }): Promise<void>;
}

/** Thrown by `PluginServices`. The plugin receives it as an exception of the type `exception`. */
export class PluginCallFailed extends Error {
  override readonly name = 'PluginCallFailed';
  readonly exception: 'QueryError' | 'ValueError' | 'Exception';
  constructor(exception: 'QueryError' | 'ValueError' | 'Exception', message: string) {
    super(message);
    this.exception = exception;
  }
}

export interface PluginCall {
  readonly database: string;
  readonly args: ReadonlyMap<string, string> | undefined;
  readonly input: PluginInput;
  /** If true, nothing is written, and the outcome contains all lines. */
  readonly isDryRun: boolean;
  readonly cache: { readonly namespace: string; readonly defaultTtlSec: number | undefined };
  readonly services: PluginServices;
  /** Aborting it cancels the run. */
  readonly signal: AbortSignal;
}

export interface PluginResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/**
 * Lines by database, in the order in which they were queued. Each element is the result of one
 * `build()` call.
 */
export interface PluginWrites {
  readonly database: string;
  readonly lines: readonly Uint8Array[];
}

export type RunOutcome =
  | {
      readonly kind: 'done';
      readonly writes: readonly PluginWrites[];
      /** Set by request plugins. */
      readonly response: PluginResponse | undefined;
    }
  | {
      readonly kind: 'failed';
      /** `Type: message`; only the message if the plugin could not be loaded. */
      readonly text: string;
      readonly traceback: string;
      /** False if the plugin's code could not be loaded. */
      readonly isInside: boolean;
    }
  /** The process exited during the run. */
  | { readonly kind: 'crashed'; readonly text: string }
  | { readonly kind: 'cancelled' };

/** The run was not started. */
export interface Refusal {
  readonly kind: 'refused';
  readonly text: string;
  readonly retryAfterSec: number;
}

export interface ReadyOptions {
  /** If true, a client is waiting for the response, so a delay of more than a second is refused. */
  readonly isAwaited: boolean;
  /** Aborting it ends the wait. */
  readonly signal: AbortSignal;
}

/** A loaded plugin, which keeps its cache until it is closed. */
export interface PluginSession {
  /** Resolves when a run may start. After crashes this can be delayed or refused. Never rejects. */
  ready(options: ReadyOptions): Promise<Refusal | undefined>;
  /** Never rejects. */
  call(call: PluginCall): Promise<RunOutcome>;
  /** Cancels all runs and drops the cache. Resolves when no run is active. */
  close(): Promise<void>;
}

/**
 * Runs plugins. Scheduling, queues, retries, logs and HTTP routes depend only on this interface.
 */
export interface PluginHost {
  /** Returns a problem in the plugin's code that is detectable without running it. */
  faultOf(code: PluginCode, type: PluginType): Promise<string | undefined>;
  open(options: {
    /** Database and trigger, for messages. */
    readonly label: string;
    readonly code: PluginCode;
    /** Cache that is dropped when the session is closed; `undefined` drops none. */
    readonly cacheNamespace: string | undefined;
    /** Receives log lines about the plugin between its runs. */
    readonly note?: (level: LogLevel, text: string) => void;
    /** Sessions of one group share a process, including the caches that their calls name. */
    readonly group?: string;
  }): PluginSession;
  /** Call after packages were installed. */
  packagesChanged(): void;
  close(): Promise<void>;
}
