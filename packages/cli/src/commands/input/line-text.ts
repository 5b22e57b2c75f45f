import { existsSync } from 'node:fs';

/** Returns whether an argument is line protocol rather than a file name, which `influxdb3` also accepts. */
export const isLineProtocol = (argument: string): boolean =>
  argument !== '-' && /^\S.*\s\S*=/s.test(argument) && !existsSync(argument);

/** Quotes an InfluxQL identifier. */
export const quoted = (name: string): string =>
  `"${name.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
