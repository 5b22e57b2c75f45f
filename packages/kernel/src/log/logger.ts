import { type DestinationStream, type Logger, pino } from 'pino';
import { redactText } from './redact.js';
import { textLine } from './text-line.js';

export type { Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Where finished lines go: a file descriptor, or an object as in tests. */
export type LogDestination = number | { write(line: string): void };

/** Fields whose value never reaches a log, at the top and one level down. */
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
 * The root logger: JSON lines, or text; one child per service (`log.child({ service: 'tsdb' })`). Fields known to be secret
 * are redacted by name, and what looks like a credential is redacted wherever in the line it stands (messages,
 * URLs, stacks).
 */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly destination?: LogDestination;
  /** Lines for a person in place of JSON; `onLine` gets JSON in either case. */
  readonly isText?: boolean;
  /** Told of each line as it is written. */
  readonly onLine?: (line: string) => void;
  /** Told of each child, which has a level of its own. */
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

/** A line that a full disk does not take is lost: it must not fail what it is about. */
function fileOf(descriptor: number): DestinationStream {
  return pino.destination({ dest: descriptor, sync: true }).on('error', () => undefined);
}
