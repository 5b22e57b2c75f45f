import { isCalendarDate } from '../timestamps.js';
import { AccountsRefused } from '../violation.js';

const FIRST_DATE = '2024-09-30';
const VERSION = /^(\d{4})-(\d{2})-(\d{2})\.[a-z][a-z0-9_]*$/;

/** Suffixes after the release name select preview features and are ignored. */
const SUFFIX = /\s*;.*$/s;

/**
 * Returns the requested API version without suffixes. Future dates and names are accepted, so that
 * newer clients work. Throws `AccountsRefused`. Source: accounts, section 2.3.
 */
export function readApiVersion(sent: string): string {
  const version = sent.replace(SUFFIX, '').trim();
  const [, year, month, day] = VERSION.exec(version) ?? [];
  const isDate = day !== undefined && isCalendarDate(Number(year), Number(month), Number(day));
  if (!isDate) {
    throw new AccountsRefused({
      code: 'invalid_api_version',
      message: 'The version header must have the form <YYYY-MM-DD>.<release_name>.',
    });
  }
  if (version.slice(0, FIRST_DATE.length) < FIRST_DATE) {
    throw new AccountsRefused({
      code: 'unsupported_api_version',
      message: `Version ${version} is older than the first version, ${FIRST_DATE}.`,
    });
  }
  return version;
}

export const versionDate = (version: string): string => version.slice(0, FIRST_DATE.length);
