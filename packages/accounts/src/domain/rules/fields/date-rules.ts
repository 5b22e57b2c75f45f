import type { Violation } from '../../../model/violation.js';
import { firstOf, violate } from '../violate.js';
import { ageAt, dayStartMs, type GivenDate, showDate } from './calendar.js';
import type { FieldContext } from './field-context.js';
import type { Located } from './provided-fields.js';

const EARLIEST_BIRTH_YEAR = 1900;
const EARLIEST_REGISTRATION_YEAR = 1000;

/** The person must have the minimum age (row 41); `value` must be a valid date of birth. */
export function checkAge(
  { path, value }: Located<GivenDate>,
  options: { readonly nowMs: number; readonly ageLimit: number },
): Violation | undefined {
  if (!isBirthDate(value, options.nowMs) || ageAt(value, options.nowMs) >= options.ageLimit)
    return undefined;
  return violate('date_of_birth_age_restriction', {
    param: path,
    message: `${path} is too recent; this person must be at least ${options.ageLimit} years old: ${showDate(value)}.`,
    extra: { age_limit: String(options.ageLimit) },
  });
}

/** Dates of birth must exist and be plausible (row 42). */
export function checkBirthDates(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.birthDates, ({ path, value }) =>
    isBirthDate(value, context.nowMs)
      ? undefined
      : violate('date_of_birth_invalid', {
          param: path,
          message: `${path} is not a date between ${EARLIEST_BIRTH_YEAR} and today: ${showDate(value)}.`,
        }),
  );
}

/** Registration dates must be in the past (row 75). */
export function checkRegistrationDates(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.registrationDates, ({ path, value }) => {
    const startMs = dayStartMs(value);
    const isPast = startMs !== undefined && startMs < todayMs(context.nowMs);
    if (isPast && (value.year ?? 0) >= EARLIEST_REGISTRATION_YEAR) return undefined;
    return violate('registration_date_invalid', {
      param: path,
      message: `${path} is not a date in the past: ${showDate(value)}.`,
    });
  });
}

function isBirthDate(date: GivenDate, nowMs: number): boolean {
  const startMs = dayStartMs(date);
  return startMs !== undefined && startMs <= nowMs && (date.year ?? 0) >= EARLIEST_BIRTH_YEAR;
}

function todayMs(nowMs: number): number {
  const dayMs = 86_400_000;
  return Math.floor(nowMs / dayMs) * dayMs;
}
