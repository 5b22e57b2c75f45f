import { describeSettings } from '@plinth/kernel';
import { SETTINGS } from '../settings.js';

/** The prefix of this server and of InfluxDB 3; other variables (`VIRTUAL_ENV`) are also used by other programs. */
const OWN_PREFIX = /^(PLINTH|INFLUXDB3)_/;

/**
 * Removes the variables of all settings from the environment after they were read: some are secrets, and threads and
 * child processes do not need them. The initial environment cannot be changed: `/proc/<pid>/environ` still shows it
 * to the server's user and to root.
 */
export function forgetVariables(env: Record<string, string | undefined>): void {
  for (const { env: names } of describeSettings(Object.values(SETTINGS))) {
    for (const name of names) if (OWN_PREFIX.test(name)) delete env[name];
  }
}
