import type { HttpClient } from './http-client.js';

/** What most tests need of a server. */
export interface RunningServer {
  readonly url: string;
  readonly http: HttpClient;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One that no other test file uses. */
export interface OwnServer extends RunningServer {
  readonly dataDir: string;
  /** Everything that the server logged last, as text. */
  readonly logText: string;
  /** Fields of the last log line with this message, among those that are kept. */
  logged(message: string): Readonly<Record<string, unknown>> | undefined;
  /** Stops the server in order. @returns its exit code. */
  stop(): Promise<number | null>;
}
