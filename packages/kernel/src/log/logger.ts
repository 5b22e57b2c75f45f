import { type DestinationStream, type Logger, pino } from 'pino';
import { redactText } from './redact.js';
import { textLine } from './text-line.js';

export type { Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** The destination of log lines: a file descriptor, or an object in tests. */
export type LogDestination = number | { write(line: string): void };

/** Fields whose values are redacted, at the top level and one level down. */
const SECRET_FIELDS = [
  'authorization',
  'password',
  'secret',
  'token',
  'access_token',
  'client_secret',
  'private_key',
  'cookie',
];

const REDACTED_PATHS = SECRET_FIELDS.flatMap((field) => [
  field,
  `*.${field}`,
  `req.headers.${field}`,
  `headers.${field}`,
]);

/**
 * Creates the root logger, with JSON or text lines. Each service uses a child (`log.child({ service: 'tsdb' })`).
 * Secret fields are redacted by name, and credentials are redacted anywhere in the line (messages, URLs, stacks).
 */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly destination?: LogDestination;
  /** Writes readable text instead of JSON; `onLine` always receives JSON. */
  readonly isText?: boolean;
  /** Called with each line as it is written. */
  readonly onLine?: (line: string) => void;
  /** Called with each child, which has its own level. */
  readonly onChild?: (child: Logger) => void;
}): Logger {
  const { destination = 1, onLine, onChild } = options;
  const file = typeof destination === 'number' ? fileOf(destination) : destination;
  const target =
    options.isText === true ? { write: (line: string) => void file.write(textLine(line)) } : file;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
      hooks: { streamWrite: redactText },
      ...(onChild !== undefined && { onChild }),
    },
    onLine === undefined ? target : both(target, onLine),
  );
}

const both = (target: { write(line: string): void }, onLine: (line: string) => void) => ({
  write(line: string): void {
    onLine(line);
    target.write(line);
  },
});

/** Ignores write errors: a log line lost on a full disk must not fail the operation that it describes. */
function fileOf(descriptor: number): DestinationStream {
  return pino.destination({ dest: descriptor, sync: true }).on('error', () => undefined);
}
