import type { HttpClient } from './http-client.js';

/** The part of a server that most tests need. */
export interface RunningServer {
  readonly url: string;
  readonly http: HttpClient;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A server used by only one test file. */
export interface OwnServer extends RunningServer {
  readonly dataDir: string;
  /** The most recent log lines of the server, as text. */
  readonly logText: string;
  /** Returns the fields of the last kept log line with this message. */
  logged(message: string): Readonly<Record<string, unknown>> | undefined;
  /** Stops the server gracefully. @returns its exit code. */
  stop(): Promise<number | null>;
}
