import type { PluginType } from './trigger.js';

/** Where the code of a plugin is. */
export type PluginCode =
  | { readonly kind: 'file'; readonly path: string }
  /** A folder with `__init__.py`. */
  | { readonly kind: 'dir'; readonly path: string }
  | { readonly kind: 'source'; readonly source: Uint8Array };

export type LogLevel = 'INFO' | 'WARN' | 'ERROR';

/** Columns of some rows, encoded for the plugin: `columns` describe where they lie in `parts`. */
export interface EncodedRows {
  readonly rowCount: number;
  readonly columns: readonly object[];
  readonly parts: readonly Uint8Array[];
}

export type PluginInput =
  | {
      readonly kind: 'writes';
      /** `columns` of all tables lie in one body. */
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

/** What a run asks of the server while it works. */
export interface PluginServices {
  log(level: LogLevel, text: string): void;
  query(question: {
    readonly database: string;
    readonly sql: string;
    readonly params: ReadonlyMap<string, string>;
  }): Promise<EncodedRows>;
  write(question: {
    readonly database: string;
    readonly lines: Uint8Array;
    readonly noSync: boolean;
  }): Promise<void>;
}

/** Thrown by `PluginServices`: raised in the plugin as an exception of this type. */
export class PluginQuestionFailed extends Error {
  override readonly name = 'PluginQuestionFailed';
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
  /** Nothing is written; all lines come back with the outcome. */
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

/** Lines by database in the order in which they were queued; each element is what one call of `build()` gave. */
export interface PluginWrites {
  readonly database: string;
  readonly lines: readonly Uint8Array[];
}

export type RunOutcome =
  | {
      readonly kind: 'done';
      readonly writes: readonly PluginWrites[];
      /** Of request plugins. */
      readonly response: PluginResponse | undefined;
    }
  | {
      readonly kind: 'failed';
      /** `Type: message`, or the message alone where the plugin could not be entered. */
      readonly text: string;
      readonly traceback: string;
      /** False: the plugin's code could not be entered. */
      readonly isInside: boolean;
    }
  /** The process ended with the run in it. */
  | { readonly kind: 'crashed'; readonly text: string }
  | { readonly kind: 'cancelled' };

/** No run was begun. */
export interface Refusal {
  readonly kind: 'refused';
  readonly text: string;
  readonly retryAfterSec: number;
}

export interface ReadyOptions {
  /** Somebody waits for the answer: it is refused rather than kept waiting for more than a second. */
  readonly isAwaited: boolean;
  /** Its abortion ends the wait. */
  readonly signal: AbortSignal;
}

/** A plugin that is loaded and keeps its cache until it is closed. */
export interface PluginSession {
  /** Resolves when a run may begin, which may not be at once after crashes, or must not. Never rejects. */
  ready(options: ReadyOptions): Promise<Refusal | undefined>;
  /** Never rejects. */
  call(call: PluginCall): Promise<RunOutcome>;
  /** Cancels what runs, drops the cache; resolves when nothing of it runs any more. */
  close(): Promise<void>;
}

/** Runs plugins. Scheduling, queues, retries, logs and HTTP know only this. */
export interface PluginHost {
  /** What is wrong with the code of a plugin, as far as can be seen without running it. */
  faultOf(code: PluginCode, type: PluginType): Promise<string | undefined>;
  open(options: {
    /** Database and trigger, for messages. */
    readonly label: string;
    readonly code: PluginCode;
    /** Dropped when the session is closed; `undefined`: nothing is. */
    readonly cacheNamespace: string | undefined;
    /** Told what happens to the plugin between its runs. */
    readonly note?: (level: LogLevel, text: string) => void;
    /** Sessions of one group share a process, and with it the caches that their calls name. */
    readonly group?: string;
  }): PluginSession;
  /** After packages were installed. */
  packagesChanged(): void;
  close(): Promise<void>;
}
