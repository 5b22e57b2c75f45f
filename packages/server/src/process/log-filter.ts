export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LEVEL = '(off|error|warn|info|debug|trace)';
const PART = `(${LEVEL}|[A-Za-z_][\\w:]*=${LEVEL})`;

/** Source: the `--log-filter` syntax of InfluxDB 3, without bare module names. */
export const LOG_FILTER_PATTERN = `^${PART}(,${PART})*$`;

/** Returns the global level of a filter; the last one counts. `undefined` if it contains only modules. */
export function levelOfFilter(filter: string | undefined): LogLevel | undefined {
  const level = filter
    ?.split(',')
    .filter((part) => !part.includes('='))
    .at(-1);
  // The setting's pattern allows no other value, and all levels except `off` have the same name here.
  return level === 'off' ? 'silent' : (level as LogLevel | undefined);
}
