import { existsSync } from 'node:fs';

/** Whether an argument is no file but a line of line protocol itself, as `influxdb3` takes it. */
export const isLineProtocol = (argument: string): boolean =>
  argument !== '-' && /^\S.*\s\S*=/s.test(argument) && !existsSync(argument);

/** A name as InfluxQL has it. */
export const quoted = (name: string): string =>
  `"${name.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
