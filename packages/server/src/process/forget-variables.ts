import { describeSettings } from '@plinth/kernel';
import { SETTINGS } from '../settings.js';

/** Ours, and those of the real system; others (`VIRTUAL_ENV`) mean something to other programs as well. */
const OWN_PREFIX = /^(PLINTH|INFLUXDB3)_/;

/**
 * Takes the variables of all settings out of the environment, once they are read: some hold secrets, and the rest of the process, its
 * threads and its children have no use for any. The block that the system handed over at the start is not the process's to
 * change: `/proc/<pid>/environ` shows it to the server's own user and to root.
 */
export function forgetVariables(env: Record<string, string | undefined>): void {
  for (const { env: names } of describeSettings(Object.values(SETTINGS))) {
    for (const name of names) if (OWN_PREFIX.test(name)) delete env[name];
  }
}
