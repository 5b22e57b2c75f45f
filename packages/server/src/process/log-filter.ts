export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LEVEL = '(off|error|warn|info|debug|trace)';
const PART = `(${LEVEL}|[A-Za-z_][\\w:]*=${LEVEL})`;

/** Source: the filter language of the real system's `--log-filter`, without bare module names. */
export const LOG_FILTER_PATTERN = `^${PART}(,${PART})*$`;

/** The level that a filter sets for everything; none when it names modules only. The last one counts. */
export function levelOfFilter(filter: string | undefined): LogLevel | undefined {
  const level = filter
    ?.split(',')
    .filter((part) => !part.includes('='))
    .at(-1);
  // The setting's pattern leaves nothing else, and every level but `off` is ours, too.
  return level === 'off' ? 'silent' : (level as LogLevel | undefined);
}
